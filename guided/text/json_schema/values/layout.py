"""The white space between the tokens of JSON, and the brackets and commas it stands around."""

from __future__ import annotations

from typing import NamedTuple

from guided._core import Arena
from guided.errors import GuidedError
from guided.text.json_schema.options import Whitespace
from guided.text.json_schema.strings.spelling import EMPTY, NEVER

# A weak model likes to write blanks without end and would spend its budget on them; 40 is enough
# for ten levels of an indentation by four.
WHITESPACE_BOUND = 40

# With an indentation each level has white space of its own, so levels are counted out.
INDENTED_LEVELS = 32

_BLANKS = ((9, 10), (13, 13), (32, 32))


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


def layout_of(arena: Arena, whitespace: Whitespace, level: int) -> Layout:
    """Return the white space of a level, where it is an indent; else it is the same on all."""
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


def gap_of(arena: Arena, whitespace: str) -> int:
    """Return the node for the blanks in one gap: "flexible", "compact" or a pattern, as in `re`.

    Raises:
        ValueError: the pattern is none, or matches something else than blanks, or nothing.
    """
    if whitespace == "compact":
        return EMPTY
    blank = arena.char_class(_BLANKS)
    if whitespace == "flexible":
        return arena.repeat(blank, 0, WHITESPACE_BOUND)
    from guided.text.regex import compile_regex

    choices = '"flexible", "compact", an indent or a pattern of blanks'
    try:
        gap = compile_regex(arena, whitespace)
        is_void = gap == NEVER or arena.is_void(gap)
        other = arena.shortest(arena.minus(gap, arena.repeat(blank)))
    except GuidedError as error:
        raise ValueError(f"whitespace must be {choices}, not {whitespace!r}: {error}") from error
    if is_void:
        raise ValueError(f"whitespace must be {choices}, and {whitespace!r} matches nothing")
    if other is not None:
        raise ValueError(
            f"whitespace must be {choices}; {whitespace!r} also matches {other.decode()!r},"
            " and JSON has no blanks but space, tab, line feed and carriage return"
        )
    return gap


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
