"""How characters are spelled: a pattern speaks of characters, an arena of the bytes they come in.

In plain text a character has one spelling, its UTF-8. In a JSON string it may have several, `"a"`
and `"\\u0061"`; a front end for such a text gives its own `Spelling` to the regex compiler.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from guided._core import Arena

LAST_CODE_POINT = 0x10FFFF


class Spelling(Protocol):
    """What the regex compiler asks of a way to spell characters.

    No spelling of one character may begin another's, and each text must be spelled in one way only
    as far as characters go: then intersection and difference of nodes are those of texts.
    """

    def characters(self, arena: Arena, ranges: Sequence[tuple[int, int]]) -> int:
        """Return a node for one character out of inclusive ranges, in every spelling."""
        ...

    def literal(self, arena: Arena, text: str) -> int:
        """Return a node for exactly these characters, each in every spelling."""
        ...

    def any_character(self, arena: Arena) -> int:
        """Return a node for any one character."""
        ...

    def any_text(self, arena: Arena) -> int:
        """Return a node for any number of any characters."""
        ...


class HostnameSpelling(Spelling, Protocol):
    """One that spells host names too, whose letters no pattern tells."""

    def hostname(self, arena: Arena, longest: int) -> int:
        """Return a node for host names of so many characters at most."""
        ...


class PlainSpelling:
    """Characters as their UTF-8."""

    def characters(self, arena: Arena, ranges: Sequence[tuple[int, int]]) -> int:
        """Return a node for one character out of inclusive ranges."""
        return arena.char_class(ranges)

    def literal(self, arena: Arena, text: str) -> int:
        """Return a node for exactly these characters."""
        return arena.literal(text)

    def any_character(self, arena: Arena) -> int:
        """Return a node for any one character."""
        return arena.char_class([(0, LAST_CODE_POINT)])

    def any_text(self, arena: Arena) -> int:
        """Return a node for any number of any characters."""
        return arena.any_text()

    def hostname(self, arena: Arena, longest: int) -> int:
        """Return a node for host names of so many characters at most."""
        return arena.hostname(longest)


PLAIN = PlainSpelling()
