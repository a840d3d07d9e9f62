"""Characters of a JSON string as `\\uXXXX`, beyond U+FFFF as a surrogate pair."""

from __future__ import annotations

from collections.abc import Sequence

from guided._core import Arena

Ranges = tuple[tuple[int, int], ...]

_PLANE_0 = ((0, 0xD7FF), (0xE000, 0xFFFF))
_BEYOND = ((0x10000, 0x10FFFF),)


def overlap(ranges: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> Ranges:
    """Return what is in both of two sets of code points."""
    return tuple(
        (max(low, other_low), min(high, other_high))
        for low, high in ranges
        for other_low, other_high in others
        if low <= other_high and other_low <= high
    )


def escaped_codes(arena: Arena, ranges: Sequence[tuple[int, int]]) -> list[int]:
    """Return options that match one escaped character out of inclusive ranges; no surrogates."""
    options = []
    near = overlap(ranges, _PLANE_0)
    if near:
        options.append(arena.sequence([arena.literal("\\u"), _digits(arena, near, 4)]))
    # The second halves that may follow, and the first halves after which these may.
    halves: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for low, high in overlap(ranges, _BEYOND):
        for first, second in _pairs(low - 0x10000, high - 0x10000):
            halves.setdefault(second, []).append(first)
    for second, firsts in halves.items():
        parts = [arena.literal("\\u"), _digits(arena, tuple(firsts), 4)]
        parts += [arena.literal("\\u"), _digits(arena, (second,), 4)]
        options.append(arena.sequence(parts))
    return options


def escaped_code(arena: Arena, code: int) -> int:
    """Match one escaped character."""
    units = chr(code).encode("utf-16-be").hex()
    parts = []
    for index, digit in enumerate(units):
        if index % 4 == 0:
            parts.append(arena.literal("\\u"))
        if digit.isdigit():
            parts.append(arena.literal(digit))
        else:
            parts.append(_digit(arena, [int(digit, 16)]))
    return arena.sequence(parts)


def _pairs(low: int, high: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Cut a range of code points, less 0x10000, into ranges of first and of second halves."""
    first, last = low >> 10, high >> 10
    low, high = low & 0x3FF, high & 0x3FF
    cut = []
    if first < last and low > 0:
        cut.append(((first, first), (low, 0x3FF)))
        first, low = first + 1, 0
    if first < last and high < 0x3FF:
        cut.append(((last, last), (0, high)))
        last, high = last - 1, 0x3FF
    cut.append(((first, last), (low, high)))
    return [
        ((0xD800 + first[0], 0xD800 + first[1]), (0xDC00 + second[0], 0xDC00 + second[1]))
        for first, second in cut
    ]


def _digits(arena: Arena, ranges: Ranges, digits: int) -> int:
    """Match a hexadecimal number of so many digits out of some ranges.

    First digits after which the same may follow are one class, so what is built is deterministic.
    """
    unit = 16 ** (digits - 1)
    whole = ((0, unit - 1),)
    if digits == 1 or ranges == ((0, unit * 16 - 1),):
        values = [value for low, high in ranges for value in range(low // unit, high // unit + 1)]
        return arena.repeat(_digit(arena, values), digits, digits)
    rests: dict[int, Ranges] = {}
    for low, high in ranges:
        first, last = low // unit, high // unit
        if first == last:
            rests[first] = (*rests.get(first, ()), (low % unit, high % unit))
            continue
        rests[first] = (*rests.get(first, ()), (low % unit, unit - 1))
        rests.update(dict.fromkeys(range(first + 1, last), whole))
        rests[last] = (*rests.get(last, ()), (0, high % unit))
    firsts: dict[Ranges, list[int]] = {}
    for value, rest in rests.items():
        firsts.setdefault(rest, []).append(value)
    return arena.choice(
        [
            arena.sequence([_digit(arena, values), _digits(arena, rest, digits - 1)])
            for rest, values in firsts.items()
        ]
    )


def _digit(arena: Arena, values: Sequence[int]) -> int:
    """Match one hexadecimal digit of some values, in either case."""
    characters = [f"{value:x}" for value in values] + [f"{value:X}" for value in values]
    return arena.char_class([(ord(character), ord(character)) for character in characters])
