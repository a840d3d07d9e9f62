"""Sets of code points as sorted, disjoint, inclusive ranges without surrogates.

Surrogates are no characters of a UTF-8 text, so no set holds them and the complement of a set
lacks them as well.
"""

from __future__ import annotations

from collections.abc import Iterable

Ranges = tuple[tuple[int, int], ...]

EMPTY: Ranges = ()
ANY: Ranges = ((0, 0xD7FF), (0xE000, 0x10FFFF))


def normalize(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Sort ranges, join those that touch and drop the surrogates."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            if high > joined[-1][1]:
                joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    if joined and joined[-1][1] >= 0xD800:
        return intersect(tuple(joined), ANY)
    return tuple(joined)


def union(first: Ranges, second: Ranges) -> Ranges:
    """Return the code points in either set."""
    if not first or not second:
        return first or second
    return normalize(first + second)


def intersect(first: Ranges, second: Ranges) -> Ranges:
    """Return the code points in both sets."""
    common = []
    i = j = 0
    while i < len(first) and j < len(second):
        low = max(first[i][0], second[j][0])
        high = min(first[i][1], second[j][1])
        if low <= high:
            common.append((low, high))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return tuple(common)


def complement(ranges: Ranges) -> Ranges:
    """Return the code points that are not in the set."""
    gaps = []
    start = 0
    for low, high in ranges:
        if low > start:
            gaps.append((start, low - 1))
        start = high + 1
    if start <= 0x10FFFF:
        gaps.append((start, 0x10FFFF))
    return intersect(tuple(gaps), ANY)


def subtract(first: Ranges, second: Ranges) -> Ranges:
    """Return the code points of the first set that are not in the second."""
    return intersect(first, complement(second))


def single(code_point: int) -> Ranges:
    """Return the set of one code point; it is empty for a surrogate."""
    return EMPTY if 0xD800 <= code_point <= 0xDFFF else ((code_point, code_point),)


def only_member(ranges: Ranges) -> int | None:
    """Return the code point of a set of one, else None."""
    return ranges[0][0] if len(ranges) == 1 and ranges[0][0] == ranges[0][1] else None
