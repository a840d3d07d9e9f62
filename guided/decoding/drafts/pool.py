"""Short sequences of tokens by their first one, the latest first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence


class SequencePool:
    """Sequences of a few tokens, found by their first token; bounded, the oldest go first.

    Args:
        most_each: sequences that begin with one token.
        most: sequences in all.
    """

    def __init__(self, most_each: int, most: int) -> None:
        self.most_each = most_each
        self.most = most
        self._count = 0
        # By first token, what follows it; both in the order of their last use.
        self._tails: OrderedDict[int, OrderedDict[tuple[int, ...], None]] = OrderedDict()

    def __len__(self) -> int:
        return self._count

    def add(self, tokens: Sequence[int]) -> None:
        """Add a sequence of two or more tokens, or make it the latest."""
        first, tail = tokens[0], tuple(tokens[1:])
        tails = self._tails.get(first)
        if tails is None:
            tails = self._tails[first] = OrderedDict()
        self._tails.move_to_end(first)
        if tail in tails:
            tails.move_to_end(tail)
            return
        tails[tail] = None
        self._count += 1
        if len(tails) > self.most_each:
            tails.popitem(last=False)
            self._count -= 1
        elif self._count > self.most:
            self._drop_oldest()

    def tails(self, first: int) -> Iterator[tuple[int, ...]]:
        """Return what follows a token, the latest first."""
        return reversed(self._tails.get(first, OrderedDict()))

    def _drop_oldest(self) -> None:
        """Drop the oldest sequence of the token that was not added to for the longest time."""
        first, tails = next(iter(self._tails.items()))
        tails.popitem(last=False)
        self._count -= 1
        if not tails:
            del self._tails[first]
