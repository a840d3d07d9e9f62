"""Numbers above 0 with an exponent, between bounds: 2.5e-07 and its like.

They have one digit before the point, and that is not 0. Then m * 10**x compares as x does, and only
where that is equal as m does, so the automaton keeps what it knows of m until x is read. Exponents
from 0 to 2 are left out, as nobody writes 2.5e1.
"""

from __future__ import annotations

from fractions import Fraction

from guided._core import Arena
from guided.text.json_schema.numbers.decimals import digits_of
from guided.text.json_schema.numbers.digits import EMPTY, NEVER, digit, digits, magnitude_between
from guided.text.json_schema.numbers.sets import End, NumberSet, lower

_ONE, _TEN = End(Fraction(1), False), End(Fraction(10), True)

# The least exponent that is not negative.
_LEAST = 3

# Listed numbers that are taken out of those with an exponent one by one.
MAX_LISTED = 100


def scientific_between(
    arena: Arena,
    low: End | None,
    high: End | None,
    *,
    is_tame: bool = True,
    is_small: bool = False,
) -> int:
    """Match the numbers above 0 from `low` to `high` (None: no end).

    Args:
        arena: where to.
        low, high: neither is negative.
        is_tame: what stands before the exponent must be between the bounds too. A model that wants
            7 where 5 is the most should not begin 7 and find that only e-1 may follow.
        is_small: only those with a negative exponent.
    """
    if high is not None and not high.value:
        return NEVER
    first, least = (None, None) if low is None or not low.value else _normal(low)
    last, most = (None, None) if high is None else _normal(high)
    bottom = max(_ONE, (is_tame and low) or _ONE)
    top = lower(_TEN, high if is_tame else None)

    def numbers(lowest: End | None, highest: End | None, start: int | None, end: int | None) -> int:
        if is_small and (end is None or end > -1):
            end = -1
        exponents = _exponents(arena, start, end)
        if exponents == NEVER:
            return NEVER
        before = _mantissa(arena, max(bottom, lowest or _ONE), lower(top, highest) or _TEN)
        return arena.sequence([before, exponents])

    if first is not None and first == last:
        return numbers(least, most, first, last)
    inner = (None if first is None else first + 1, None if last is None else last - 1)
    options = [numbers(None, None, *inner)]
    if first is not None and (last is None or first < last):
        options.append(numbers(least, None, first, first))
    if last is not None and (first is None or first < last):
        options.append(numbers(None, most, last, last))
    return arena.choice(options)


def scientific_in(arena: Arena, numbers: NumberSet) -> int:
    """Match the numbers of a set that are above 0, as far as that can be told.

    With steps among what is excluded only those below 1 are offered, which no step of 1 or more
    reaches; with other steps, none.
    """
    parts = list(numbers.parts())
    steps = [part.step for part in parts if part.step is not None]
    listed = sum(len(part.values) for part in parts if part.values is not None)
    if numbers.step is not None or any(step < 1 for step in steps) or listed > MAX_LISTED:
        return NEVER
    return _in(arena, numbers, bool(steps), True)


def _in(arena: Arena, numbers: NumberSet, is_small: bool, is_tame: bool) -> int:
    if numbers.step is not None:
        return NEVER
    if numbers.values is not None:
        ends = [End(value, False) for value in numbers.values if value > 0 and value in numbers]
        return arena.choice(
            [
                scientific_between(arena, end, end, is_tame=is_tame, is_small=is_small)
                for end in ends
            ]
        )
    low, high = numbers.low, numbers.high
    if high is not None and high.value <= 0:
        return NEVER
    if low is not None and low.value <= 0:
        low = None
    node = scientific_between(arena, low, high, is_tame=is_tame, is_small=is_small)
    excluded = [_in(arena, other, is_small, False) for other in numbers.excluded]
    return arena.minus(node, arena.choice(excluded)) if excluded else node


def _normal(end: End) -> tuple[int, End]:
    """Return the exponent of a number, and the number with its point after the first digit."""
    whole, decimals = digits_of(end.value)
    digits = (whole + decimals).lstrip("0")
    before_point = len(digits) - len(decimals)
    return before_point - 1, End(Fraction(int(digits), 10 ** (len(digits) - 1)), end.is_open)


def _mantissa(arena: Arena, low: End, high: End) -> int:
    """Match what stands before an exponent."""
    if low == _ONE and high == _TEN:
        decimals = arena.sequence([arena.literal("."), digits(arena)])
        return arena.sequence([digit(arena, 1), arena.choice([EMPTY, decimals])])
    if low == high == _ONE:
        zeros = arena.sequence([arena.literal("."), arena.repeat(arena.literal("0"), 1)])
        return arena.sequence([arena.literal("1"), arena.choice([EMPTY, zeros])])
    return magnitude_between(arena, low, high)


def _exponents(arena: Arena, low: int | None, high: int | None) -> int:
    """Match an exponent in a range; it may have one 0 in front, as in e-07."""
    if low is not None and high is not None and low > high:
        return NEVER
    options = []
    if high is None or high >= _LEAST:
        plus = arena.choice([EMPTY, arena.literal("+")])
        options.append(arena.sequence([plus, _count(arena, max(low or 0, _LEAST), high)]))
    if low is None or low < 0:
        nearest = 1 if high is None else max(1, -high)
        farthest = None if low is None else -low
        options.append(arena.sequence([arena.literal("-"), _count(arena, nearest, farthest)]))
    if not options:
        return NEVER
    letter = arena.char_class([(69, 69), (101, 101)])
    return arena.sequence([letter, arena.choice(options)])


def _count(arena: Arena, low: int, high: int | None) -> int:
    if low == 1 and high is None:
        zero = arena.choice([EMPTY, arena.literal("0")])
        return arena.sequence([zero, digit(arena, 1), digits(arena, 0)])
    top = None if high is None else End(Fraction(high), False)
    whole = magnitude_between(arena, End(Fraction(low), False), top, EMPTY)
    return arena.sequence([arena.choice([EMPTY, arena.literal("0")]), whole])
