"""JSON strings: how characters may be spelled between the quotes (RFC 8259, section 7)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from guided._core import Arena

EMPTY, NEVER = 0, 1

_SHORT_ESCAPES = {
    0x22: '\\"',
    0x2F: "\\/",
    0x5C: "\\\\",
    0x08: "\\b",
    0x0C: "\\f",
    0x0A: "\\n",
    0x0D: "\\r",
    0x09: "\\t",
}

# What may stand for itself: all but the quote, the backslash and the controls.
_PLAIN = ((0x20, 0x21), (0x23, 0x5B), (0x5D, 0x10FFFF))
_SURROGATES = (0xD800, 0xDFFF)
_LAST_OF_PLANE_0 = 0xFFFF


def escape(text: str) -> str:
    """Spell a text as between the quotes of a JSON string, with no escape that is not needed."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def is_spellable(text: str) -> bool:
    """Return False if a text holds half of a surrogate pair, which UTF-8 cannot spell."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


class JsonSpelling:
    """The characters of a JSON string, in all their spellings: `a` is also `\\u0061`.

    A character beyond U+FFFF is one character when it is written as a surrogate pair. A lone
    surrogate is no character: it has no spelling.

    Args:
        known: nodes of single characters that the arena holds already.
        any_character: the node for any one character, if the arena holds it already.
    """

    def __init__(
        self, known: Mapping[str, int] | None = None, any_character: int | None = None
    ) -> None:
        self._shared = known or {}
        self._known: dict[str, int] = {}
        self._any_character = any_character
        self._single: set[int] = set()

    def is_single(self, node: int) -> bool:
        """Return True if a node is known to match exactly one character, in whatever spelling."""
        shared = self._shared.values()
        return node in self._single or node == self._any_character or node in shared

    def characters(self, arena: Arena, ranges: Sequence[tuple[int, int]]) -> int:
        """Return a node for one character out of inclusive ranges."""
        options = [arena.char_class(_overlap(ranges, _PLAIN))]
        options += [
            arena.literal(escaped)
            for code, escaped in _SHORT_ESCAPES.items()
            if any(low <= code <= high for low, high in ranges)
        ]
        for low, high in _overlap(
            ranges, ((0, _SURROGATES[0] - 1), (_SURROGATES[1] + 1, _LAST_OF_PLANE_0))
        ):
            options.append(
                arena.sequence([arena.literal("\\u"), _hexadecimal(arena, low, high, 4)])
            )
        for low, high in _overlap(ranges, ((_LAST_OF_PLANE_0 + 1, 0x10FFFF),)):
            options.append(_surrogate_pairs(arena, low - 0x10000, high - 0x10000))
        node = arena.choice(options)
        if node != NEVER:
            self._single.add(node)
        return node

    def character(self, arena: Arena, character: str) -> int:
        """Return a node for one character."""
        node = self._shared.get(character) or self._known.get(character)
        if node is None:
            code = ord(character)
            node = self._known[character] = self.characters(arena, [(code, code)])
        return node

    def literal(self, arena: Arena, text: str) -> int:
        """Return a node for exactly these characters."""
        return arena.sequence([self.character(arena, character) for character in text])

    def any_character(self, arena: Arena) -> int:
        """Return a node for any one character."""
        if self._any_character is None:
            self._any_character = self.characters(arena, [(0, 0x10FFFF)])
        return self._any_character

    def any_text(self, arena: Arena) -> int:
        """Return a node for any number of any characters."""
        return arena.repeat(self.any_character(arena))


def _overlap(
    ranges: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    return [
        (max(low, other_low), min(high, other_high))
        for low, high in ranges
        for other_low, other_high in others
        if low <= other_high and other_low <= high
    ]


def _hex_digit(arena: Arena, low: int, high: int) -> int:
    """Match one hexadecimal digit of a value from `low` to `high`, in either case."""
    ranges = []
    if low <= 9:
        ranges.append((ord("0") + low, ord("0") + min(high, 9)))
    if high >= 10:
        for letter in "aA":
            ranges.append((ord(letter) + max(low, 10) - 10, ord(letter) + high - 10))
    return arena.char_class(ranges)


def _hexadecimal(arena: Arena, low: int, high: int, digits: int) -> int:
    """Match a hexadecimal number of so many digits, from `low` to `high`."""
    if digits == 0:
        return EMPTY
    if low == 0 and high == 16**digits - 1:
        return arena.repeat(_hex_digit(arena, 0, 15), digits, digits)
    unit = 16 ** (digits - 1)
    first, last = low // unit, high // unit
    if first == last:
        rest = _hexadecimal(arena, low % unit, high % unit, digits - 1)
        return arena.sequence([_hex_digit(arena, first, first), rest])
    options = []
    if low % unit:
        rest = _hexadecimal(arena, low % unit, unit - 1, digits - 1)
        options.append(arena.sequence([_hex_digit(arena, first, first), rest]))
        first += 1
    if high % unit != unit - 1:
        rest = _hexadecimal(arena, 0, high % unit, digits - 1)
        options.append(arena.sequence([_hex_digit(arena, last, last), rest]))
        last -= 1
    if first <= last:
        rest = _hexadecimal(arena, 0, unit - 1, digits - 1)
        options.append(arena.sequence([_hex_digit(arena, first, last), rest]))
    return arena.choice(options)


def _surrogate_pairs(arena: Arena, low: int, high: int) -> int:
    """Match the pairs for code points from 0x10000 + `low` to 0x10000 + `high`."""

    def pair(first: tuple[int, int], second: tuple[int, int]) -> int:
        return arena.sequence(
            [
                arena.literal("\\u"),
                _hexadecimal(arena, 0xD800 + first[0], 0xD800 + first[1], 4),
                arena.literal("\\u"),
                _hexadecimal(arena, 0xDC00 + second[0], 0xDC00 + second[1], 4),
            ]
        )

    first, last = low >> 10, high >> 10
    if first == last:
        return pair((first, first), (low & 0x3FF, high & 0x3FF))
    options = []
    if low & 0x3FF:
        options.append(pair((first, first), (low & 0x3FF, 0x3FF)))
        first += 1
    if high & 0x3FF != 0x3FF:
        options.append(pair((last, last), (0, high & 0x3FF)))
        last -= 1
    if first <= last:
        options.append(pair((first, last), (0, 0x3FF)))
    return arena.choice(options)
