"""JSON numbers of a shape, as automata over their digits.

A text is judged by the value it spells, in exact decimals. All values that fit can be written, and
these are the spellings:

- a number without constraints, or with bounds at 0 only: all that RFC 8259 allows, with fraction
  and exponent;
- a number with other bounds, or with exclusions: without an exponent; or with one behind a number
  that has one digit before the point, not 0, and is between the bounds itself (`exponents`): with
  at most 5 that is 2.5e-07 but not 9e-07, which is 0.0000009 then;
- a multiple of a step: without an exponent, and with no more decimals than the step has;
- an integer: digits, and `.0` behind them if the writer likes ("1.0" is an integer for JSON
  Schema);
- a listed number: as json.dumps of Python and JSON.stringify write it, and without an exponent;
- a negative zero only where negative numbers are allowed: a model that wants -5 and may only write
  -0 should not be led on by a minus sign.

So what json.dumps of Python writes is let through, except 9e-07 as above, multiples that it writes
with an exponent (floats below 1e-4 and from 1e16 on), floats as integers from 1e16 on, and -0.0 for
a listed 0.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from guided._core import Arena
from guided.text.json_schema.numbers.automata import unsigned_automaton
from guided.text.json_schema.numbers.decimals import decimal_of, decimals_of
from guided.text.json_schema.numbers.digits import (
    EMPTY,
    NEVER,
    digit,
    digits,
    magnitude_between,
    point_zero,
)
from guided.text.json_schema.numbers.exponents import scientific_between, scientific_in
from guided.text.json_schema.numbers.sets import End, NumberSet

# Longer plain spellings of a fraction are not offered beside the one with an exponent. Integers are
# always written out too: json.dumps of Python knows no other way.
_MAX_FRACTION = 40


def whole_number(arena: Arena) -> int:
    """Match an unsigned integer without leading zeros."""
    return arena.choice(
        [arena.literal("0"), arena.sequence([digit(arena, 1), arena.repeat(digit(arena))])]
    )


def any_number(arena: Arena, sign: str = "-") -> int:
    """Match a number as RFC 8259 has it, with a minus if `sign` allows one."""
    return arena.sequence(
        [
            arena.choice([EMPTY, arena.literal(sign)]) if sign else EMPTY,
            whole_number(arena),
            arena.choice([EMPTY, arena.sequence([arena.literal("."), digits(arena)])]),
            _exponent(arena),
        ]
    )


def any_integer(arena: Arena) -> int:
    """Match an integer."""
    sign = arena.choice([EMPTY, arena.literal("-")])
    return arena.sequence([sign, whole_number(arena), point_zero(arena)])


def constant(arena: Arena, value: Decimal) -> int:
    """Match the usual spellings of one number."""
    spellings: set[str] = set()
    plain = f"{value:f}"
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    shift = value.adjusted()
    has_exponent = not -4 <= shift < 16
    if "." not in plain:
        spellings.update((plain, plain + ".0"))
    elif len(plain) <= _MAX_FRACTION or not has_exponent:
        spellings.add(plain)
    if has_exponent:
        # As json.dumps of Python (1e+16, 1e-07) and JSON.stringify (1e+21, 1e-7) write it.
        digits = "".join(map(str, value.as_tuple().digits)).rstrip("0")
        mantissa = ("-" if value < 0 else "") + digits[0] + ("." + digits[1:] if digits[1:] else "")
        sign = "-" if shift < 0 else "+"
        spellings.add(f"{mantissa}e{shift}")
        spellings.add(f"{mantissa}e{sign}{abs(shift)}")
        spellings.add(f"{mantissa}e{sign}{abs(shift):02}")
    return arena.choice([arena.literal(spelling) for spelling in sorted(spellings)])


def number_in(arena: Arena, numbers: NumberSet) -> int:
    """Match the numbers of a set; NEVER if it is empty.

    Raises:
        TooManyStates: the automaton would be too large.
    """
    step = numbers.step
    if numbers.values is not None:
        values = sorted(value for value in numbers.values if value in numbers)
        return arena.choice([constant(arena, decimal_of(value)) for value in values])
    if not numbers.excluded and (step is None or step == 1):
        return number_between(arena, step is not None, numbers.low, numbers.high)
    most_decimals = None if step is None else max(1, decimals_of(step))
    options = []
    for sign, side in (("", numbers), ("-", numbers.mirrored())):
        automaton = unsigned_automaton(side, most_decimals)
        # Not for a zero alone is a minus offered.
        if automaton.table and (automaton.has_positive or not sign):
            magnitudes = arena.dfa(automaton.table)
            exponents = scientific_in(arena, side)
            if exponents != NEVER:
                magnitudes = arena.choice([magnitudes, exponents])
            options.append(arena.sequence([arena.literal(sign), magnitudes]))
    return arena.choice(options)


def number_between(arena: Arena, is_integer: bool, low: End | None, high: End | None) -> int:
    """Match the numbers between two bounds."""
    if is_integer:
        return _integer_between(arena, low, high)
    if low is None and high is None:
        return any_number(arena)
    if low is not None and high is None and low.value == 0:
        return _positive(arena) if low.is_open else any_number(arena, "")
    if high is not None and low is None and high.value == 0:
        # Zero is spelled with a minus too here, as negative numbers are allowed.
        negative = arena.sequence(
            [arena.literal("-"), _positive(arena) if high.is_open else any_number(arena, "")]
        )
        return negative if high.is_open else arena.choice([negative, _zero(arena)])

    known: dict[tuple[End, End | None], int] = {}

    def magnitudes(bottom: End, top: End | None) -> int:
        node = known.get((bottom, top))
        if node is None:
            exponents = scientific_between(arena, bottom, top)
            plain = magnitude_between(arena, bottom, top)
            node = known[bottom, top] = arena.choice([plain, exponents])
        return node

    return _of_both_signs(arena, low, high, magnitudes)


def _integer_between(arena: Arena, low: End | None, high: End | None) -> int:
    if low is None and high is None:
        return any_integer(arena)
    tail = point_zero(arena)
    return _of_both_signs(
        arena,
        None if low is None else End(Fraction(least_integer(low)), False),
        None if high is None else End(Fraction(greatest_integer(high)), False),
        lambda bottom, top: magnitude_between(arena, bottom, top, tail),
    )


def _of_both_signs(
    arena: Arena,
    low: End | None,
    high: End | None,
    magnitudes: Callable[[End, End | None], int],
) -> int:
    """Match the numbers between two bounds by their magnitudes."""
    zero = End(Fraction(0), False)
    options = []
    if high is None or high.value >= 0:
        options.append(magnitudes(low if low is not None and low.value >= 0 else zero, high))
    if low is None or low.value < 0:
        # The magnitudes of negative numbers run the other way; zero is one if it is in range.
        nearest = zero if high is None or high.value > 0 else End(-high.value, high.is_open)
        farthest = None if low is None else End(-low.value, low.is_open)
        options.append(arena.sequence([arena.literal("-"), magnitudes(nearest, farthest)]))
    return arena.choice(options)


def least_integer(low: End) -> int:
    """Return the first integer within a lower bound."""
    whole = ceil(low.value)
    return whole + 1 if whole == low.value and low.is_open else whole


def greatest_integer(high: End) -> int:
    """Return the last integer within an upper bound."""
    whole = floor(high.value)
    return whole - 1 if whole == high.value and high.is_open else whole


def _exponent(arena: Arena) -> int:
    sign = arena.choice([EMPTY, arena.char_class([(43, 43), (45, 45)])])
    letter = arena.char_class([(69, 69), (101, 101)])
    return arena.choice([EMPTY, arena.sequence([letter, sign, digits(arena)])])


def _zero(arena: Arena) -> int:
    """Match zero without a sign."""
    zeros = arena.repeat(arena.literal("0"), 1)
    fraction = arena.choice([EMPTY, arena.sequence([arena.literal("."), zeros])])
    return arena.sequence([arena.literal("0"), fraction, _exponent(arena)])


def _positive(arena: Arena) -> int:
    """Match a number above zero: some digit before the exponent is not 0."""
    fraction = arena.choice([EMPTY, arena.sequence([arena.literal("."), digits(arena)])])
    large = arena.sequence([digit(arena, 1), digits(arena, 0), fraction])
    zeros = arena.repeat(arena.literal("0"))
    small = arena.sequence([arena.literal("0."), zeros, digit(arena, 1), digits(arena, 0)])
    return arena.sequence([arena.choice([large, small]), _exponent(arena)])
