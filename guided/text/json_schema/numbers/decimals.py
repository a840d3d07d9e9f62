"""Decimal numbers as exact fractions, and their digits."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm


def digits_of(value: Fraction) -> tuple[str, str]:
    """Return the digits of a decimal before and after the point; those after end in no zero."""
    decimals = decimals_of(value)
    text = str(abs(value.numerator) * 10**decimals // value.denominator).zfill(decimals + 1)
    return (text[:-decimals], text[-decimals:]) if decimals else (text, "")


def decimals_of(value: Fraction) -> int:
    """Return how many decimals a decimal has."""
    count, rest = 0, value.denominator
    while rest > 1:
        rest //= gcd(rest, 10)
        count += 1
    return count


def decimal_of(value: Fraction) -> Decimal:
    """Return a decimal as such, with all its digits."""
    sign = "-" if value < 0 else ""
    return Decimal(sign + ".".join(digits_of(value)))


def least_multiple(values: Sequence[Fraction]) -> Fraction:
    """Return the least number that is a whole multiple of all."""
    return Fraction(
        lcm(*(value.numerator for value in values)), gcd(*(value.denominator for value in values))
    )


def greatest_divisor(values: Sequence[Fraction]) -> Fraction:
    """Return the greatest number that all are whole multiples of."""
    return Fraction(
        gcd(*(value.numerator for value in values)), lcm(*(value.denominator for value in values))
    )
