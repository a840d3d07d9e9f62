"""Any JSON: the nodes of values that nothing constrains, which every JSON grammar holds.

They are built once per kind of white space and of escapes; a schema starts from a copy, in which
all numbers of nodes stay valid, so that what is not constrained costs nothing.
"""

from __future__ import annotations

from functools import lru_cache

from guided._core import Arena
from guided.text.json_schema.numbers.spelling import any_integer, any_number
from guided.text.json_schema.options import Escapes, Whitespace
from guided.text.json_schema.shapes.shape import OF_TYPE
from guided.text.json_schema.strings.spelling import EMPTY, JsonSpelling
from guided.text.json_schema.values.layout import INDENTED_LEVELS, Layout, layout_of, list_of

# What `.` and `\\S` of ECMA-262 match beyond ASCII: most patterns with a wide class hold it.
COMMON_CLASSES = (
    ((0x80, 0x2027), (0x202A, 0xD7FF), (0xE000, 0x10FFFF)),
    (
        *((0x80, 0x9F), (0xA1, 0x167F), (0x1681, 0x1FFF), (0x200B, 0x2027), (0x202A, 0x202E)),
        *((0x2030, 0x205E), (0x2060, 0x2FFF), (0x3001, 0xD7FF), (0xE000, 0xFEFE)),
        (0xFF00, 0x10FFFF),
    ),
)


class AnyJson:
    """The nodes of unconstrained JSON.

    Attributes:
        arena: holds them; to be copied, not to be added to.
        spelling: of the characters of strings; it knows those of ASCII.
        string: any string, as a key is written.
        text: any string, as a value is written.
        words: how null, true and false are written.
    """

    words = ("null", "true", "false")

    def __init__(self, whitespace: Whitespace, escapes: Escapes = "minimal") -> None:
        self.whitespace = whitespace
        self.escapes = escapes
        self.arena = arena = Arena()
        self.null, self.true, self.false = map(arena.literal, self.words)
        self.quote = arena.literal('"')
        self.spelling = spelling = JsonSpelling(escapes)
        for code in range(0x20, 0x7F):
            spelling.character(arena, chr(code))
        for ranges in COMMON_CLASSES:
            spelling.characters(arena, ranges)
        self.string = arena.sequence([self.quote, spelling.any_text(arena), self.quote])
        self.text = self._text(arena)
        self.number = any_number(arena)
        self.integer = any_integer(arena)
        # By identity of the shape, for what needs no look at all.
        self.plain = {
            id(OF_TYPE["null"]): self.null,
            id(OF_TYPE["boolean"]): arena.choice([self.true, self.false]),
            id(OF_TYPE["string"]): self.text,
            id(OF_TYPE["number"]): self.number,
            id(OF_TYPE["integer"]): self.integer,
        }
        self.is_indented = isinstance(whitespace, int)
        self._levels = INDENTED_LEVELS + 1 if self.is_indented else 1
        self._layouts = [layout_of(arena, whitespace, level) for level in range(self._levels)]
        self._values = [arena.rule("JSON value") for _ in range(self._levels)]
        self._arrays = [EMPTY] * self._levels
        self._objects = [EMPTY] * self._levels
        for level in reversed(range(self._levels)):
            self._fill(arena, level)

    def layout(self, level: int) -> Layout:
        """Return the white space within a container on this level; 0 is the outermost."""
        return self._layouts[level if self.is_indented else 0]

    def value(self, level: int) -> int:
        """Match any value."""
        return self._values[level if self.is_indented else 0]

    def array(self, level: int) -> int:
        """Match any array."""
        return self._arrays[level if self.is_indented else 0]

    def object(self, level: int) -> int:
        """Match any object."""
        return self._objects[level if self.is_indented else 0]

    def _text(self, arena: Arena) -> int:
        """Match any string as a value, where that may be written otherwise than a key."""
        return self.string

    def _fill(self, arena: Arena, level: int) -> None:
        """Build the values of a level, those of the next being there."""
        if level == self._levels - 1 and self.is_indented:
            self._arrays[level] = arena.literal("[]")
            self._objects[level] = arena.literal("{}")
        else:
            value = self._values[level + 1 if self.is_indented else 0]
            layout = self._layouts[level]
            item = arena.part(arena.sequence([value, layout.after_value]))
            items = list_of(arena, layout, item, 1, None, "]")
            self._arrays[level] = layout.enclose(arena, "[]", items, True)
            self._objects[level] = self._any_object(arena, layout, value)
        scalars = [self.null, self.true, self.false, self.number, self.text]
        body = arena.choice([*scalars, self._arrays[level], self._objects[level]])
        arena.define(self._values[level], body)

    def _any_object(self, arena: Arena, layout: Layout, value: int) -> int:
        """Match an object with any keys, none of them twice."""
        pair = arena.sequence([*layout.colon, layout.member(arena, value)])
        members = [(0, self.string, None, True, [(0, pair)])]
        return arena.record(layout.frame(arena, "{}"), [(False, True, ())], members, "later")


@lru_cache(maxsize=32)
def any_json(whitespace: Whitespace, escapes: Escapes = "minimal") -> AnyJson:
    """Return the any_json for a kind of white space and of escapes.

    Raises:
        ValueError: `whitespace` is a pattern that cannot be that of blanks.
    """
    return AnyJson(whitespace, escapes)
