"""Strings and character classes of GBNF: escapes, ranges, complements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from guided.errors import GrammarError
from guided.text.regex.codepoints import ANY, EMPTY, Ranges, complement, normalize

_CONTROLS = {"n": 0x0A, "r": 0x0D, "t": 0x09}
_DIGITS = {"x": 2, "u": 4, "U": 8}
_ESCAPE = re.compile(
    r"\\(?:x[0-9a-fA-F]{0,2}|u[0-9a-fA-F]{0,4}|U[0-9a-fA-F]{0,8}|.)|[^\\]", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Character:
    """A character as it is written.

    Attributes:
        is_dash: it is a dash without a backslash, which makes a range in a class.
    """

    code_point: int
    at: int
    length: int
    is_dash: bool


class Escapes:
    """Reads the characters of one grammar; what is wrong goes to `errors`."""

    def __init__(self, text: str, errors: list[GrammarError]) -> None:
        self.text = text
        self.errors = errors

    def characters(self, written: str, at: int, *, in_class: bool) -> Iterator[Character]:
        """Yield the characters of what stands between quotes or brackets, from `at` on."""
        for found in _ESCAPE.finditer(written):
            place = at + found.start()
            code_point = self._code_point(found[0], place)
            # No text holds a surrogate, so in a class one says nothing, as the end of a range too.
            if 0xD800 <= code_point <= 0xDFFF and not in_class:
                self._error(
                    f"{found[0]} is half of a surrogate pair and no character",
                    place,
                    len(found[0]),
                    mend="write the character itself, or \\U and eight hexadecimal digits",
                )
                continue
            yield Character(code_point, place, len(found[0]), found[0] == "-")

    def ranges(self, written: str, at: int) -> Ranges:
        """Return the set that a class stands for, given what is between its brackets."""
        negated = written.startswith("^")
        known = len(self.errors)
        listed = normalize(self._members(written[negated:], at + 1 + negated))
        ranges = complement(listed) if negated else listed
        if len(self.errors) == known and (ranges == EMPTY or len(written) == negated):
            self._error(
                f"[{written}] has no characters",
                at,
                len(written) + 2,
                mend="write . for any character"
                if written == "^"
                else "write characters between the brackets",
            )
        return ranges or ANY

    def _members(self, written: str, at: int) -> Iterator[tuple[int, int]]:
        """Yield the ranges of a class; a dash at its end is a character."""
        characters = list(self.characters(written, at, in_class=True))
        index = 0
        while index < len(characters):
            first = last = characters[index]
            index += 1
            if index + 1 < len(characters) and characters[index].is_dash:
                last = characters[index + 1]
                index += 2
            if last.code_point < first.code_point:
                length = last.at + last.length - first.at
                shown = self.text[first.at : first.at + length]
                self._error(
                    f"the range {shown} ends before it begins",
                    first.at,
                    length,
                    mend="swap its ends, or put the dash last for the character itself",
                )
                continue
            yield first.code_point, last.code_point

    def _code_point(self, written: str, at: int) -> int:
        """Return the character that is written so."""
        if written[0] != "\\":
            return ord(written)
        letter = written[1]
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if letter in _DIGITS:
            return self._numbered(written, at)
        if letter not in '\\"[]-':
            self._error(
                f"unknown escape {written!r}" if letter in "\r\n" else f"unknown escape {written}",
                at,
                len(written),
                mend='escapes are \\n \\r \\t \\\\ \\" \\[ \\] \\- \\x41 \\u00e9 \\U0001F600;'
                " other characters stand for themselves",
            )
        return ord(letter)

    def _numbered(self, written: str, at: int) -> int:
        digits = written[2:]
        wanted = _DIGITS[written[1]]
        if len(digits) != wanted:
            self._error(
                f"incomplete escape {written}",
                at,
                len(written),
                mend=f"write {wanted} hexadecimal digits after \\{written[1]}",
            )
            return 0x20
        value = int(digits, 16)
        if value > 0x10FFFF:
            self._error(
                f"{written} is above the last code point, 10FFFF",
                at,
                len(written),
                mend="write a smaller number",
            )
            return 0x20
        return value

    def _error(self, fact: str, at: int, length: int, *, mend: str) -> None:
        self.errors.append(GrammarError(fact, text=self.text, index=at, length=length, mend=mend))
