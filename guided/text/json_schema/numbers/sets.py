"""Sets of numbers, in exact fractions: what can be known of them without writing them out.

A set is what its bounds, its step and its list leave, less the sets that it excludes. Outside of a
few points (the ends of bounds, listed values) such a set repeats itself with a period, the least
common multiple of all steps, and within a period only multiples of their greatest common divisor
are special. So finitely many probes tell if a set is empty, and where they are too many, nothing is
claimed.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from guided.text.json_schema.numbers.decimals import greatest_divisor, least_multiple
from guided.text.json_schema.shapes.shape import Bound, Multiple, NumberShape

# Numbers tried before it is left open if a set is empty.
MAX_PROBES = 5_000


class End(NamedTuple):
    """One end of a range; `is_open`: the number itself is out."""

    value: Fraction
    is_open: bool


class NumberSet(NamedTuple):
    """Numbers.

    Attributes:
        step: all are whole multiples of it, None for any number.
        low, high: they lie between these.
        values: they are among these, None for any.
        excluded: they are in none of these.
    """

    step: Fraction | None = None
    low: End | None = None
    high: End | None = None
    values: frozenset[Fraction] | None = None
    excluded: tuple[NumberSet, ...] = ()

    def __contains__(self, value: object) -> bool:
        assert isinstance(value, Fraction)
        step, low, high, values, excluded = self
        if low is not None and (value < low.value or (low.is_open and value == low.value)):
            return False
        if high is not None and (value > high.value or (high.is_open and value == high.value)):
            return False
        if step is not None and (value / step).denominator != 1:
            return False
        if values is not None and value not in values:
            return False
        return not any(value in other for other in excluded)

    def mirrored(self) -> NumberSet:
        """Return the set of their negatives."""
        return NumberSet(
            self.step,
            None if self.high is None else End(-self.high.value, self.high.is_open),
            None if self.low is None else End(-self.low.value, self.low.is_open),
            None if self.values is None else frozenset(-value for value in self.values),
            tuple(other.mirrored() for other in self.excluded),
        )

    def parts(self) -> Iterator[NumberSet]:
        """Give this set and all that it excludes, at any depth."""
        yield self
        for other in self.excluded:
            yield from other.parts()


NOTHING = NumberSet(values=frozenset())


def number_set(shape: NumberShape) -> NumberSet:
    """Return the set of the numbers of a shape, with exclusions made bounds where they can be."""
    step = Fraction(1) if shape.is_integer else None
    if shape.multiples:
        steps = [Fraction(multiple.value) for multiple in shape.multiples]
        step = least_multiple(steps if step is None else [step, *steps])
    numbers = NumberSet(
        step,
        None if shape.low is None else End(Fraction(shape.low.value), shape.low.is_open),
        None if shape.high is None else End(Fraction(shape.high.value), shape.high.is_open),
        None if shape.values is None else frozenset(map(Fraction, shape.values.members)),
    )
    for other in shape.excluded:
        numbers = _without(numbers, number_set(other))
    return numbers


def meet(a: NumberSet, b: NumberSet) -> NumberSet:
    """Return what is in both sets."""
    steps = [step for step in (a.step, b.step) if step is not None]
    return NumberSet(
        least_multiple(steps) if steps else None,
        higher(a.low, b.low),
        lower(a.high, b.high),
        b.values if a.values is None else a.values if b.values is None else a.values & b.values,
        a.excluded + b.excluded,
    )


def is_void(numbers: NumberSet) -> bool | None:
    """Return True if nothing is in a set, None if that would take too long to find out."""
    if numbers.values is not None:
        return not any(value in numbers for value in numbers.values)
    low, high, step = numbers.low, numbers.high, numbers.step
    if low is not None and high is not None:
        if low.value > high.value:
            return True
        if low.value == high.value:
            return low.value not in numbers
        if step is not None and not numbers.excluded:
            return _next_multiple(step, low.value, low.is_open) not in numbers
    if not numbers.excluded:
        return False
    for count, value in enumerate(_probes(numbers)):
        if value in numbers:
            return False
        if count >= MAX_PROBES:
            return None
    return True


def holds(shape: NumberShape, value: Decimal) -> bool:
    """Return True if a number fits all that a shape asks."""
    if shape.values is not None and value not in shape.values.members:
        return False
    return holds_unlisted(shape, value)


def holds_unlisted(shape: NumberShape, value: Decimal) -> bool:
    """Return True if a number fits what a shape asks beside its list of values."""
    is_integer, low, high, _, multiples, excluded = shape
    if is_integer and value != value.to_integral_value():
        return False
    if low is not None and (value < low.value or (low.is_open and value == low.value)):
        return False
    if high is not None and (value > high.value or (high.is_open and value == high.value)):
        return False
    if multiples and not all(_divides(multiple, value) for multiple in multiples):
        return False
    return not any(holds(other, value) for other in excluded)


def fitting_values(shape: NumberShape) -> tuple[Decimal, ...]:
    """Return the listed numbers that fit all else that a shape asks."""
    assert shape.values is not None
    if not shape.excluded:
        return tuple(value for value in shape.values.members if holds_unlisted(shape, value))
    # What is excluded may be a long list too.
    numbers = number_set(shape)
    return tuple(value for value in shape.values.members if Fraction(value) in numbers)


def is_void_numbers(shape: NumberShape) -> bool:
    """Return True if it is proven that no number fits a shape."""
    if shape.values is not None:
        return not fitting_values(shape)
    if not (shape.multiples or shape.excluded) and (shape.low is None or shape.high is None):
        return False
    return is_void(number_set(shape)) is True


def disjoint_numbers(a: NumberShape, b: NumberShape) -> bool:
    """Return True if it is proven that no number fits both shapes."""
    if a.values is not None or b.values is not None:
        if a.values is None or (b.values and len(b.values.members) < len(a.values.members)):
            a, b = b, a
        assert a.values is not None
        others = None if b.values is None else frozenset(b.values.members)
        return not any(
            holds_unlisted(a, value)
            and holds_unlisted(b, value)
            and (others is None or value in others)
            for value in a.values.members
        )
    for one, other in ((a, b), (b, a)):
        if one.low is not None and other.high is not None and _are_contrary(one.low, other.high):
            return True
    is_plain = not (a.multiples or b.multiples or a.excluded or b.excluded)
    if is_plain and not (a.is_integer or b.is_integer):
        return False
    return is_void(meet(number_set(a), number_set(b))) is True


def _are_contrary(low: Bound, high: Bound) -> bool:
    if low.value == high.value:
        return low.is_open or high.is_open
    return low.value > high.value


def _divides(multiple: Multiple, value: Decimal) -> bool:
    # Not %, which rounds to the precision of the context.
    return (Fraction(value) / Fraction(multiple.value)).denominator == 1


def _without(numbers: NumberSet, other: NumberSet) -> NumberSet:
    """Take a set out of another."""
    step, low, high, values, excluded = other
    if step is not None and numbers.step is not None and (numbers.step / step).denominator == 1:
        step = None
        other = other._replace(step=None)
    if step is None and values is None:
        if low is None and high is None:
            if not excluded:
                return NOTHING
            if len(excluded) == 1:
                return meet(numbers, excluded[0])
        elif not excluded and high is None:
            assert low is not None
            return numbers._replace(high=lower(numbers.high, End(low.value, not low.is_open)))
        elif not excluded and low is None:
            assert high is not None
            return numbers._replace(low=higher(numbers.low, End(high.value, not high.is_open)))
    return numbers._replace(excluded=(*numbers.excluded, other))


def higher(a: End | None, b: End | None) -> End | None:
    """Return the stricter of two lower ends."""
    if a is None or b is None:
        return b if a is None else a
    return max(a, b)


def lower(a: End | None, b: End | None) -> End | None:
    """Return the stricter of two upper ends."""
    if a is None or b is None:
        return b if a is None else a
    return a if (a.value, not a.is_open) <= (b.value, not b.is_open) else b


def _next_multiple(step: Fraction, value: Fraction, is_open: bool) -> Fraction:
    """Return the first multiple from a value on, or after it."""
    count = value / step
    whole = count.numerator // count.denominator
    return step * (whole if whole == count and not is_open else whole + 1)


def _probes(numbers: NumberSet) -> Iterator[Fraction]:
    """Give numbers of which one is in the set, if any is."""
    parts = list(numbers.parts())
    cuts = {end.value for part in parts for end in (part.low, part.high) if end is not None}
    for part in parts:
        cuts.update(part.values or ())
    low, high = numbers.low, numbers.high
    inner = sorted(
        cut
        for cut in cuts
        if (low is None or cut >= low.value) and (high is None or cut <= high.value)
    )
    steps = [part.step for part in parts if part.step is not None]
    grid, period = numbers.step, Fraction(1)
    if steps:
        grid = grid or greatest_divisor(steps)
        period = least_multiple(steps)
    starts: list[Fraction | None] = [*inner]
    ends: list[Fraction | None] = [*inner]
    starts.insert(0, None)
    ends.append(None)
    # From the far end, which is where an exclusion that is no bound leaves something.
    for start, end in reversed(list(zip(starts, ends, strict=True))):
        if start is not None:
            yield start
        if (start is None and low is not None) or (end is None and high is not None):
            continue
        if numbers.step is None:
            yield _between(start, end)
        if grid is not None:
            yield from _multiples(grid, start, end, int(period / grid))


def _between(start: Fraction | None, end: Fraction | None) -> Fraction:
    """Return a number between two that is no decimal, so a multiple of no step."""
    if start is not None and end is not None:
        return start + Fraction(1, 3 * (end - start).denominator)
    if start is not None:
        return start + Fraction(1, 3)
    return (end or Fraction(0)) - Fraction(1, 3)


def _multiples(
    grid: Fraction, start: Fraction | None, end: Fraction | None, count: int
) -> Iterator[Fraction]:
    """Give so many multiples next to each other between two numbers, or all there are."""
    if start is None:
        yield from (-value for value in _multiples(grid, -(end or Fraction(0)), None, count))
        return
    value = _next_multiple(grid, start, True)
    for _ in range(count):
        if end is not None and value >= end:
            return
        yield value
        value += grid
