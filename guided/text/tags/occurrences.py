"""Texts in which some markers do not occur, and texts that end where the first one does.

Source: Aho and Corasick, "Efficient string matching: an aid to bibliographic search", CACM 1975.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from guided._core import Arena


class Occurrences:
    """Regular nodes about the places at which markers occur in a text, as bytes.

    Args:
        arena: where the nodes go.
        markers: texts, none of them empty. One that has another inside, other than as its ending,
            never comes first.
    """

    def __init__(self, arena: Arena, markers: Sequence[str]) -> None:
        self._arena = arena
        self._markers = list(dict.fromkeys(markers))
        self._steps, self._found, self._texts = _automaton(
            [each.encode() for each in self._markers]
        )
        self._known: dict[tuple[int, ...], int] = {}

    def without(self) -> int:
        """Match the texts in which no marker occurs."""
        return self._node([number for number, found in enumerate(self._found) if not found])

    def first(self, marker: str) -> int:
        """Match the texts that end with a marker, no other occurrence ending before."""
        wanted = marker.encode()
        return self._node([number for number, found in enumerate(self._found) if wanted in found])

    def first_shared(self, marker: str) -> tuple[int, int]:
        """Match the texts of `first` up to a place within the marker; also return that place.

        Where many markers begin with the same character, this is the place after it: the node is
        then the same for all of them, and what a token does in free text is found out once.
        """
        begin = marker[:1]
        if sum(each.startswith(begin) for each in self._markers) > 1:
            ends = [n for n, text in enumerate(self._texts) if text.endswith(begin.encode())]
            within = [n for n in ends if not self._found[n]]
            # What follows leads on to the marker alone, and to it from no other state.
            if len(within) == 1 and self._is_way(within[0], marker):
                return self._node(within), 1
        return self.first(marker), len(marker)

    def _is_way(self, state: int, marker: str) -> bool:
        """Whether a state stands for the first character, and the rest leads on to the marker."""
        spelled = marker.encode()
        if self._texts[state] != marker[:1].encode():
            return False
        for byte in spelled[len(self._texts[state]) :]:
            if self._found[state]:
                return False
            state = self._steps[state][byte]
        return spelled in self._found[state]

    def _node(self, accepting: list[int]) -> int:
        """Match the texts that lead to some states, through none in which a marker was found."""
        key = tuple(accepting)
        if key not in self._known:
            wanted = set(accepting)
            states = [
                (number in wanted, [] if found else _ranges(steps))
                for number, (steps, found) in enumerate(zip(self._steps, self._found, strict=True))
            ]
            bytes_node = self._arena.dfa(states)
            # Bytes that are no UTF-8 are no text.
            self._known[key] = self._arena.both(self._arena.any_text(), bytes_node)
        return self._known[key]


def _automaton(
    markers: Sequence[bytes],
) -> tuple[list[dict[int, int]], list[set[bytes]], list[bytes]]:
    """Return for each state the steps that do not lead to the start, and the markers that end.

    Last, the beginning of a marker that each state stands for: the longest that a text ends with.
    """
    children: list[dict[int, int]] = [{}]
    found: list[set[bytes]] = [set()]
    texts = [b""]
    for marker in markers:
        state = 0
        for byte in marker:
            if byte not in children[state]:
                children[state][byte] = len(children)
                children.append({})
                found.append(set())
                texts.append(texts[state] + bytes([byte]))
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
    return steps, found, texts


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
