"""Strings and numbers of a schema as nodes."""

from __future__ import annotations

from json.encoder import encode_basestring, encode_basestring_ascii

from guided._core import Arena
from guided.errors import GrammarError, LimitError, SchemaError, UnsupportedError
from guided.text.json_schema import numbers
from guided.text.json_schema.contradictions import (
    contrary_bounds,
    contrary_counts,
    fitting_numbers,
    lone_surrogate,
    no_match,
    none_of_list,
)
from guided.text.json_schema.document import describe
from guided.text.json_schema.lengths import within_lengths
from guided.text.json_schema.prelude import Prelude
from guided.text.json_schema.reader import Reader
from guided.text.json_schema.shapes import (
    ANY_INTEGERS,
    ANY_STRINGS,
    NumberShape,
    Pattern,
    Reason,
    StringShape,
)
from guided.text.json_schema.strings import NEVER, JsonSpelling, escape, is_spellable


class Scalars:
    """Writes strings and numbers into an arena; `reason` says why the last was `never`."""

    def __init__(self, reader: Reader, prelude: Prelude, arena: Arena) -> None:
        self.arena = arena
        self.spelling = JsonSpelling(prelude.characters, prelude.character)
        self.reason: Reason | None = None
        self._reader = reader
        self._prelude = prelude
        self._patterns: dict[str, int] = {}
        self._ranges: dict[tuple[object, ...], int] = {}
        self._keys: dict[frozenset[str], int] = {frozenset(): prelude.string}

    def number(self, shape: NumberShape) -> int:
        """Return the node for the numbers of a shape."""
        if shape is ANY_INTEGERS[0]:
            return self._prelude.integer
        self.reason = contrary_bounds(shape)
        if self.reason is not None:
            return NEVER
        if shape.values is None:
            if shape.low is None and shape.high is None:
                return self._prelude.integer if shape.is_integer else self._prelude.number
            return self._between(shape)
        values = fitting_numbers(shape)
        if not values:
            self.reason = none_of_list(shape)
        return self.arena.choice([numbers.constant(self.arena, value) for value in values])

    def string(self, shape: StringShape) -> int:
        """Return the node for the strings of a shape, with their quotes."""
        if shape is ANY_STRINGS[0]:
            return self._prelude.string
        self.reason = contrary_counts(shape.minimum, shape.maximum, "string", "characters")
        if self.reason is not None:
            return NEVER
        patterns = [
            node for pattern in shape.patterns if (node := self._pattern(pattern)) is not None
        ]
        if shape.values is not None:
            return self._listed(shape, patterns)
        arena = self.arena
        minimum = 0 if shape.minimum is None else shape.minimum.value
        maximum = None if shape.maximum is None else shape.maximum.value
        if patterns:
            content = patterns[0]
            for pattern in patterns[1:]:
                content = arena.both(content, pattern)
            if minimum or maximum is not None:
                content = within_lengths(
                    arena, self.spelling, self._prelude.character, content, minimum, maximum
                )
            if self._is_void(content):
                self.reason = no_match(shape)
                return NEVER
        else:
            content = arena.repeat(self._prelude.character, minimum, maximum)
        return arena.sequence([self._prelude.quote, content, self._prelude.quote])

    def key(self, excluded: frozenset[str]) -> int:
        """Return the node for any string but some, in whatever spelling."""
        node = self._keys.get(excluded)
        if node is None:
            arena = self.arena
            names = arena.choice([self.spelling.literal(arena, name) for name in sorted(excluded)])
            content = arena.minus(self._prelude.text, names)
            node = arena.sequence([self._prelude.quote, content, self._prelude.quote])
            self._keys[excluded] = node
        return node

    def _between(self, shape: NumberShape) -> int:
        low, high = shape.low, shape.high
        key = (shape.is_integer, low and low[:2], high and high[:2])
        node = self._ranges.get(key)
        if node is None:
            node = self._ranges[key] = numbers.number_between(self.arena, shape)
        return node

    def _listed(self, shape: StringShape, patterns: list[int]) -> int:
        """Write those listed strings that satisfy the other constraints."""
        assert shape.values is not None
        least = 0 if shape.minimum is None else shape.minimum.value
        most = float("inf") if shape.maximum is None else shape.maximum.value
        literal = self.arena.literal
        nodes = []
        self.reason = none_of_list(shape)
        for text in shape.values.members:
            if not is_spellable(text):
                self.reason = lone_surrogate(text, shape.values.at, (shape.values.keyword,))
                continue
            if least <= len(text) <= most and all(
                self.arena.matches(pattern, escape(text)) for pattern in patterns
            ):
                nodes.append(literal(encode_basestring(text)))
                if not text.isascii():
                    # json.dumps writes it so unless told otherwise.
                    nodes.append(literal(encode_basestring_ascii(text)))
        return self.arena.choice(nodes)

    def _pattern(self, pattern: Pattern) -> int | None:
        """Return the node for strings with a match in them, None if the pattern is passed over."""
        node = self._patterns.get(pattern.text)
        if node is None:
            # What is passed over is not kept: each place is listed.
            node = self._compile(pattern)
            if node is not None:
                self._patterns[pattern.text] = node
        return node

    def _compile(self, pattern: Pattern) -> int | None:
        from guided.text.regex import compile_regex

        try:
            return compile_regex(
                self.arena, pattern.text, dialect="ecma", search=True, spelling=self.spelling
            )
        except GrammarError as error:
            raise SchemaError(
                f"the pattern {describe(pattern.text)} is not a regular expression: {error.fact}",
                pointer=pattern.at.pointer("pattern"),
                mend=error.mend or "write it as ECMA-262 has it",
            ) from error
        except UnsupportedError as error:
            # The page that `refuse` names is enough.
            why = error.fact.removesuffix(f" (scope: {error.page})")
            fact = f"the pattern {describe(pattern.text)} is not supported: {why}"
            self._reader.refuse(pattern.at, "pattern", fact)
            return None

    def _is_void(self, node: int) -> bool:
        if node == NEVER:
            return True
        try:
            return self.arena.is_void(node)
        except LimitError:
            # Too large to look through; a string that cannot be finished is then found by the
            # automaton.
            return False
