"""Texts in which some markers do not occur, and texts that end where the first one does.

Source: Aho and Corasick, "Efficient string matching: an aid to bibliographic search", CACM 1975.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from guided._core import Arena

State = tuple[bool, list[tuple[int, int, int]]]


class Occurrences:
    """Regular nodes about the places at which markers occur in a text, as bytes.

    Args:
        arena: where the nodes go.
        markers: texts, none of them empty. One that has another inside, other than as its ending,
            never comes first.
    """

    def __init__(self, arena: Arena, markers: Sequence[str]) -> None:
        self._arena = arena
        spelled = [marker.encode() for marker in dict.fromkeys(markers)]
        self._steps, self._found = _automaton(spelled)
        self._known: dict[str | None, int] = {}

    def without(self) -> int:
        """Match the texts in which no marker occurs."""
        return self._node(None)

    def first(self, marker: str) -> int:
        """Match the texts that end with a marker, no other occurrence ending before."""
        return self._node(marker)

    def _node(self, marker: str | None) -> int:
        if marker not in self._known:
            wanted = None if marker is None else marker.encode()
            states = [self._state(number, wanted) for number in range(len(self._steps))]
            bytes_node = self._arena.dfa(states)
            # Bytes that are no UTF-8 are no text.
            self._known[marker] = self._arena.both(self._arena.any_text(), bytes_node)
        return self._known[marker]

    def _state(self, number: int, wanted: bytes | None) -> State:
        found = self._found[number]
        if found:
            return wanted in found, []
        return wanted is None, _ranges(self._steps[number])


def _automaton(markers: Sequence[bytes]) -> tuple[list[dict[int, int]], list[set[bytes]]]:
    """Return for each state the steps that do not lead to the start, and the markers that end."""
    children: list[dict[int, int]] = [{}]
    found: list[set[bytes]] = [set()]
    for marker in markers:
        state = 0
        for byte in marker:
            if byte not in children[state]:
                children[state][byte] = len(children)
                children.append({})
                found.append(set())
            state = children[state][byte]
        found[state].add(marker)
    steps: list[dict[int, int]] = [dict(children[0])] + [{} for _ in children[1:]]
    waiting = deque((child, 0) for child in children[0].values())
    while waiting:
        state, suffix = waiting.popleft()
        found[state] |= found[suffix]
        steps[state] = {**steps[suffix], **children[state]}
        waiting.extend(
            (child, steps[suffix].get(byte, 0)) for byte, child in children[state].items()
        )
    return steps, found


def _ranges(steps: dict[int, int]) -> list[tuple[int, int, int]]:
    """Return the edges of a state: those bytes that lead on, and all between to the start."""
    edges: list[tuple[int, int, int]] = []
    free = 0
    for byte in sorted(byte for byte, target in steps.items() if target):
        if free < byte:
            edges.append((free, byte - 1, 0))
        edges.append((byte, byte, steps[byte]))
        free = byte + 1
    if free < 256:
        edges.append((free, 255, 0))
    return edges
