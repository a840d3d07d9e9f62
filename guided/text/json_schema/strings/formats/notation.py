"""Rules of a grammar as RFC 5234 writes them (ABNF), as nodes of an arena.

The RFCs that define formats give their syntax in ABNF. The modules beside this one hold the same
rules, made deterministic where that keeps the automaton small.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from guided._core import Arena
from guided.text.spelling import LAST_CODE_POINT, HostnameSpelling

Ranges = tuple[tuple[int, int], ...]

# A node, or a text that stands for itself, in this case.
Part = int | str


@cache
def charset(text: str) -> Ranges:
    """Read a set of characters, as between the brackets of a regular expression: `a-z_`.

    A hyphen stands for itself at the end.
    """
    ranges = []
    at = 0
    while at < len(text):
        low = high = text[at]
        if text[at + 1 : at + 2] == "-" and at + 2 < len(text):
            high = text[at + 2]
            at += 2
        at += 1
        ranges.append((ord(low), ord(high)))
    return tuple(ranges)


DIGIT = charset("0-9")
HEXADECIMAL = charset("0-9A-Fa-f")
LETTER = charset("A-Za-z")
ALPHANUMERIC = DIGIT + LETTER
NON_ASCII: Ranges = ((0x80, LAST_CODE_POINT),)


class Notation:
    """Writes into one arena, in one spelling."""

    def __init__(self, arena: Arena, spelling: HostnameSpelling) -> None:
        self.arena = arena
        self._spelling = spelling

    def one_of(self, ranges: Ranges) -> int:
        """Match one character of a set."""
        return self._spelling.characters(self.arena, ranges)

    def text(self, text: str) -> int:
        """Match exactly this text."""
        return self._spelling.literal(self.arena, text)

    def word(self, text: str) -> int:
        """Match this text in whatever case, as ABNF means its strings (RFC 5234, section 2.3)."""
        return self.row(*(self.one_of(charset(letter.lower() + letter.upper())) for letter in text))

    def hostname(self, longest: int) -> int:
        """Match a host name of so many characters at most, with the labels of IDNA."""
        return self._spelling.hostname(self.arena, longest)

    def row(self, *parts: Part) -> int:
        """Match all parts in this order."""
        return self.arena.sequence(self._nodes(parts))

    def either(self, *parts: Part) -> int:
        """Match one of the parts."""
        return self.arena.choice(self._nodes(parts))

    def many(self, part: Part, minimum: int = 0, maximum: int | None = None) -> int:
        """Match a part so many times."""
        return self.arena.repeat(
            self.text(part) if isinstance(part, str) else part, minimum, maximum
        )

    def maybe(self, *parts: Part) -> int:
        """Match all parts in this order, or nothing."""
        return self.arena.repeat(self.row(*parts), 0, 1)

    def _nodes(self, parts: Sequence[Part]) -> list[int]:
        return [self.text(part) if isinstance(part, str) else part for part in parts]
