"""Patterns over a text in which a character may be spelled in more than one way."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from guided._core import Arena
from guided.text.regex import compile_regex


class PercentSpelling:
    """ASCII letters and blanks as themselves or as `%61`; no other characters."""

    def characters(self, arena: Arena, ranges: Sequence[tuple[int, int]]) -> int:
        codes = [c for low, high in ranges for c in range(low, min(high, 0x7E) + 1)]
        return arena.choice([self._character(arena, c) for c in codes if c >= 0x20])

    def _character(self, arena: Arena, code: int) -> int:
        escaped = arena.literal(f"%{code:02x}")
        return escaped if code == ord("%") else arena.choice([arena.literal(chr(code)), escaped])

    def literal(self, arena: Arena, text: str) -> int:
        return arena.sequence([self._character(arena, ord(each)) for each in text])

    def any_character(self, arena: Arena) -> int:
        return self.characters(arena, [(0x20, 0x7E)])

    def any_text(self, arena: Arena) -> int:
        return arena.repeat(self.any_character(arena))


@pytest.mark.parametrize(
    ("pattern", "accepted", "rejected"),
    [
        ("ab", ["ab", "%61b", "%61%62"], ["a", "%61", "%62a"]),
        ("[a-c]{2}", ["a%63", "%61%62"], ["%64a", "%61"]),
        ("(?!ab)[a-z]*", ["ba", "%62%61", ""], ["ab", "%61%62", "%61bc"]),
        (r"%", ["%25"], ["%"]),
        (r"a\b.*", ["a", "a%20b", "%61 b"], ["ab", "a%62"]),
        (r"(?:(?!--)[a-z-])*", ["a-b", "%2da"], ["--", "%2d-", "-%2d"]),
        (r".*(?<!%2d)a", ["-a"], []),
    ],
)
def test_look_around_sees_characters_and_not_spellings(
    pattern: str, accepted: list[str], rejected: list[str]
) -> None:
    arena = Arena()
    node = compile_regex(arena, pattern, spelling=PercentSpelling())
    assert [text for text in accepted if not arena.matches(node, text)] == []
    assert [text for text in rejected if arena.matches(node, text)] == []
