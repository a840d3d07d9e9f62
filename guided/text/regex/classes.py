"""What `\\d \\w \\s . (?i)` mean in each dialect, as sets of code points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from guided.text.regex.codepoints import EMPTY, Ranges, complement, normalize, union
from guided.text.regex.unicode import close_over_case, property_ranges

Dialect = Literal["python", "ecma"]

DIGITS: Ranges = ((0x30, 0x39),)
WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
PYTHON_SPACE: Ranges = ((0x09, 0x0D), (0x20, 0x20))
NEWLINE: Ranges = ((0x0A, 0x0A),)
# ECMA-262, WhiteSpace and LineTerminator: `\s` is the two together.
ECMA_NEWLINES: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
_ECMA_BLANKS: Ranges = ((0x09, 0x09), (0x0B, 0x0C), (0xFEFF, 0xFEFF))
# What `str.isspace` holds beyond the category Zs.
_PYTHON_UNICODE_BLANKS: Ranges = ((0x09, 0x0D), (0x1C, 0x20), (0x85, 0x85), (0x2028, 0x2029))
# Python compares by lower case and a table of exceptions, which joins these to `i` and `I`.
_PYTHON_DOTTED_I: Ranges = ((0x49, 0x49), (0x69, 0x69), (0x130, 0x131))


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags in force at one place of a pattern."""

    dialect: Dialect
    ignore_case: bool = False
    multiline: bool = False
    dot_all: bool = False
    unicode: bool = False
    verbose: bool = False
    sets: bool = False
    """Classes may hold classes, the flag `v` of ECMA-262."""


def category(name: str) -> Ranges:
    """Return the code points of a property that is known to exist."""
    return property_ranges(name) or EMPTY


@cache
def shorthand(letter: str, flags: Flags) -> Ranges:
    """Return the set of `\\d`, `\\w`, `\\s` or one of their complements, by its letter."""
    if letter.isupper():
        return complement(shorthand(letter.lower(), flags))
    if flags.dialect == "ecma":
        return _ecma_shorthand(letter, flags)
    if not flags.unicode:
        return {"d": DIGITS, "w": WORD, "s": PYTHON_SPACE}[letter]
    match letter:
        case "d":
            return _known_here(category("Nd"), str.isdecimal)
        case "w":
            letters = _known_here(union(category("L"), category("N")), str.isalnum)
            return union(letters, ((0x5F, 0x5F),))
        case _:
            return union(category("Zs"), _PYTHON_UNICODE_BLANKS)


def _known_here(ranges: Ranges, holds: Callable[[str], bool]) -> Ranges:
    """Leave out characters that the `re` of this Python does not know, as its Unicode is older."""
    known: list[tuple[int, int]] = []
    for low, high in ranges:
        for code in range(low, high + 1):
            if not holds(chr(code)):
                continue
            if known and known[-1][1] == code - 1:
                known[-1] = (known[-1][0], code)
            else:
                known.append((code, code))
    return normalize(known)


def _ecma_shorthand(letter: str, flags: Flags) -> Ranges:
    match letter:
        case "d":
            return DIGITS
        case "w":
            # ECMA-262, WordCharacters: with both `u` and `i` what folds to a word character is one.
            return close_over_case(WORD) if flags.ignore_case else WORD
        case _:
            return normalize(ECMA_NEWLINES + _ECMA_BLANKS + category("Zs"))


def newlines(dialect: Dialect) -> Ranges:
    """Return the characters that end a line."""
    return ECMA_NEWLINES if dialect == "ecma" else NEWLINE


@cache
def dot(flags: Flags) -> Ranges:
    """Return the set of `.`."""
    return complement(EMPTY if flags.dot_all else newlines(flags.dialect))


@cache
def fold(ranges: Ranges, flags: Flags) -> Ranges:
    """Add the variants in case of the members, if case is to be ignored."""
    if not flags.ignore_case:
        return ranges
    if flags.dialect == "python" and not flags.unicode:
        return _close_over_ascii_case(ranges)
    closed = close_over_case(ranges)
    if flags.dialect == "python" and any(
        low <= high_i and low_i <= high
        for low, high in closed
        for low_i, high_i in _PYTHON_DOTTED_I
    ):
        closed = union(closed, _PYTHON_DOTTED_I)
    return closed


def _close_over_ascii_case(ranges: Ranges) -> Ranges:
    added = []
    for low, high in ranges:
        for first, last, distance in ((0x41, 0x5A, 0x20), (0x61, 0x7A, -0x20)):
            if low <= last and first <= high:
                added.append((max(low, first) + distance, min(high, last) + distance))
    return normalize([*ranges, *added])
