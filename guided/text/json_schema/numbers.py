"""JSON numbers between exact bounds, as automata over their digits.

A text is judged by the value it spells, in exact decimals. These spellings are let through:

- a number without bounds, or with bounds at 0 only: all that RFC 8259 allows, with fraction and
  exponent;
- a number with other bounds: without an exponent, as 0.0...01e+N has no bound that a finite
  automaton sees;
- an integer: digits, and `.0` behind them if the writer likes ("1.0" is an integer for JSON
  Schema);
- a negative zero only where negative numbers are allowed: a model that wants -5 and may only write
  -0 should not be led on by a minus sign.
"""

from __future__ import annotations

from decimal import Decimal

from guided._core import Arena
from guided.text.json_schema.digits import (
    EMPTY,
    digit,
    digits,
    magnitude_between,
    point_zero,
)
from guided.text.json_schema.shapes import Bound, NumberShape

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
    if "." not in plain:
        spellings.update((plain, plain + ".0"))
    elif len(plain) <= _MAX_FRACTION:
        spellings.add(plain)
    shift = value.adjusted()
    if not -4 <= shift < 16:
        # As json.dumps of Python (1e+16, 1e-07) and JSON.stringify (1e+21, 1e-7) write it.
        digits = "".join(map(str, value.as_tuple().digits)).rstrip("0")
        mantissa = ("-" if value < 0 else "") + digits[0] + ("." + digits[1:] if digits[1:] else "")
        sign = "-" if shift < 0 else "+"
        spellings.add(f"{mantissa}e{shift}")
        spellings.add(f"{mantissa}e{sign}{abs(shift)}")
        spellings.add(f"{mantissa}e{sign}{abs(shift):02}")
    return arena.choice([arena.literal(spelling) for spelling in sorted(spellings)])


def number_between(arena: Arena, shape: NumberShape) -> int:
    """Match the numbers between the bounds of a shape."""
    low, high = shape.low, shape.high
    if not shape.is_integer and low is not None and high is None and low.value == 0:
        return _positive(arena) if low.is_open else any_number(arena, "")
    if not shape.is_integer and high is not None and low is None and high.value == 0:
        # Zero is spelled with a minus too here, as negative numbers are allowed.
        negative = arena.sequence(
            [arena.literal("-"), _positive(arena) if high.is_open else any_number(arena, "")]
        )
        return negative if high.is_open else arena.choice([negative, _zero(arena)])
    least = None if low is None else (low.value, low.is_open)
    most = None if high is None else (high.value, high.is_open)
    if shape.is_integer:
        least = None if low is None else (Decimal(least_integer(low)), False)
        most = None if high is None else (Decimal(greatest_integer(high)), False)
    options = []
    if most is None or most[0] >= 0:
        bottom = least if least is not None and least[0] >= 0 else (Decimal(0), False)
        options.append(magnitude_between(arena, bottom, most, shape.is_integer))
    if least is None or least[0] < 0:
        # The magnitudes of negative numbers run the other way; zero is one if it is in range.
        nearest = (Decimal(0), False)
        if most is not None and most[0] <= 0:
            nearest = (most[0].copy_negate(), most[1])
        farthest = None if least is None else (least[0].copy_negate(), least[1])
        magnitude = magnitude_between(arena, nearest, farthest, shape.is_integer)
        options.append(arena.sequence([arena.literal("-"), magnitude]))
    return arena.choice(options)


def holds(shape: NumberShape, value: Decimal) -> bool:
    """Return True if a number satisfies what a shape asks beside its list of values."""
    if shape.is_integer and value != value.to_integral_value():
        return False
    low, high = shape.low, shape.high
    if low is not None and (value < low.value or (low.is_open and value == low.value)):
        return False
    return high is None or not (value > high.value or (high.is_open and value == high.value))


def least_integer(low: Bound) -> int:
    """Return the first integer within a lower bound."""
    floor = _floor(low.value)
    return floor if floor == low.value and not low.is_open else floor + 1


def greatest_integer(high: Bound) -> int:
    """Return the last integer within an upper bound."""
    floor = _floor(high.value)
    return floor - 1 if floor == high.value and high.is_open else floor


def _floor(value: Decimal) -> int:
    # int() and // of Decimal are exact or fail; its context never rounds here.
    whole = int(value)
    return whole - 1 if value < whole else whole


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
