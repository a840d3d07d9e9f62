"""Guesses from the text itself: what followed the last tokens where they stood before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from guided.decoding.drafts.draft import Draft
from guided.decoding.job import Job

# Of each short sequence of tokens so many places are kept, the latest.
_PLACES = 4
# A match is followed back no further: it is sure by then.
_REACH = 17


@dataclass(slots=True)
class _Index:
    """Where the short sequences of tokens of one history end.

    Attributes:
        places: for each sequence the places after it, the latest first.
        end: places before this one are in it; a place has a token that goes on from there.
    """

    places: dict[tuple[int, ...], tuple[int, ...]] = field(default_factory=dict)
    end: int = 1

    def extend(self, history: Sequence[int], longest: int, window: int) -> None:
        """Add the places that are new, and forget those that fall out of the window."""
        places, end = self.places, len(history)
        begin = max(self.end, end - window)
        for size in range(1, longest + 1):
            first = max(begin, size)  # a place has so many tokens before it
            if first >= end:
                break
            backs = range(-size, 0)
            keys = zip(*(history[first + back : end + back] for back in backs), strict=True)
            for place, key in enumerate(keys, first):
                known = places.get(key)
                places[key] = (place,) if known is None else (place, *known[: _PLACES - 1])
        for place in range(max(1, begin - window), end - window):
            self._forget(history, place, longest)
        self.end = max(self.end, end)

    def _forget(self, history: Sequence[int], place: int, longest: int) -> None:
        """Drop a place, which is older than all others that are kept."""
        before = tuple(history[max(0, place - longest) : place])
        for start in range(len(before)):
            key = before[start:]
            known = self.places.get(key, ())
            if known and known[-1] == place:
                if len(known) > 1:
                    self.places[key] = known[:-1]
                else:
                    del self.places[key]


class PromptDrafter:
    """Proposes what followed the last tokens at earlier places of prompt and output.

    The last n tokens are looked up, n from `longest` down to 1. Of their latest places the one wins
    before which most tokens are equal to those at the end, then the latest. What follows there is
    copied; a copy that reaches the end of the text goes on in itself, so that a text that repeats
    is guessed at any length. If four or more tokens are asked for, a quarter goes to the next place
    that goes on otherwise.

    The class of a token is 8 * n + min(depth, 7): n is how many tokens are equal (5: up to 8, 6: up
    to 16, 7: more), depth how many tokens of the copy stand before it.

    Memory: some 0.6 kB for each of the last `window` tokens of a job, as long as the job lives. Of
    each sequence the four latest places are kept; the oldest go first.

    Args:
        longest: of the sequences that are looked up.
        window: how far back.

    Cost: one or two microseconds for each token of the history, once, and some ten for a draft.
    Source: Saxena, "Prompt lookup decoding", 2023.
    """

    name = "prompt"
    cost = 0.0

    def __init__(self, longest: int = 4, window: int = 16_384) -> None:
        if longest < 1 or window < 1:
            raise ValueError(
                f"a look-up takes at least one token, found longest={longest}, window={window}"
            )
        self.longest = longest
        self.window = window

    def propose(self, jobs: Sequence[Job], most: Sequence[int]) -> list[Draft]:
        """Propose copies of earlier parts of each history."""
        return [self._draft(job, count) for job, count in zip(jobs, most, strict=True)]

    def observe(self, job: Job, tokens: Sequence[int], states: Sequence[int]) -> None:
        """Do nothing: the history is read when something is asked."""

    def _draft(self, job: Job, most: int) -> Draft:
        index: _Index | None = job.notes.get(self)
        if index is None:
            index = job.notes[self] = _Index()
        history = job.history
        index.extend(history, self.longest, self.window)
        draft = Draft()
        matches = self._matches(index, history)
        first = next(matches, None)
        if first is None:
            return draft
        room = most // 4
        second = None
        if room:
            other = (match for match in matches if history[match[1]] != history[first[1]])
            second = next(other, None)
        _copy(draft, history, first, most if second is None else most - room)
        if second is not None:
            _copy(draft, history, second, room)
        return draft

    def _matches(self, index: _Index, history: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Find places where the text stood before: how many tokens are equal, and the place."""
        last = tuple(history[-self.longest :])
        for start in range(len(last)):
            equal = len(last) - start
            places = index.places.get(last[start:], ())
            yield from sorted(
                ((_reach(history, place, equal), place) for place in places), reverse=True
            )


def _reach(history: Sequence[int], place: int, equal: int) -> int:
    """Count the tokens before a place that are equal to those at the end, up to `_REACH`.

    Args:
        equal: how many are known to be.
    """
    end, most = len(history), min(place, _REACH)
    while equal < most and history[place - 1 - equal] == history[end - 1 - equal]:
        equal += 1
    return equal


def _copy(draft: Draft, history: Sequence[int], match: tuple[int, int], count: int) -> None:
    """Append what follows a place, and, where the text ends, what was appended."""
    length, place = match
    # 1 to 4 as they are; 5 to 8, 9 to 16 and 17 are 5, 6 and 7.
    size = length if length < 5 else min(7, 2 + (length - 1).bit_length())
    start, parent = len(draft), -1
    for depth in range(count):
        source = place + depth
        ahead = source - len(history)
        token = history[source] if ahead < 0 else draft.tokens[start + ahead]
        parent = draft.add(token, parent, 8 * size + min(depth, 7))
