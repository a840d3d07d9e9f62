"""Counts of what followed what, of bounded size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import TypeAlias

# Which automaton, by a number of ours; its state; the token before, or `ANY`.
Key: TypeAlias = tuple[int, int, int]
ANY = -1

# Tokens that are counted apart at one place.
_MOST_TOKENS = 16
# From here on all counts are halved, so that they follow what changes.
_LARGE = 256


class Followers:
    """How often which tokens came at one place.

    Attributes:
        total: how many came.
        counts: of the most frequent ones; too low by what was taken from all as others came.

    Source: Misra and Gries, "Finding repeated elements", 1982, for counting with few counters.
    """

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.total = 0
        self.counts: dict[int, int] = {}

    def add(self, token: int) -> None:
        """Count one more."""
        self.total += 1
        counts = self.counts
        if token in counts:
            counts[token] += 1
        elif len(counts) < _MOST_TOKENS:
            counts[token] = 1
        else:
            self.counts = {known: count - 1 for known, count in counts.items() if count > 1}
        if self.total >= _LARGE:
            self._halve()

    def merge(self, total: int, counts: Mapping[int, int]) -> None:
        """Add the counts of others."""
        both = dict(self.counts)
        for token, count in counts.items():
            both[token] = both.get(token, 0) + count
        frequent = sorted(both.items(), key=lambda item: -item[1])[:_MOST_TOKENS]
        self.counts = dict(frequent)
        self.total += total
        while self.total >= _LARGE:
            self._halve()

    def likely(self, floor: float) -> list[tuple[float, int]]:
        """Return the share of each token that has at least `floor`, the largest first.

        Half a count is added to each token that was counted, and to all others together.
        """
        all_counts = self.total + (len(self.counts) + 1) / 2
        shares = [
            (share, token)
            for token, count in self.counts.items()
            if (share := (count + 0.5) / all_counts) >= floor
        ]
        shares.sort(reverse=True)
        return shares

    def _halve(self) -> None:
        self.total //= 2
        self.counts = {token: count // 2 for token, count in self.counts.items() if count > 1}


class CountTable:
    """Followers by place, the most recently counted `most` of them.

    What comes at a place is counted twice, apart for each token before it, and for all together.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._followers: OrderedDict[Key, Followers] = OrderedDict()

    def __len__(self) -> int:
        return len(self._followers)

    def at(self, key: Key) -> Followers:
        """Return the followers at a place, to be added to; the place that is oldest may go."""
        followers = self._followers.get(key)
        if followers is None:
            followers = self._followers[key] = Followers()
            if len(self._followers) > self.most:
                self._followers.popitem(last=False)
        else:
            self._followers.move_to_end(key)
        return followers

    def add(self, number: int, state: int, previous: int, token: int) -> None:
        """Count a token."""
        self.at((number, state, previous)).add(token)
        self.at((number, state, ANY)).add(token)

    def find(self, number: int, state: int, previous: int) -> Followers | None:
        """Return what came in a state after this token; if nothing, after any."""
        return self._followers.get((number, state, previous)) or self._followers.get(
            (number, state, ANY)
        )

    def of(self, number: int) -> Iterator[tuple[int, int, Followers]]:
        """Return state, token before and followers of all places of an automaton, oldest first."""
        for (automaton, state, previous), followers in self._followers.items():
            if automaton == number:
                yield state, previous, followers
