"""Nodes remembered by how they were made, so that their first character can be narrowed.

`\\b` and other conditions on the next character are met by narrowing what stands next in the text
where that is known: intersections nested in one another, one for each `\\b` of a repetition, make
automata grow beyond all bounds.
"""

from __future__ import annotations

from collections.abc import Sequence

from guided.text.regex.codepoints import ANY, Ranges
from guided.text.regex.narrowing import starting
from guided.text.regex.syntax import Expression, chars
from guided.text.regex.writer import EMPTY_NODE, NEVER_NODE, Writer

MAX_DEPTH = 60


class Forms:
    """How the nodes of one pattern were made."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self._joined: dict[int, tuple[Expression, int]] = {}
        self._chosen: dict[int, tuple[int, ...]] = {}
        self._narrowed: dict[tuple[int, Ranges, bool], int] = {}

    def join(self, expression: Expression, rest: int) -> int:
        """Return an expression before a rest."""
        node = self.writer.join(self.writer.write(expression), rest)
        self._joined.setdefault(node, (expression, rest))
        return node

    def choose(self, nodes: Sequence[int]) -> int:
        """Return the choice of some rests."""
        if self.writer.any_text in nodes:
            return self.writer.any_text
        node = self.writer.arena.choice(nodes)
        if len(nodes) > 1:
            self._chosen.setdefault(node, tuple(nodes))
        return node

    def narrow(self, node: int, ranges: Ranges, *, edge: bool, depth: int = 0) -> int:
        """Return the texts of a node that begin in `ranges`, and if `edge` the empty one."""
        if (ranges == ANY and edge) or node == NEVER_NODE:
            return node
        if node == EMPTY_NODE:
            return EMPTY_NODE if edge else NEVER_NODE
        key = (node, ranges, edge)
        if key not in self._narrowed:
            self._narrowed[key] = self._narrow(node, ranges, edge, depth)
        return self._narrowed[key]

    def _narrow(self, node: int, ranges: Ranges, edge: bool, depth: int) -> int:
        if node == self.writer.any_text:
            begun = self.join(chars(ranges), node)
            return self.choose([EMPTY_NODE, begun]) if edge else begun
        if depth < MAX_DEPTH:
            if node in self._joined:
                expression, rest = self._joined[node]
                narrowed = starting(expression, ranges)
                if narrowed is not None:
                    begun = self.join(narrowed, rest)
                    if not expression.nullable:
                        return begun
                    others = self.narrow(rest, ranges, edge=edge, depth=depth + 1)
                    return self.choose([begun, others])
            elif node in self._chosen:
                return self.choose(
                    [
                        self.narrow(each, ranges, edge=edge, depth=depth + 1)
                        for each in self._chosen[node]
                    ]
                )
        return self.writer.meet(node, self.writer.beginning(ranges, edge=edge))
