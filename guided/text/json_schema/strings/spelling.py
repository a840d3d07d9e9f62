"""JSON strings: how characters may be spelled between the quotes (RFC 8259, section 7).

With `escapes="minimal"` a character is spelled as json.dumps does it, with or without
`ensure_ascii`, the digits of `\\u00e9` in either case. With `escapes="any"` it has all the
spellings that JSON has for it: `/` is also `\\/` and `a` is also `\\u0061`. The spellings of a text
are those of its characters one after the other, so intersection, union and difference of nodes are
those of texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from json.encoder import encode_basestring_ascii

from guided._core import Arena
from guided.text.json_schema.options import Escapes
from guided.text.json_schema.strings.unicode_escapes import (
    Ranges,
    escaped_code,
    escaped_codes,
    overlap,
)
from guided.text.nodes import Nodes

EMPTY, NEVER = 0, 1

_SHORT_ESCAPES = {
    0x22: '\\"',
    0x5C: "\\\\",
    0x08: "\\b",
    0x0C: "\\f",
    0x0A: "\\n",
    0x0D: "\\r",
    0x09: "\\t",
}
_SOLIDUS = {0x2F: "\\/"}

# What may stand for itself: all but the quote, the backslash and the controls.
_PLAIN = ((0x20, 0x21), (0x23, 0x5B), (0x5D, 0x10FFFF))

# What json.dumps writes as \uXXXX: the controls that have no short escape, and with `ensure_ascii`
# all from U+007F on.
_LONG_ASCII = ((0x00, 0x07), (0x0B, 0x0B), (0x0E, 0x1F), (0x7F, 0x7F))
_ASCII = ((0x00, 0x7F),)
_BEYOND_ASCII = ((0x80, 0xD7FF), (0xE000, 0x10FFFF))
_ALL = ((0x00, 0xD7FF), (0xE000, 0x10FFFF))


def escape(text: str) -> str:
    """Spell a text as between the quotes of a JSON string, with no escape that is not needed."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def is_spellable(text: str) -> bool:
    """Return False if a text holds half of a surrogate pair, which UTF-8 cannot spell."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


class JsonSpelling:
    """The characters of a JSON string in the spellings of a mode.

    A character beyond U+FFFF is one character when it is written as a surrogate pair. A lone
    surrogate is no character: it has no spelling.

    Args:
        escapes: the mode.
        shared: a spelling in the same mode whose arena the new one's is a copy of; what it knows
            need not be built again.
    """

    def __init__(self, escapes: Escapes = "minimal", shared: JsonSpelling | None = None) -> None:
        self.escapes = escapes
        self._is_minimal = escapes == "minimal"
        self._shared = shared
        self._known: dict[Ranges, int] = {}
        self._escaped: dict[Ranges, list[int]] = {}
        self._single: set[int] = set()

    def is_single(self, node: int) -> bool:
        """Return True if a node is known to match exactly one character, in whatever spelling."""
        shared = self._shared
        return node in self._single or (shared is not None and node in shared._single)

    def length(self, spelled: bytes) -> int | None:
        """Return how many characters some bytes spell, None if they are not whole characters."""
        try:
            text = json.loads(f'"{spelled.decode()}"')
        except ValueError:
            return None
        return len(text) if is_spellable(text) else None

    def characters(self, arena: Arena, ranges: Sequence[tuple[int, int]]) -> int:
        """Return a node for one character out of inclusive ranges."""
        key = tuple(ranges)
        node = self._known.get(key)
        if node is None and self._shared is not None:
            node = self._shared._known.get(key)
        if node is None:
            node = self._known[key] = self._characters(arena, key)
            if node != NEVER:
                self._single.add(node)
        return node

    def character(self, arena: Arena, character: str) -> int:
        """Return a node for one character."""
        code = ord(character)
        return self.characters(arena, ((code, code),))

    def literal(self, arena: Arena, text: str) -> int:
        """Return a node for exactly these characters."""
        if self._is_minimal:
            spelled = encode_basestring_ascii(text)
            if "\\u" not in spelled:
                return arena.literal(spelled[1:-1])
        return arena.sequence([self.character(arena, character) for character in text])

    def string(self, arena: Arena, text: str) -> int:
        """Return a node for exactly these characters within quotes."""
        if self._is_minimal:
            spelled = encode_basestring_ascii(text)
            if "\\u" not in spelled:
                return arena.literal(spelled)
        quote = arena.literal('"')
        return arena.sequence([quote, self.literal(arena, text), quote])

    def one_of(self, arena: Arena, texts: Iterable[str]) -> int:
        """Return a node for one of some texts; those that cannot be spelled are passed over."""
        nodes, others = [], []
        for text in texts:
            spelled = encode_basestring_ascii(text) if self._is_minimal else "\\u"
            if "\\u" not in spelled:
                nodes.append(arena.literal(spelled[1:-1]))
            elif is_spellable(text):
                others.append(text)
        return arena.choice([*nodes, *self._trie(arena, others)])

    def one_string_of(self, arena: Arena, texts: Iterable[str]) -> int:
        """Return a node for one of some texts within quotes, as `one_of` does without them."""
        nodes, others = [], []
        for text in texts:
            spelled = encode_basestring_ascii(text) if self._is_minimal else "\\u"
            if "\\u" not in spelled:
                nodes.append(arena.literal(spelled))
            elif is_spellable(text):
                others.append(text)
        if others:
            quote = arena.literal('"')
            content = arena.choice(self._trie(arena, others))
            nodes.append(arena.sequence([quote, content, quote]))
        return arena.choice(nodes)

    def escape(self, text: str) -> str:
        """Spell a text with no escape that is not needed."""
        return escape(text)

    def grammar(self, arena: Arena, grammar: Nodes) -> int:
        """Return a node for the texts of a grammar; see `spelled_grammar`."""
        from guided.text.json_schema.strings.grammar_strings import spelled_grammar

        return spelled_grammar(grammar, arena, self)

    def automaton(self, arena: Arena, source: Arena, node: int) -> int:
        """Return a node for the texts of a regular node of another arena."""
        from guided.text.json_schema.strings.character_steps import (
            SpelledAutomaton,
            character_automaton,
        )

        short = _SHORT_ESCAPES if self._is_minimal else _SHORT_ESCAPES | _SOLIDUS
        letters = {code: escaped[1:] for code, escaped in short.items()}
        long = (*_LONG_ASCII, *_BEYOND_ASCII) if self._is_minimal else _ALL
        states = character_automaton(source, node)
        return arena.dfa(SpelledAutomaton(states, _PLAIN, letters, long).states())

    def any_character(self, arena: Arena) -> int:
        """Return a node for any one character."""
        return self.characters(arena, _ALL)

    def any_text(self, arena: Arena) -> int:
        """Return a node for any number of any characters."""
        return arena.repeat(self.any_character(arena))

    def hostname(self, arena: Arena, longest: int) -> int:
        """Return a node for host names of so many characters at most."""
        return arena.hostname(longest, escaped=not self._is_minimal)

    def _characters(self, arena: Arena, ranges: Ranges) -> int:
        if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
            return self._one_character(arena, ranges[0][0])
        options = [arena.char_class(overlap(ranges, _PLAIN))]
        beyond = overlap(ranges, _BEYOND_ASCII)
        ascii_ranges = overlap(ranges, _ASCII)
        if ascii_ranges:
            short = _SHORT_ESCAPES if self._is_minimal else _SHORT_ESCAPES | _SOLIDUS
            options += [
                arena.literal(escaped)
                for code, escaped in short.items()
                if any(low <= code <= high for low, high in ascii_ranges)
            ]
            long = overlap(ascii_ranges, _LONG_ASCII) if self._is_minimal else ascii_ranges
            options += escaped_codes(arena, long)
        if beyond:
            options += self._beyond_ascii(arena, beyond)
        return arena.choice(options)

    def _beyond_ascii(self, arena: Arena, ranges: Ranges) -> list[int]:
        """Return the options for escapes beyond ASCII: `[^/]` and `[^.]` have the same ones."""
        options = self._escaped.get(ranges)
        if options is None and self._shared is not None:
            options = self._shared._escaped.get(ranges)
        if options is None:
            options = self._escaped[ranges] = escaped_codes(arena, ranges)
        return options

    def _one_character(self, arena: Arena, code: int) -> int:
        if 0xD800 <= code <= 0xDFFF:
            return NEVER
        text = chr(code)
        spelled = encode_basestring_ascii(text)[1:-1]
        is_long = spelled.startswith("\\u")
        if self._is_minimal and not is_long:
            return arena.literal(spelled)
        options = [escaped_code(arena, code)]
        options += [arena.literal(text)] if overlap(((code, code),), _PLAIN) else []
        options += [] if is_long or len(spelled) == 1 else [arena.literal(spelled)]
        options += [arena.literal(_SOLIDUS[code])] if code in _SOLIDUS else []
        return arena.choice(options)

    def _trie(self, arena: Arena, texts: list[str]) -> list[int]:
        """Return the options for one of some texts, what they begin with written only once.

        The arena does so for literals; here a character may be more than one.
        """
        path = ""
        stack: list[tuple[int, list[int]]] = [(0, [])]  # where texts part, and what follows there

        def close_to(length: int) -> None:
            nonlocal path
            while stack[-1][0] > length:
                end, nodes = stack.pop()
                start = max(length, stack[-1][0])
                edge = self.literal(arena, path[start:end])
                if stack[-1][0] < start:
                    stack.append((start, []))
                stack[-1][1].append(arena.sequence([edge, arena.choice(nodes)]))
                path = path[:start]

        for text in sorted(set(texts)):
            close_to(_common(path, text))
            path = text
            if text:
                stack.append((len(text), [EMPTY]))
            else:
                stack[-1][1].append(EMPTY)
        close_to(0)
        return stack[0][1]


def _common(a: str, b: str) -> int:
    """Return the length of the common beginning."""
    if b.startswith(a):
        return len(a)
    return next(
        (index for index, (x, y) in enumerate(zip(a, b, strict=False)) if x != y),
        min(len(a), len(b)),
    )
