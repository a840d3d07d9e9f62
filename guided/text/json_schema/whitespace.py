"""The blanks between two tokens of JSON."""

from __future__ import annotations

from guided._core import Arena
from guided.errors import GuidedError
from guided.text.json_schema.strings import EMPTY, NEVER

# A weak model likes to write blanks without end and would spend its budget on them; 40 is enough
# for ten levels of an indentation by four.
WHITESPACE_BOUND = 40

_BLANKS = ((9, 10), (13, 13), (32, 32))


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
