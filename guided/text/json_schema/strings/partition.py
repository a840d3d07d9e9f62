"""Parts texts into sets by which of some nodes they match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from guided._core import Arena
from guided.errors import LimitError
from guided.text.json_schema.strings.contents import Contents

# Nodes that overlap in all ways have 2^n parts.
MAX_OVERLAPS = 64


class Part(NamedTuple):
    """Some of the texts, by the numbers of nodes.

    Attributes:
        fits: the nodes that all of them match; none of them matches another.
        inside, outside: those of the nodes that say so: what is in all of `inside` and in none of
            `outside` is this part.
    """

    fits: tuple[int, ...]
    inside: tuple[int, ...]
    outside: tuple[int, ...]


class Partition:
    """Parts what a base matches, or all texts, by one node after the other.

    Args:
        contents: holds the nodes.
        base: what is parted; None for all texts.
    """

    def __init__(self, contents: Contents, base: int | None) -> None:
        self._contents = contents
        self._base = base
        self._nodes: list[int] = []
        self._parts = [Part((), (), ())]
        self._apart: dict[tuple[int, int], bool] = {}
        self._within: dict[tuple[int, int], bool] = {}
        self._void: dict[int, bool] = {}

    def add(self, node: int) -> None:
        """Part each part into what is in `node` and what is not.

        Raises:
            LimitError: there are too many parts in which nodes overlap.
        """
        new = len(self._nodes)
        self._nodes.append(node)
        self._parts = [piece for part in self._parts for piece in self._split(part, new)]
        if sum(len(part.inside) > 1 for part in self._parts) > MAX_OVERLAPS:
            raise LimitError(
                f"{new + 1} patterns for keys overlap in too many ways",
                limit="sets of keys",
                value=MAX_OVERLAPS,
            )

    def parts(self) -> list[Part]:
        """Return the parts that are not void."""
        return [part for part in self._parts if not self._is_void(part)]

    def node(self, part: Part) -> int:
        """Return the node for the texts of a part."""
        return meet(
            self._contents.arena,
            self._contents.arena.any_text(),
            self._base,
            [self._nodes[test] for test in part.inside],
            [self._nodes[test] for test in part.outside],
        )

    def _split(self, part: Part, new: int) -> list[Part]:
        # What two nodes have to do with each other is looked up; most pairs are apart.
        fits, inside, outside = part
        if any(self._are_apart(test, new) for test in inside):
            return [part]
        if any(self._is_within(new, test) for test in outside):
            return [part]
        if any(self._is_within(test, new) for test in inside):
            return [Part((*fits, new), inside, outside)]
        common = Part(
            (*fits, new),
            (*(test for test in inside if not self._is_within(new, test)), new),
            tuple(test for test in outside if not self._are_apart(test, new)),
        )
        if self._is_void(common):
            return [part]
        others = (*(test for test in outside if not self._is_within(test, new)), new)
        rest = Part(fits, inside, others)
        # Of what is in no node it is found out once, when all nodes are there.
        if inside and self._is_void(rest):
            return [Part((*fits, new), inside, outside)]
        return [common, rest]

    def _are_apart(self, a: int, b: int) -> bool:
        """Return True if no text matches both."""
        key = (a, b) if a < b else (b, a)
        known = self._apart.get(key)
        if known is None:
            first, second = self._nodes[a], self._nodes[b]
            arena = self._contents.arena
            known = self._apart[key] = _begin_apart(arena, first, second) or (
                self._contents.is_void(arena.both(first, second))
            )
        return known

    def _is_within(self, a: int, b: int) -> bool:
        """Return True if all that matches one node matches the other."""
        known = self._within.get((a, b))
        if known is None:
            arena = self._contents.arena
            known = self._within[a, b] = not self._are_apart(a, b) and (
                self._contents.is_void(arena.minus(self._nodes[a], self._nodes[b]))
            )
        return known

    def _is_void(self, part: Part) -> bool:
        node = self.node(part)
        known = self._void.get(node)
        if known is None:
            known = self._void[node] = self._contents.is_void(node)
        return known


def meet(
    arena: Arena, everything: int, base: int | None, inside: Sequence[int], outside: Sequence[int]
) -> int:
    """Return what is in a base and all of some nodes, and in none of some others."""
    node = inside[0] if inside else everything
    for other in inside[1:]:
        node = arena.both(node, other)
    if outside:
        node = arena.minus(node, arena.choice(outside))
    # As a part, for the arena would take what is outside from the base, where it is counted with
    # the characters of the base.
    return node if base is None else arena.both(base, arena.part(node))


def is_plainly_endless(arena: Arena, node: int) -> bool:
    """Return True if it can be seen from a node that it matches infinitely many texts."""
    waiting = [node]
    while waiting:
        match arena.node(waiting.pop()):
            case ("repeat", _, _, None):
                return True
            case ("repeat", int(unit), _, _):
                waiting.append(unit)
            case ("sequence", int(first), int(rest)):
                waiting += (rest, first)
            case ("choice", list(options)):
                waiting += options
    return False


def _begin_apart(arena: Arena, a: int, b: int) -> bool:
    """Return True if two nodes begin with literals that differ."""
    first, second = _beginning(arena, a), _beginning(arena, b)
    length = min(len(first), len(second))
    return first[:length] != second[:length]


def _beginning(arena: Arena, node: int) -> bytes:
    kind, *rest = arena.node(node)
    if kind == "sequence":
        kind, *rest = arena.node(rest[0])
    return rest[0] if kind == "literal" else b""
