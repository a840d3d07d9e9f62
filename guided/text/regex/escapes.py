"""What stands after a backslash: one character, or a set of characters."""

from __future__ import annotations

import re
import unicodedata

from guided.text.regex.classes import Flags, fold, shorthand
from guided.text.regex.codepoints import EMPTY, Ranges, complement, single, union
from guided.text.regex.source import Source
from guided.text.regex.unicode import closest_property, property_ranges

_PYTHON_CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_ECMA_CONTROLS = {"f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_SURROGATE_PAIR = re.compile(r"\\u([dD][89abAB]..)\\u([dD][c-fC-F]..)", re.DOTALL)


def escaped_set(source: Source, token: str, index: int, flags: Flags) -> Ranges | None:
    """Return the set of `\\d`, `\\w`, `\\s`, `\\p{...}` or a complement; None for other escapes."""
    letter = token[1]
    if letter in "dDsSwW":
        return shorthand(letter, flags)
    if letter not in "pP" or (len(token) == 2 and flags.dialect == "ecma"):
        return None
    if not token.endswith("}") or token[2:3] != "{":
        raise source.error(
            f"a property must stand in braces after \\{letter}",
            index,
            length=len(token),
            mend=f"write \\{letter}{{L}} for the letters, for example",
        )
    name = token[3:-1]
    ranges = property_ranges(name)
    if ranges is None:
        meant = closest_property(name)
        raise source.error(
            f'there is no Unicode property "{name}"',
            index,
            length=len(token),
            mend=f'did you mean "{meant}"?'
            if meant
            else "see the names in ECMA-262: L, Script=Greek",
        )
    if flags.sets:  # under the flag `v` case is folded first, so that \P is what \p is not
        ranges = fold(ranges, flags)
        return complement(ranges) if letter == "P" else ranges
    return fold(complement(ranges) if letter == "P" else ranges, flags)


def escaped_character(source: Source, token: str, index: int, *, in_class: bool) -> int | None:
    """Return the code point that an escape stands for; None if it is no single character.

    Raises:
        GrammarError: the dialect has no such escape, or it is not complete.
    """
    if source.dialect == "ecma":
        return _ecma_character(source, token, index, in_class=in_class)
    return _python_character(source, token, index, in_class=in_class)


def _python_character(source: Source, token: str, index: int, *, in_class: bool) -> int:
    letter = token[1]
    if letter in _PYTHON_CONTROLS:
        return _PYTHON_CONTROLS[letter]
    if letter == "b" and in_class:
        return 8
    if letter in _HEX_DIGITS:
        if len(token) - 2 != _HEX_DIGITS[letter]:
            raise source.error(
                f"incomplete escape {token}",
                index,
                length=len(token),
                mend=f"write {_HEX_DIGITS[letter]} hexadecimal digits after \\{letter}",
            )
        return _checked_code_point(source, int(token[2:], 16), token, index)
    if letter == "N":
        return _named_character(source, token, index)
    if letter in "01234567":
        value = int(token[1:], 8)
        if value > 0o377:
            raise source.error(
                f"octal escape {token} is above \\377",
                index,
                length=len(token),
                mend="write \\u and four hexadecimal digits",
            )
        return value
    if letter.isascii() and letter.isalnum():
        raise source.error(
            f"bad escape {token}",
            index,
            length=len(token),
            mend=f'write "{letter}" for the letter, "\\\\{letter}" for a backslash before it',
        )
    return ord(letter)


def _checked_code_point(source: Source, value: int, token: str, index: int) -> int:
    if value > 0x10FFFF:
        raise source.error(
            f"{token} is above the last code point, 10FFFF",
            index,
            length=len(token),
            mend="write a smaller number",
        )
    return value


def _named_character(source: Source, token: str, index: int) -> int:
    try:
        if not token.endswith("}"):
            raise KeyError(token)
        return ord(unicodedata.lookup(token[3:-1]))
    except (KeyError, TypeError):
        raise source.error(
            f"there is no character of the name {token}",
            index,
            length=len(token),
            mend="write \\N{NAME} with a name of Unicode, or \\u and four hexadecimal digits",
        ) from None


def _ecma_character(source: Source, token: str, index: int, *, in_class: bool) -> int | None:
    letter = token[1]
    if pair := _SURROGATE_PAIR.fullmatch(token):
        high, low = int(pair[1], 16), int(pair[2], 16)
        return 0x10000 + (high - 0xD800 << 10) + (low - 0xDC00)
    if letter == "u" and token.endswith("}"):
        if len(token) == 4:
            raise source.error(
                "no code point between the braces",
                index,
                length=len(token),
                mend="write hexadecimal digits, \\u{1F600}",
            )
        return _checked_code_point(source, int(token[3:-1], 16), token, index)
    if letter in "ux" and len(token) > 2:
        return int(token[2:], 16)
    if letter == "c" and len(token) == 3:
        return ord(token[2]) % 32
    if letter == "c":
        return None  # Annex B: a backslash and a `c`; the reader makes them of it
    if letter == "b" and in_class:
        return 8
    if letter in _ECMA_CONTROLS:
        return _ECMA_CONTROLS[letter]
    if letter in "01234567" and all(digit in "01234567" for digit in token[1:]):
        return int(token[1:], 8)
    return ord(letter)


def member_ranges(source: Source, token: str, index: int, flags: Flags) -> Ranges:
    """Return what an escape means as a member of a class, variants in case not added."""
    ranges = escaped_set(source, token, index, flags)
    if ranges is not None:
        return ranges
    code_point = escaped_character(source, token, index, in_class=True)
    if code_point is None:
        return union(single(ord("\\")), single(ord("c")))
    return single(code_point) if code_point >= 0 else EMPTY
