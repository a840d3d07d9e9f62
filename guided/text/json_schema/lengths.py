"""Lengths together with a pattern.

In general that is an intersection, whose automaton counts the characters: a state for each count. A
pattern that is a row of characters and of repeated single characters needs none: its own counts say
how long its texts are, and if one of them alone is variable it takes the bounds itself.
"""

from __future__ import annotations

from guided._core import Arena
from guided.text.json_schema.strings import NEVER, JsonSpelling

# A character node and how often it stands there.
_Part = tuple[int, int, int | None]


def within_lengths(
    arena: Arena,
    spelling: JsonSpelling,
    character: int,
    content: int,
    minimum: int,
    maximum: int | None,
) -> int:
    """Return the node for the texts of `content` that have so many characters."""
    parts = _parts(arena, spelling, content)
    if parts is None:
        return arena.both(content, arena.repeat(character, minimum, maximum))
    shortest = sum(low for _, low, _ in parts)
    variable = [index for index, (_, low, high) in enumerate(parts) if low != high]
    if not variable:
        fits = minimum <= shortest and (maximum is None or shortest <= maximum)
        return content if fits else NEVER
    if len(variable) > 1:
        return arena.both(content, arena.repeat(character, minimum, maximum))
    unit, low, high = parts[variable[0]]
    fixed = shortest - low
    low = max(low, minimum - fixed)
    if maximum is not None:
        high = maximum - fixed if high is None else min(high, maximum - fixed)
    if high is not None and high < low:
        return NEVER
    parts[variable[0]] = (unit, low, high)
    return arena.sequence([arena.repeat(*part) for part in parts])


def _parts(arena: Arena, spelling: JsonSpelling, content: int) -> list[_Part] | None:
    """Take a node apart into repeated single characters; None if it is anything else."""
    parts: list[_Part] = []
    node = content
    while True:
        kind, *rest = arena.node(node)
        first = rest[0] if kind == "sequence" else node
        part = _part(arena, spelling, first)
        if part is None:
            return None
        parts += part
        if kind != "sequence":
            return parts
        node = rest[1]


def _part(arena: Arena, spelling: JsonSpelling, node: int) -> list[_Part] | None:
    if spelling.is_single(node):
        return [(node, 1, 1)]
    match arena.node(node):
        case ("repeat", int(unit), int(low), high) if spelling.is_single(unit):
            return [(unit, low, high)]
        case ("empty",):
            return []
    return None
