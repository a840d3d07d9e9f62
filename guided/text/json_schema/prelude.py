"""What every JSON grammar holds: strings, numbers, any value, and the white space between tokens.

It is built once per kind of white space and of escapes; a schema starts from a copy, in which all
numbers of nodes stay valid, so that what is not constrained costs nothing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from guided._core import Arena
from guided.text.json_schema import numbers
from guided.text.json_schema.options import Escapes, Whitespace
from guided.text.json_schema.shapes import OF_TYPE
from guided.text.json_schema.strings import EMPTY, JsonSpelling
from guided.text.json_schema.whitespace import gap_of

# With an indentation each level has white space of its own, so levels are counted out.
INDENTED_LEVELS = 32

# What `.` and `\\S` of ECMA-262 match beyond ASCII: most patterns with a wide class hold it.
COMMON_CLASSES = (
    ((0x80, 0x2027), (0x202A, 0xD7FF), (0xE000, 0x10FFFF)),
    (
        *((0x80, 0x9F), (0xA1, 0x167F), (0x1681, 0x1FFF), (0x200B, 0x2027), (0x202A, 0x202E)),
        *((0x2030, 0x205E), (0x2060, 0x2FFF), (0x3001, 0xD7FF), (0xE000, 0xFEFE)),
        (0xFF00, 0x10FFFF),
    ),
)


class Layout(NamedTuple):
    """The white space of one level, as nodes.

    Attributes:
        before_first: between an opening bracket and what follows it.
        before_value: between a colon and the value.
        after_value: between a value and the comma or bracket that follows.
        comma: the comma and what follows it.
        colon: the colon and what stands before it.
        brackets: each bracket by itself.
        close: each closing bracket with what stands before it, beyond `after_value`.
        is_blank_shared: an empty container may hold `before_first`.
    """

    before_first: int
    before_value: int
    after_value: int
    comma: tuple[int, ...]
    colon: tuple[int, ...]
    brackets: dict[str, int]
    close: dict[str, int]
    is_blank_shared: bool

    def member(self, arena: Arena, value: int) -> int:
        """Return a value behind its colon or comma, with the blanks around it, as one part."""
        return arena.part(arena.sequence([self.before_value, value, self.after_value]))

    def enclose(self, arena: Arena, brackets: str, content: int, may_be_empty: bool) -> int:
        """Put brackets around `content`, which ends in the closing one, or around nothing."""
        opening, closing = self.brackets[brackets[0]], self.brackets[brackets[1]]
        if not may_be_empty:
            return arena.sequence([opening, self.before_first, content])
        if self.is_blank_shared:
            return arena.sequence([opening, self.before_first, arena.choice([content, closing])])
        filled = arena.sequence([self.before_first, content])
        return arena.sequence([opening, arena.choice([filled, closing])])

    def frame(self, arena: Arena, brackets: str) -> tuple[int, int, int, int, int]:
        """Return what `Arena.record` calls the layout; its members end with `after_value`."""
        opening, closing = self.brackets[brackets[0]], self.brackets[brackets[1]]
        comma, close = arena.sequence(self.comma), self.close[brackets[1]]
        if not self.is_blank_shared:
            return opening, self.before_first, comma, close, closing
        empty = arena.sequence([self.before_first, closing])
        return opening, self.before_first, comma, close, empty


class Prelude:
    """The nodes of unconstrained JSON.

    Attributes:
        arena: holds them; to be copied, not to be added to.
        spelling: of the characters of strings; it knows those of ASCII.
    """

    def __init__(self, whitespace: Whitespace, escapes: Escapes = "minimal") -> None:
        self.whitespace = whitespace
        self.escapes = escapes
        self.arena = arena = Arena()
        self.null, self.true, self.false = map(arena.literal, ("null", "true", "false"))
        self.quote = arena.literal('"')
        self.spelling = spelling = JsonSpelling(escapes)
        for code in range(0x20, 0x7F):
            spelling.character(arena, chr(code))
        for ranges in COMMON_CLASSES:
            spelling.characters(arena, ranges)
        self.string = arena.sequence([self.quote, spelling.any_text(arena), self.quote])
        self.number = numbers.any_number(arena)
        self.integer = numbers.any_integer(arena)
        # By identity of the shape, for what needs no look at all.
        self.plain = {
            id(OF_TYPE["null"]): self.null,
            id(OF_TYPE["boolean"]): arena.choice([self.true, self.false]),
            id(OF_TYPE["string"]): self.string,
            id(OF_TYPE["number"]): self.number,
            id(OF_TYPE["integer"]): self.integer,
        }
        self.is_indented = isinstance(whitespace, int)
        self._levels = INDENTED_LEVELS + 1 if self.is_indented else 1
        self._layouts = [_layout(arena, whitespace, level) for level in range(self._levels)]
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
        scalars = [self.null, self.true, self.false, self.number, self.string]
        body = arena.choice([*scalars, self._arrays[level], self._objects[level]])
        arena.define(self._values[level], body)

    def _any_object(self, arena: Arena, layout: Layout, value: int) -> int:
        """Match an object with any keys, none of them twice."""
        pair = arena.sequence([*layout.colon, layout.member(arena, value)])
        members = [(0, self.string, None, True, [(0, pair)])]
        return arena.record(layout.frame(arena, "{}"), [(False, True, ())], members, "later")


def list_of(
    arena: Arena, layout: Layout, part: int, minimum: int, maximum: int | None, bracket: str
) -> int:
    """Match from `minimum`, at least 1, to `maximum` parts, and the closing bracket.

    A part ends with the blanks after it.
    """
    return arena.sequence(
        [
            part,
            more_of(arena, layout, part, minimum - 1, None if maximum is None else maximum - 1),
            layout.close[bracket],
        ]
    )


def more_of(arena: Arena, layout: Layout, part: int, minimum: int, maximum: int | None) -> int:
    """Match so many parts, each after a comma."""
    return arena.repeat(arena.sequence([*layout.comma, part]), minimum, maximum)


@lru_cache(maxsize=32)
def prelude(whitespace: Whitespace, escapes: Escapes = "minimal") -> Prelude:
    """Return the prelude for a kind of white space and of escapes.

    Raises:
        ValueError: `whitespace` is a pattern that cannot be that of blanks.
    """
    return Prelude(whitespace, escapes)


def _layout(arena: Arena, whitespace: Whitespace, level: int) -> Layout:
    comma, colon = arena.literal(","), arena.literal(":")
    brackets = {bracket: arena.literal(bracket) for bracket in "[]{}"}
    if isinstance(whitespace, str):
        gap = gap_of(arena, whitespace)
        return Layout(gap, gap, gap, (comma, gap), (gap, colon), brackets, brackets, True)
    # As json.dumps(indent=...) writes it.
    inner = "\n" + " " * (whitespace * (level + 1))
    outer = "\n" + " " * (whitespace * level)
    close = {bracket: arena.literal(outer + bracket) for bracket in "]}"}
    comma, colon = arena.literal("," + inner), arena.literal(": ")
    return Layout(arena.literal(inner), EMPTY, EMPTY, (comma,), (colon,), brackets, close, False)
