"""Unsigned decimal numbers between two edges, by comparing digits from the left."""

from __future__ import annotations

from typing import NamedTuple

from guided._core import Arena
from guided.text.json_schema.numbers.decimals import digits_of
from guided.text.json_schema.numbers.sets import End

EMPTY, NEVER = 0, 1


class _Edge(NamedTuple):
    """One end of a range, as digits: no leading zeros, none at the end of the fraction."""

    whole: str
    fraction: str
    is_open: bool

    def digit(self, index: int) -> int:
        """Return a digit of the fraction, which goes on in zeros."""
        return int(self.fraction[index]) if index < len(self.fraction) else 0


def digit(arena: Arena, low: int = 0, high: int = 9) -> int:
    """Match one decimal digit of a range; `never` if it is empty."""
    return arena.char_class([(48 + low, 48 + high)]) if low <= high else NEVER


def digits(arena: Arena, minimum: int = 1) -> int:
    """Match at least so many digits."""
    return arena.repeat(digit(arena), minimum)


def point_zero(arena: Arena) -> int:
    """Match what may stand behind an integer."""
    return arena.choice([EMPTY, arena.literal(".0")])


def magnitude_between(arena: Arena, bottom: End, top: End | None, tail: int | None = None) -> int:
    """Match the unsigned numbers from `bottom` to `top` (None: no end).

    `tail`: match integers only, and this behind them; both ends are closed then.
    """
    if top is not None and top.value < bottom.value:
        return NEVER
    low = _Edge(*digits_of(bottom.value), bottom.is_open)
    high = None if top is None else _Edge(*digits_of(top.value), top.is_open)
    return _Range(arena, low, high, tail).node()


class _Range:
    """The unsigned numbers between two edges.

    Digits are compared with those of an edge as long as they have been the same; `low` and `high`
    are the edges that are still to be compared with, None when the number is already inside.
    """

    def __init__(self, arena: Arena, low: _Edge, high: _Edge | None, tail: int | None) -> None:
        self.arena = arena
        self.low = low
        self.high = high
        self.tail = tail

    def node(self) -> int:
        """Match them, by the number of digits before the point."""
        shortest = len(self.low.whole)
        if self.high is None:
            return self.arena.choice(
                [self._whole(shortest, self.low, None), self._longer(shortest, None)]
            )
        longest = len(self.high.whole)
        if shortest == longest:
            return self._whole(shortest, self.low, self.high)
        return self.arena.choice(
            [
                self._whole(shortest, self.low, None),
                self._longer(shortest, longest - 1),
                self._whole(longest, None, self.high),
            ]
        )

    def _longer(self, above: int, most: int | None) -> int:
        """Match any number with more than `above` and at most `most` digits before the point."""
        if most is not None and most <= above:
            return NEVER
        first = digit(self.arena, 1)
        rest = self.arena.repeat(digit(self.arena), above, None if most is None else most - 1)
        return self.arena.sequence([first, rest, self._fraction(None, None)])

    def _whole(self, length: int, low: _Edge | None, high: _Edge | None) -> int:
        """Match numbers with `length` digits before the point, as many as the edges have."""
        # From the last digit to the first: what may follow when still equal to low, to high, to
        # both, to none.
        free = self._fraction(None, None)
        at_low = self._fraction(low, None)
        at_high = self._fraction(None, high)
        at_both = self._fraction(low, high)
        for position in range(length - 1, -1, -1):
            first = 1 if position == 0 and length > 1 else 0
            least = first if low is None else int(low.whole[position])
            most = 9 if high is None else int(high.whole[position])
            at_both = self._step(first, least, most, (at_both, at_low, at_high, free), low, high)
            at_low = self._step(first, least, 9, (at_low, at_low, free, free), low, None)
            at_high = self._step(first, first, most, (at_high, free, at_high, free), None, high)
            free = self.arena.sequence([digit(self.arena, first), free])
        return at_both

    def _step(
        self,
        first: int,
        least: int,
        most: int,
        follow: tuple[int, int, int, int],
        low: _Edge | None,
        high: _Edge | None,
    ) -> int:
        """Match a digit, then what may `follow` if equal to both edges, the low, the high, none."""
        both, lower, upper, free = follow
        if low is None and high is None:
            return self.arena.sequence([digit(self.arena, first), free])
        if low is None:
            inside = self.arena.sequence([digit(self.arena, first, most - 1), free])
            return self.arena.choice([inside, self._exactly(most, upper, first)])
        if high is None:
            inside = self.arena.sequence([digit(self.arena, least + 1), free])
            return self.arena.choice([inside, self._exactly(least, lower, first)])
        if least > most:
            return NEVER
        if least == most:
            return self._exactly(least, both, first)
        inside = self.arena.sequence([digit(self.arena, least + 1, most - 1), free])
        ends = [self._exactly(least, lower, first), self._exactly(most, upper, first)]
        return self.arena.choice([inside, *ends])

    def _exactly(self, value: int, rest: int, first: int) -> int:
        if value < first:
            return NEVER
        return self.arena.sequence([self.arena.literal(str(value)), rest])

    def _fraction(self, low: _Edge | None, high: _Edge | None) -> int:
        """Match the fraction, or none, after digits that equal those of the edges."""
        if self.tail is not None:
            return self.tail
        some = self.arena.sequence([self.arena.literal("."), self._decimals(low, high)])
        return self._or_end(some, 0, low, high)

    def _decimals(self, low: _Edge | None, high: _Edge | None) -> int:
        """Match the decimals, at least one, after digits that equal those of the edges."""
        # From the last decimal of an edge to the first, as in _whole.
        end = max((len(edge.fraction) for edge in (low, high) if edge is not None), default=0)
        is_first = end == 0
        free = digits(self.arena, 0)
        at_low = self._beyond(low, None, is_first)
        at_high = self._beyond(None, high, is_first)
        at_both = self._beyond(low, high, is_first)
        for index in range(end - 1, -1, -1):
            least = 0 if low is None else low.digit(index)
            most = 9 if high is None else high.digit(index)
            at_both = self._step(0, least, most, (at_both, at_low, at_high, free), low, high)
            at_low = self._step(0, least, 9, (at_low, at_low, free, free), low, None)
            at_high = self._step(0, 0, most, (at_high, free, at_high, free), None, high)
            if index > 0:
                at_both = self._or_end(at_both, index, low, high)
                at_low = self._or_end(at_low, index, low, None)
                at_high = self._or_end(at_high, index, None, high)
        return at_both

    def _or_end(self, node: int, index: int, low: _Edge | None, high: _Edge | None) -> int:
        return self.arena.choice([node, EMPTY]) if _may_end(index, low, high) else node

    def _beyond(self, low: _Edge | None, high: _Edge | None, at_least_one: bool) -> int:
        """Match decimals after the last one of the edges: nothing but zeros is equal to them."""
        arena = self.arena
        minimum = 1 if at_least_one else 0
        if low is None and high is None:
            return digits(arena, minimum)
        if high is not None:
            is_out = high.is_open or (low is not None and low.is_open)
            return NEVER if is_out else arena.repeat(arena.literal("0"), minimum)
        assert low is not None
        if not low.is_open:
            return digits(arena, minimum)
        zeros = arena.repeat(arena.literal("0"))
        return arena.sequence([zeros, digit(arena, 1), digits(arena, 0)])


def _may_end(index: int, low: _Edge | None, high: _Edge | None) -> bool:
    """Return True if a number may end behind `index` decimals equal to those of the edges."""
    if low is not None and (index < len(low.fraction) or low.is_open):
        return False
    return high is None or index < len(high.fraction) or not high.is_open
