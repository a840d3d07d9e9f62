"""Values as Python writes them: dictionaries, lists, None, True, False, strings in either quotes.

Keys and, where a schema compares values with each other, strings are in double quotes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from functools import lru_cache

from guided._core import Arena
from guided.errors import UnsupportedError
from guided.text.json_schema import Whitespace
from guided.text.json_schema.strings.spelling import is_spellable
from guided.text.json_schema.values.any_json import AnyJson
from guided.text.nodes import Nodes
from guided.text.spelling import LAST_CODE_POINT

_ESCAPED = {"'": "\\'", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Between the escaped ones; controls and the like are written by their numbers.
_PLAIN = ((0x20, 0x26), (0x28, 0x5B), (0x5D, 0x7E), (0xA0, LAST_CODE_POINT))
_BY_NUMBER = ((0x00, 0x08), (0x0B, 0x0C), (0x0E, 0x1F), (0x7F, 0x9F))


class SingleQuotes:
    """Characters as they stand in single quotes, each in one spelling: that of `repr`."""

    def __init__(self) -> None:
        self._single: set[int] = set()

    def is_single(self, node: int) -> bool:
        """Return True if a node is known to match exactly one character."""
        return node in self._single

    def length(self, spelled: bytes) -> int | None:
        """Return how many characters some bytes spell, None if they are not whole characters."""
        try:
            return len(ast.literal_eval(f"'{spelled.decode()}'"))
        except (SyntaxError, ValueError):
            return None

    def characters(self, arena: Arena, ranges: Sequence[tuple[int, int]]) -> int:
        """Return a node for one character out of inclusive ranges."""
        options = [arena.char_class(_overlap(ranges, _PLAIN))]
        options += [
            arena.literal(spelled)
            for character, spelled in _ESCAPED.items()
            if any(low <= ord(character) <= high for low, high in ranges)
        ]
        options += [
            arena.literal(f"\\x{code:02x}")
            for low, high in _overlap(ranges, _BY_NUMBER)
            for code in range(low, high + 1)
        ]
        node = arena.choice(options)
        self._single.add(node)
        return node

    def literal(self, arena: Arena, text: str) -> int:
        """Return a node for exactly these characters."""
        return arena.literal(self.escape(text))

    def grammar(self, arena: Arena, grammar: Nodes) -> int:
        """Refuse a grammar that a string must fit.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            "a grammar cannot stand for a schema where arguments are written as Python's values",
            keyword="grammar",
            page="docs/tools.md",
            mend="write it as a pattern, or choose a format of calls that writes JSON",
        )

    def any_character(self, arena: Arena) -> int:
        """Return a node for any one character."""
        return self.characters(arena, ((0, LAST_CODE_POINT),))

    def any_text(self, arena: Arena) -> int:
        """Return a node for any number of any characters."""
        return arena.repeat(self.any_character(arena))

    def hostname(self, arena: Arena, longest: int) -> int:
        """Return a node for host names of so many characters at most."""
        return arena.hostname(longest)

    def one_of(self, arena: Arena, texts: Iterable[str]) -> int:
        """Return a node for one of some texts; those that are no UTF-8 are passed over."""
        return arena.choice([self.literal(arena, text) for text in texts if is_spellable(text)])

    def escape(self, text: str) -> str:
        """Return the spelling of a text."""
        return "".join(map(_escape, text))


class PythonValues(AnyJson):
    """The values that nothing constrains."""

    words = ("None", "True", "False")

    def _text(self, arena: Arena) -> int:
        quote = arena.literal("'")
        single = arena.sequence([quote, SingleQuotes().any_text(arena), quote])
        return arena.choice([super()._text(arena), single])


@lru_cache(maxsize=8)
def python_values(whitespace: Whitespace) -> PythonValues:
    """Return the values for a kind of white space."""
    return PythonValues(whitespace)


def _escape(character: str) -> str:
    if character in _ESCAPED:
        return _ESCAPED[character]
    code = ord(character)
    is_numbered = any(low <= code <= high for low, high in _BY_NUMBER)
    return f"\\x{code:02x}" if is_numbered else character


def _overlap(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    pairs = ((max(x[0], y[0]), min(x[1], y[1])) for x in a for y in b)
    return [(low, high) for low, high in pairs if low <= high]
