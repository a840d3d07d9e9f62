"""Which texts `re` matches as a whole, and which texts show that it matched no shorter one.

The automaton reads a text and keeps the threads in order, with the matches found on the way among
them: a match on a condition is one only if nothing before it comes true. If the text ended here
`re` would match up to some earlier place, or up to here, and so the states are told apart:

    a text that is matched as a whole is in the *body*, and ends the match at any shorter one;
    a text after which the last match is none any more, as a look-ahead failed, is *fatal* to it.

Matches keep no positions, only what matters: is this one the last text of the body (`LATEST`), one
that was passed over since (`PASSED`), or one that was no match if the text had ended there
(`DOUBTFUL`)? That the last kind comes true later cannot be said by body and fatal texts.
"""

from __future__ import annotations

from typing import NamedTuple

from guided.errors import LimitError
from guided.text.lark.leftmost_threads import DONE, NONE, Closure, Thread, Threads
from guided.text.regex.source import Source
from guided.text.regex.syntax import Expression, Look, Neighbour

LATEST, PASSED, DOUBTFUL = -1, -2, -3
MAX_STATES = 10_000

Trackers = tuple[bool | frozenset[Thread], ...]


class _State(NamedTuple):
    """What is known after a text.

    Attributes:
        threads: in order, with the matches (places below 0).
        trackers: for what looks back, if it holds, or the threads of it that are under way.
        position: the length of the text, as far as it matters to what looks back.
        is_open: the last text of the body was not passed over.
        is_body, is_fatal: what the text itself is.
    """

    threads: tuple[Thread, ...]
    trackers: Trackers
    position: int
    is_open: bool
    is_body: bool
    is_fatal: bool


class Automaton(NamedTuple):
    """An automaton over classes of characters; its start is state 0.

    Attributes:
        body, fatal: for each state if the texts that lead there are of the one, or the other.
        rows: for each state and class the next state, -1 for none.
        is_ordered: the order of the pattern matters: without it other texts would match.
        is_exact: a match that was passed over is never one after all.
    """

    body: list[bool]
    fatal: list[bool]
    rows: list[list[int]]
    is_ordered: bool
    is_exact: bool


class AutomatonBuilder:
    """Builds the automaton of one pattern."""

    def __init__(self, expression: Expression, source: Source) -> None:
        self.threads = Threads(expression, source)
        self._expression = expression
        self._source = source
        self._farthest = max((_width(each) for each in self.threads.behind), default=0)
        self._numbers: dict[_State, int] = {}
        self._states: list[_State] = []
        self._is_ordered = False
        self._is_exact = True

    def build(self) -> Automaton:
        """Return the automaton.

        Raises:
            UnsupportedError: a look-ahead beyond the end of the match cannot be enforced.
            LimitError: the automaton is too large.
        """
        self._number([(self.threads.place(self._expression), NONE)], self._start(), 0, False)
        rows = []
        for state in self._states:
            rows.append(self._row(state))
            if len(self._states) > MAX_STATES:
                raise LimitError(
                    "the order in which the pattern matches needs too large an automaton",
                    limit="states",
                    value=MAX_STATES,
                )
        body = [state.is_body for state in self._states]
        fatal = [state.is_fatal for state in self._states]
        return Automaton(body, fatal, rows, self._is_ordered, self._is_exact)

    def _row(self, state: _State) -> list[int]:
        """Return the next states by class."""
        self.threads.spend(self.threads.classes.count >> 4)
        readable, everything = 0, (1 << self.threads.classes.count) - 1
        for place, conditions in state.threads:
            if place > DONE:
                readable |= self.threads.mask(place)
            elif conditions:
                readable = everything  # any character may decide on a match
                break
        row = [-1] * self.threads.classes.count
        while readable:
            bit = readable & -readable
            readable ^= bit
            each = bit.bit_length() - 1
            row[each] = self._step(state, each)
        return row

    def _step(self, state: _State, character: int) -> int:
        position = min(state.position + 1, self._farthest)
        self.threads.position = position
        trackers = self._track(state.trackers, character)
        threads = self.threads.step(state.threads, character)
        if not threads and not state.is_open:
            return -1
        return self._number(threads, trackers, position, state.is_open)

    def _number(
        self, stepped: list[Thread], trackers: Trackers, position: int, is_open: bool
    ) -> int:
        """Return the state of threads that are not yet followed."""
        closure = Closure(self.threads)
        for thread in stepped:
            closure.add(thread)
        self._is_ordered = self._is_ordered or closure.has_cut
        found = self._last_match(closure.threads)
        is_body = found == DONE
        is_fatal = is_open and found not in (DONE, LATEST)
        if found == PASSED:
            self._is_exact = False
        if found == DOUBTFUL:
            raise self._beyond_the_end()
        passed = {DONE: DOUBTFUL}
        if is_body:
            passed = {DONE: LATEST, LATEST: PASSED}
        elif is_fatal:
            passed = {DONE: DOUBTFUL, LATEST: PASSED}
        threads = _renamed(closure.threads, passed)
        is_open = is_body or (is_open and not is_fatal)
        state = _State(threads, trackers, position, is_open, is_body, is_fatal)
        number = self._numbers.setdefault(state, len(self._states))
        if number == len(self._states):
            self._states.append(state)
        return number

    def _last_match(self, threads: list[Thread]) -> int | None:
        """Return the place of the match if the text ended here, None if there is none."""
        for place, conditions in threads:
            if place <= DONE and self.threads.hold_at_end(conditions):
                return place
        return None

    def _beyond_the_end(self) -> Exception:
        pattern = self._source.pattern
        keyword = next((each for each in ("(?=", "(?!", "$", "\\b") if each in pattern), "(?=")
        return self._source.unsupported(
            f"a look-ahead, {keyword}, requires text beyond the end of the terminal",
            max(0, pattern.find(keyword)),
            length=len(keyword),
            keyword=keyword,
            mend="match the text that it looks at, or forbid text by (?!...)",
        )

    # -- what looks back ---------------------------------------------------------------------

    def _start(self) -> Trackers:
        trackers: list[bool | frozenset[Thread]] = []
        for number, each in enumerate(self.threads.behind):
            if isinstance(each, Neighbour):
                trackers.append(each.edge)
                self.threads.verdicts[number] = each.edge
            else:
                trackers.append(self._under_way(number, each, []))
        return tuple(trackers)

    def _track(self, trackers: Trackers, character: int) -> Trackers:
        """Return what looks back after a character, and set the verdicts."""
        after: list[bool | frozenset[Thread]] = []
        for number, (each, tracker) in enumerate(zip(self.threads.behind, trackers, strict=True)):
            if isinstance(each, Neighbour):
                holds = bool(self.threads.classes.mask(each.ranges) >> character & 1)
                after.append(holds)
                self.threads.verdicts[number] = holds
            else:
                assert isinstance(tracker, frozenset)
                begun = (thread for thread in tracker if thread[0] != DONE)
                stepped = self.threads.step(begun, character)
                after.append(self._under_way(number, each, stepped))
        return tuple(after)

    def _under_way(self, number: int, each: Look, stepped: list[Thread]) -> frozenset[Thread]:
        """Return the threads of a look-behind: those that have begun, and one that begins here."""
        found: set[Thread] = set()
        for thread in [*stepped, (self.threads.place(each.item), NONE)]:
            closure = Closure(self.threads)
            closure.add(thread)
            found.update(closure.threads)
        self.threads.verdicts[number] = (DONE, NONE) in found
        return frozenset(found)


def _width(expression: Look | Neighbour) -> int:
    return 1 if isinstance(expression, Neighbour) else expression.item.widest or 0


def _renamed(threads: list[Thread], names: dict[int, int]) -> tuple[Thread, ...]:
    """Give the matches their new names; one on more conditions than one before is dropped."""
    kept: list[Thread] = []
    for place, conditions in threads:
        name = names.get(place, place)
        if name < DONE and any(other == name and before <= conditions for other, before in kept):
            continue
        kept.append((name, conditions))
    return tuple(kept)
