"""The bytes that a text of a regular node can begin with, a quick way to tell two nodes apart."""

from __future__ import annotations

from functools import cache

from guided._core import Arena

ALL = (1 << 256) - 1


def first_bytes(arena: Arena, node: int, known: dict[int, int]) -> int:
    """Return at least all bytes that a text of `node` can begin with; bit b is byte b.

    Args:
        arena: where the node is.
        node: a regular node.
        known: the answers so far, which are added to.
    """
    stack = [node]
    while stack:
        current = stack[-1]
        if current in known:
            stack.pop()
            continue
        kind, *rest = arena.node(current)
        parts = _relevant(arena, kind, rest)
        missing = [part for part in parts if part not in known]
        if missing:
            stack += missing
            continue
        stack.pop()
        found = _own(kind, rest)
        for part in parts:
            found |= known[part]
        known[current] = found
    return known[node]


def _relevant(arena: Arena, kind: str, rest: list) -> list[int]:  # type: ignore[type-arg]
    """Return the parts of a node whose first bytes are its own."""
    match kind:
        case "sequence":
            first, after = rest
            return [first, after] if arena.is_nullable(first) else [first]
        case "choice":
            return list(rest[0])
        case "repeat" | "part" | "minus":
            return [rest[0]]
        case "both":
            return list(rest)
        case "capture":
            return [rest[1]]
        case _:
            return []


def _own(kind: str, rest: list) -> int:  # type: ignore[type-arg]
    match kind:
        case "literal":
            return 1 << rest[0][0] if rest[0] else 0
        case "class":
            return _first_of_class(tuple(rest[0]))
        case "dfa":
            return _range_bits([(first, last) for first, last, _ in rest[0][0][1]])
        case "token" | "lexeme" | "rule" | "record" | "hostname":
            return ALL
        case _:
            return 0


def _range_bits(ranges: list[tuple[int, int]]) -> int:
    found = 0
    for first, last in ranges:
        found |= (1 << (last + 1)) - (1 << first)
    return found


@cache
def _first_of_class(ranges: tuple[tuple[int, int], ...]) -> int:
    """Return the first bytes of the UTF-8 of characters, which grow with the code points."""
    pairs = []
    for low, high in ranges:
        for first, last in ((0, 0x7F), (0x80, 0x10FFFF)):
            least, most = max(low, first), min(high, last)
            if least <= most:
                pairs.append((_first_byte(least), _first_byte(most)))
    return _range_bits(pairs)


def _first_byte(code_point: int) -> int:
    if 0xD800 <= code_point <= 0xDFFF:
        return 0xED
    return chr(code_point).encode()[0]
