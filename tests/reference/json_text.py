"""What a JSON scalar is worth, and all the ways to spell it.

Two texts spell one value if JSON Schema calls them equal: strings by their characters, numbers by
their size. A value is its kind and its content, so that 1, "1" and true differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.reference.regular import Algebra, Term, join_terms

Value = tuple[str, str | tuple[int, int]]

SHORT = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
# In the spelling of a number; a text with another exponent is not looked for.
MAX_EXPONENT = 9


def string_value(text: str) -> Value:
    return "string", text


def json_value(text: bytes) -> Value:
    """Return what a JSON text is worth: a string in quotes, a number, null, true or false."""
    if text.startswith(b'"'):
        return string_value(json.loads(text))
    if text in (b"null", b"true", b"false"):
        return "word", text.decode()
    return "number", _digits_and_exponent(text.decode())


def _digits_and_exponent(text: str) -> tuple[int, int]:
    """Return the number as digits * 10**exponent, with no 0 at the end of the digits."""
    mantissa, _, power = text.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits, exponent = int(whole + fraction), int(power or 0) - len(fraction)
    if digits == 0:
        return 0, 0
    while digits % 10 == 0:
        digits, exponent = digits // 10, exponent + 1
    return digits, exponent


def spellings(algebra: Algebra, value: Value) -> Term:
    """Return the term for all texts that spell a value."""
    kind, content = value
    if kind == "word":
        return algebra.literal(str(content).encode())
    if isinstance(content, tuple):
        return algebra.choice(_numbers(algebra, *content))
    quote = algebra.literal(b'"')
    return join_terms(algebra, [quote, *(_character(algebra, c) for c in content), quote])


def _character(algebra: Algebra, character: str) -> Term:
    units = character.encode("utf-16-be", "surrogatepass")
    escape = []
    for at in range(0, len(units), 2):
        escape.append(algebra.literal(b"\\u"))
        escape += [_hexadecimal(algebra, digit) for digit in units[at : at + 2].hex()]
    ways = [join_terms(algebra, escape)]
    if character in SHORT:
        ways.append(algebra.literal(b"\\" + SHORT[character].encode()))
    if character not in '"\\' and ord(character) >= 0x20 and not "\ud800" <= character <= "\udfff":
        ways.append(algebra.literal(character.encode()))
    return algebra.choice(ways)


def _hexadecimal(algebra: Algebra, digit: str) -> Term:
    return algebra.choice(
        [algebra.literal(digit.encode()), algebra.literal(digit.upper().encode())]
    )


def _numbers(algebra: Algebra, digits: int, exponent: int) -> Iterator[Term]:
    yield _decimal(algebra, digits, exponent)
    zeros = algebra.repeat(algebra.literal(b"0"), 0, None)
    for power in range(-MAX_EXPONENT, MAX_EXPONENT + 1):
        mark = algebra.choice([algebra.literal(b"e"), algebra.literal(b"E")])
        signs = [algebra.literal(b"-")] if power < 0 else [algebra.literal(b"+"), algebra.empty]
        if power == 0:
            signs.append(algebra.literal(b"-"))
        last = algebra.literal(str(abs(power)).encode())
        number = _decimal(algebra, digits, exponent - power if digits else 0)
        yield join_terms(algebra, [number, mark, algebra.choice(signs), zeros, last])


def _decimal(algebra: Algebra, digits: int, exponent: int) -> Term:
    """Return the ways to write digits * 10**exponent without an exponent."""
    places = max(0, -exponent)
    text = str(abs(digits) * 10 ** max(0, exponent)).rjust(places + 1, "0")
    whole, fraction = text[: len(text) - places], text[len(text) - places :]
    zero, point = algebra.literal(b"0"), algebra.literal(b".")
    if fraction:
        some_zeros = algebra.repeat(zero, 0, None)
        tail = join_terms(algebra, [point, algebra.literal(fraction.encode()), some_zeros])
    else:
        tail = algebra.choice(
            [algebra.empty, algebra.sequence(point, algebra.repeat(zero, 1, None))]
        )
    minus = algebra.literal(b"-")
    sign = (
        minus if digits < 0 else algebra.empty if digits else algebra.choice([minus, algebra.empty])
    )
    return join_terms(algebra, [sign, algebra.literal(whole.encode()), tail])
