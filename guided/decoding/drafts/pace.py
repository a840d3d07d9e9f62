"""What was learned of speed: what a forward of so many rows costs, and what guesses are worth."""

from __future__ import annotations

from bisect import bisect_left

# The weight of a new measurement. One that is far off is taken for noise at first.
WEIGHT, FAR = 0.15, 3.0
# Of the seconds of a step, what a further row is thought to cost until it is known: so much that
# only good guesses are tried at first, and so little that they are.
MARGINAL = 0.1
# Rows that may be added before it is known what more of them cost.
FIRST = 8
# What is thought of the tokens of a source before any was checked, and how many checks that is
# worth. Checks of long ago count less.
PRIOR = {"forced": 0.97, "prompt": 0.5, "lookahead": 0.4, "states": 0.6, "assistant": 0.7}
UNKNOWN, PRIOR_CHECKS, MEMORY = 0.4, 3.0, 60.0
ALL = -1  # the class that stands for all classes of a source


class Costs:
    """Seconds of a step by its rows, for about the same number of jobs.

    Rows beyond some are put together in classes of about equal size; between what was measured it
    is interpolated.
    """

    def __init__(self) -> None:
        self._rows: list[int] = []  # measured, ascending
        self._seconds: dict[int, float] = {}

    def note(self, rows: int, seconds: float) -> None:
        """Learn from a step."""
        rows = bucket(rows)
        known = self._seconds.get(rows)
        if known is None:
            self._rows.insert(bisect_left(self._rows, rows), rows)
            self._seconds[rows] = seconds
            return
        weight = WEIGHT / 3 if seconds > FAR * known else WEIGHT
        if seconds * FAR < known:  # the first one was the exception
            weight = 0.5
        self._seconds[rows] = known + weight * (seconds - known)

    def reach(self, rows: int) -> int:
        """Return how many rows a step may have that has `rows` without guesses.

        None more where nothing so small was noted: of fewer rows than those noted nothing is known,
        and they must not be thought to cost as much. Else twice as many as were noted, as what lies
        far beyond them is not known either.
        """
        if not self._rows or self._rows[0] > bucket(rows):
            return rows
        return max(2 * self._rows[-1], rows + FIRST)

    def seconds(self, rows: int) -> float:
        """Estimate a step, from one that was noted at least."""
        rows = bucket(rows)
        known = self._seconds.get(rows)
        if known is not None:
            return known
        place = bisect_left(self._rows, rows)
        if place == 0:
            return self._seconds[self._rows[0]]
        low = self._rows[place - 1]
        if place == len(self._rows):
            return self._seconds[low] * (1 + MARGINAL * (rows - low) / low)
        high = self._rows[place]
        share = (rows - low) / (high - low)
        return (1 - share) * self._seconds[low] + share * self._seconds[high]


class Pace:
    """Learns the cost of a step by its jobs and rows, and the chance of a guess by its source."""

    def __init__(self) -> None:
        self._costs: dict[int, Costs] = {}  # by the class of the number of jobs
        self._checks: dict[tuple[str, int], tuple[float, float]] = {}  # accepted, all

    def note_step(self, jobs: int, rows: int, seconds: float) -> None:
        """Learn how long a step took."""
        self._costs.setdefault(jobs.bit_length(), Costs()).note(rows, seconds)

    def seconds(self, jobs: int, rows: int) -> float:
        """Estimate how long a step takes; 1 while nothing is known."""
        if not self._costs:
            return 1.0
        wanted = jobs.bit_length()
        nearest = min(self._costs, key=lambda known: (abs(known - wanted), known))
        return self._costs[nearest].seconds(rows)

    def reach(self, jobs: int, rows: int) -> int:
        """Return how many rows a step may have that has `rows` without guesses; see `Costs`."""
        known = self._costs.get(jobs.bit_length())
        return rows if known is None else known.reach(rows)

    def note_guess(self, source: str, kind: int, accepted: bool) -> None:
        """Learn whether a token of this source and class was accepted, its parent being so."""
        for key in ((source, kind), (source, ALL)):
            good, all_ = self._checks.get(key, (0.0, 0.0))
            if all_ >= MEMORY:
                good, all_ = good * (1 - 1 / MEMORY), all_ * (1 - 1 / MEMORY)
            self._checks[key] = (good + accepted, all_ + 1.0)

    def chance(self, source: str, kind: int = ALL) -> float:
        """Estimate the chance that a token is accepted if its parent is."""
        good, all_ = self._checks.get((source, kind), (0.0, 0.0))
        prior = PRIOR.get(source, UNKNOWN)
        return (good + prior * PRIOR_CHECKS) / (all_ + PRIOR_CHECKS)


def bucket(rows: int) -> int:
    """Return the class of a number of rows, by its largest member."""
    if rows <= 16:
        return rows
    step = 1 << (rows.bit_length() - 4)  # some 8 classes for a doubling
    return -(-rows // step) * step
