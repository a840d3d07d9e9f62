"""Strings and numbers of a schema as nodes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from guided._core import Arena
from guided.text.json_schema.numbers.writer import NumberWriter
from guided.text.json_schema.reader import Reader
from guided.text.json_schema.shapes.contradictions import (
    contrary_counts,
    lone_surrogate,
    no_match,
    none_of_list,
)
from guided.text.json_schema.shapes.shape import (
    ANY_INTEGERS,
    ANY_STRINGS,
    NumberShape,
    Reason,
    StringShape,
)
from guided.text.json_schema.strings.contents import Contents
from guided.text.json_schema.strings.spelling import NEVER, JsonSpelling, is_spellable
from guided.text.json_schema.values.any_json import AnyJson

if TYPE_CHECKING:
    from guided.text.json_schema.objects.key_cells import KeyCell, Trait


class Scalars:
    """Writes strings and numbers into an arena.

    Attributes:
        spelling: of the characters of strings.
        cells: the sets of keys that patterns make, by these.
        reason: why the node written last is `never`, when it is.
    """

    def __init__(self, reader: Reader, any_json: AnyJson, arena: Arena) -> None:
        self.arena = arena
        self.reader = reader
        self.spelling = JsonSpelling(any_json.escapes, any_json.spelling)
        self.cells: dict[tuple[Trait, ...], list[KeyCell]] = {}
        self.reason: Reason | None = None
        self._any_json = any_json

    @cached_property
    def contents(self) -> Contents:
        """Strings without their quotes."""
        return Contents(self.arena, self.spelling, self.reader.refuse)

    @cached_property
    def _numbers(self) -> NumberWriter:
        return NumberWriter(self.arena, self.reader.refuse)

    def number(self, shape: NumberShape) -> int:
        """Return the node for the numbers of a shape."""
        if shape is ANY_INTEGERS[0]:
            return self._any_json.integer
        node, self.reason = self._numbers.write(shape)
        return node

    def string(self, shape: StringShape) -> int:
        """Return the node for the strings of a shape, with their quotes."""
        if shape is ANY_STRINGS[0]:
            return self._any_json.text
        self.reason = contrary_counts(shape.minimum, shape.maximum, "string", "characters")
        if self.reason is not None:
            return NEVER
        if shape.values is not None:
            return self._listed(shape)
        arena = self.arena
        content = self.contents.value(shape)
        is_product = shape.patterns or shape.formats or shape.grammars or shape.excluded
        if is_product and self.contents.is_void(content):
            self.reason = no_match(shape)
            return NEVER
        return arena.sequence([self._any_json.quote, content, self._any_json.quote])

    def _listed(self, shape: StringShape) -> int:
        """Write those listed strings that satisfy the other constraints."""
        node = self.spelling.one_string_of(self.arena, self.contents.fitting(shape))
        if node == NEVER:
            self.reason = none_of_list(shape)
            assert shape.values is not None
            for text in shape.values.members:
                if not is_spellable(text):
                    self.reason = lone_surrogate(text, shape.values.at, (shape.values.keyword,))
        return node
