"""Whether a recursive schema has a value that ends.

A node depends on others if each of its alternatives needs a value of a rule that is not written
yet. What depends on nothing is productive and not kept here, so a schema without recursion costs
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.shapes.contradictions import endless, nothing_fits
from guided.text.json_schema.shapes.shape import Reason
from guided.text.json_schema.strings.spelling import NEVER

# The node of a container, and the nodes in doubt that each value of it needs.
Written = tuple[int, frozenset[int]]
NOTHING: Written = (NEVER, frozenset())


class Productivity:
    """For each node in doubt the ways to write it, each the set of nodes in doubt it needs."""

    def __init__(self) -> None:
        self._ways: dict[int, list[frozenset[int]]] = {}
        self._places: dict[int, Subschema] = {}
        self._reasons: dict[int, Reason | None] = {}

    def doubtful(self, nodes: Iterable[int]) -> frozenset[int]:
        """Return those of the nodes that are in doubt."""
        return (
            frozenset(node for node in nodes if node in self._ways) if self._ways else frozenset()
        )

    def expect(self, rule: int, place: Subschema) -> None:
        """Put a rule in doubt until its body is known."""
        self._ways[rule] = []
        self._places[rule] = place

    def depend(self, node: int, ways: list[frozenset[int]]) -> None:
        """Say that a node needs all nodes of at least one of `ways`."""
        self._ways[node] = ways

    def follow(self, rule: int, body: int) -> None:
        """Say that a rule is what its body is."""
        if body in self._ways:
            self._ways[rule] = [frozenset([body])]
        else:
            del self._ways[rule]

    def refute(self, rule: int, reason: Reason | None) -> None:
        """Say that nothing fits a rule."""
        self._ways[rule] = []
        self._reasons[rule] = reason

    def failure(self, start: int) -> Reason | None:
        """Return why `start` has no value, None if it has one."""
        if start not in self._ways:
            return None
        void = self._void()
        return self._explain(start, void) if start in void else None

    def _void(self) -> set[int]:
        """Return the nodes without a value: those left when all that have one are struck out."""
        # Each way counts its nodes not yet struck out; each node knows the ways that wait for it.
        missing: list[int] = []
        waiting: dict[int, list[tuple[int, int]]] = {}
        void = set(self._ways)
        found = []
        for node, ways in self._ways.items():
            for way in ways:
                needs = [need for need in way if need in void]
                for need in needs:
                    waiting.setdefault(need, []).append((node, len(missing)))
                missing.append(len(needs))
                if not needs:
                    found.append(node)
        while found:
            node = found.pop()
            if node in void:
                void.discard(node)
                for other, number in waiting.get(node, ()):
                    missing[number] -= 1
                    if missing[number] == 0:
                        found.append(other)
        return void

    def _explain(self, start: int, void: set[int]) -> Reason:
        """Follow what is void to where it is for a reason of its own, or comes back to itself."""
        node = start
        seen: dict[int, None] = {}
        while node not in seen:
            seen[node] = None
            if node in self._reasons:
                return self._reasons[node] or nothing_fits(self._places[node])
            node = next(need for need in sorted(self._ways[node][0]) if need in void)
        path = list(seen)
        circle = path[path.index(node) :]
        return endless(next(self._places[node] for node in circle if node in self._places))
