"""Terminals to regular nodes: the texts that Python's `re` takes for each, leftmost-first."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from guided._core import Arena
from guided.errors import GrammarError, LimitError, UnsupportedError
from guided.text.lark.extensions import Extensions
from guided.text.lark.first_bytes import first_bytes
from guided.text.lark.leftmost import Leftmost, leftmost_first
from guided.text.lark.source import Source

if TYPE_CHECKING:
    from lark.lexer import TerminalDef

_UNBOUNDED = 2**32


class _Place(TypedDict):
    at: str
    defined: bool


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal that is compiled.

    Attributes:
        name, priority: as in the grammar.
        value: the text of a string, or the pattern.
        text: the text of a string without flags, else None.
        is_string: it was written as a string, with or without flags; else it is a pattern.
        flags: letters of `re`.
        node: its texts; never the empty one.
        forbidden: texts of it that are followed by what a look-ahead forbids, together with that;
            None if it looks at nothing beyond its end.
        optional: its pattern matches the empty text as well, which Lark refuses.
        first: the bytes that a text of it can begin with, as bits.
        rank: its place in the order in which a scanner of Lark tries terminals.
    """

    name: str
    priority: int
    value: str
    text: str | None
    is_string: bool
    flags: frozenset[str]
    node: int
    forbidden: int | None
    optional: bool
    first: int
    rank: int


def compile_terminals(
    arena: Arena, source: Source, definitions: Sequence[TerminalDef], extensions: Extensions
) -> list[Terminal]:
    """Compile terminals, and return them in the order in which a scanner of Lark tries them.

    Lazy ones and those with a stop are made so here, so that all that comes later is the same.

    Raises:
        GrammarError: a pattern is invalid, or a string has a character that UTF-8 lacks.
        UnsupportedError: a pattern is not regular.
        LimitError: a pattern is too large.
    """
    known: dict[int, int] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of `re`, on sets within sets
        ordered = sorted(definitions, key=_rank)
    return [
        _compile(arena, source, each, rank, known, extensions) for rank, each in enumerate(ordered)
    ]


def _rank(definition: TerminalDef) -> tuple[int, int, int, str]:
    """Return the sort key of lark's `BasicLexer`."""
    pattern = definition.pattern
    try:
        width = pattern.max_width
    except Exception:  # what `re` cannot read, such as \p{L}, has no width that it knows
        width = _UNBOUNDED
    return -definition.priority, -width, -len(pattern.value), definition.name


def _compile(
    arena: Arena,
    source: Source,
    definition: TerminalDef,
    rank: int,
    known: dict[int, int],
    extensions: Extensions,
) -> Terminal:
    pattern = definition.pattern
    is_string = pattern.type == "str"
    text = pattern.value if is_string and not pattern.flags else None
    forbidden = None
    if text is not None:
        node = _literal(arena, source, definition, text)
    else:
        found = _leftmost(arena, source, definition)
        _check_edges(source, definition, found)
        node, forbidden = found.node, found.not_before
    attributes = extensions.attributes
    if definition.name in attributes.stops:
        node = until(arena, node, attributes.stops[definition.name])
        text, is_string = None, False
    elif definition.name in attributes.lazy:
        node = shortest(arena, arena.minus(node, 0))
        text, is_string = None, False
    optional = arena.is_nullable(node)
    if optional:
        node = arena.minus(node, 0)
    return Terminal(
        definition.name,
        definition.priority,
        pattern.value,
        text,
        is_string,
        frozenset(pattern.flags),
        node,
        forbidden,
        optional,
        first_bytes(arena, node, known),
        rank,
    )


def shortest(arena: Arena, node: int) -> int:
    """Return the texts of a node that do not begin with a shorter one."""
    more = arena.sequence([node, arena.char_class([(0, 0x10FFFF)]), arena.any_text()])
    return arena.minus(node, more)


def until(arena: Arena, node: int, stop: str) -> int:
    """Return texts of a node with `stop` after them, where it occurs for the first time."""
    ended = arena.sequence([arena.any_text(), arena.literal(stop)])
    return arena.both(arena.sequence([node, arena.literal(stop)]), shortest(arena, ended))


def _literal(arena: Arena, source: Source, definition: TerminalDef, text: str) -> int:
    try:
        return arena.literal(text)
    except UnicodeEncodeError:
        raise source.error_at(
            f"{described(definition)} has a surrogate, which UTF-8 cannot write",
            **_place(definition),
            mend="write the character itself",
        ) from None


def _leftmost(arena: Arena, source: Source, definition: TerminalDef) -> Leftmost:
    pattern = definition.pattern.to_regexp()
    try:
        found = leftmost_first(arena, pattern, "u")
    except GrammarError as error:
        raise source.error_at(
            f"{described(definition)}: {error.fact}", **_place(definition), mend=error.mend
        ) from None
    except UnsupportedError as error:
        fact = error.fact.removesuffix(f" (scope: {error.page})")
        raise source.unsupported(
            f"{described(definition)}: {fact}",
            error.keyword,
            **_place(definition),
            mend=error.mend,
        ) from None
    except LimitError as error:
        fact = error.fact.split(": over the limit of ")[0]
        raise LimitError(
            f"{described(definition)}: {fact}",
            limit=error.limit,
            value=error.value,
            option=error.option,
        ) from None
    return found


def _check_edges(source: Source, definition: TerminalDef, found: Leftmost) -> None:
    """Refuse a pattern that looks at what is before it: another terminal, or the ignored.

    One that gives up characters when its look-ahead fails, as `0+(?![1-9])` does on `001`, is taken
    (python.lark has it), but never in such a place: what is written is right, only fewer texts are.
    """
    if found.looks_before:
        raise source.unsupported(
            f"{described(definition)} looks at what is before it",
            "look-behind at the beginning of a terminal",
            mend="leave out the ^, \\b or look-behind it begins with, and say by rules what is"
            " before",
            **_place(definition),
        )


def described(definition: Any) -> str:
    """Return how messages call a terminal."""
    if definition.name.startswith("__"):
        return f"the terminal {definition.pattern.raw or definition.pattern.value}"
    return f'terminal "{definition.name}"'


def _place(definition: TerminalDef) -> _Place:
    """Return what to look for in the grammar: the literal, else where the name is defined."""
    raw = definition.pattern.raw
    return {"at": raw or definition.name, "defined": not raw}
