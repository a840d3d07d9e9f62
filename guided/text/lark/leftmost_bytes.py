"""Classes of code points, and automata over them turned into automata over the bytes of UTF-8."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from guided.text.regex.codepoints import ANY, Ranges

_Edges = tuple[tuple[int, int, int], ...]
Table = list[tuple[bool, _Edges]]
"""For each state, the start first: does it accept, and (first byte, last byte, next state)."""

_Spelled = tuple[tuple[tuple[int, int], ...], int]


class CharacterClasses:
    """Code points that are in the same ones of some sets are one class.

    Attributes:
        count: how many classes there are; together they are all characters.
        segments: (first, last, class) in ascending order.
    """

    def __init__(self, sets: Iterable[Ranges]) -> None:
        distinct = list(dict.fromkeys([ANY, *sets]))
        toggles: dict[int, int] = {}
        for number, ranges in enumerate(distinct):
            for low, high in ranges:
                toggles[low] = toggles.get(low, 0) ^ (1 << number)
                toggles[high + 1] = toggles.get(high + 1, 0) ^ (1 << number)
        places = sorted(toggles)
        numbers: dict[int, int] = {}
        self.segments: list[tuple[int, int, int]] = []
        members = 0
        for start, end in zip(places, [*places[1:], 0x110000], strict=True):
            members ^= toggles[start]
            if members & 1:  # not in the gap of the surrogates
                number = numbers.setdefault(members, len(numbers))
                self.segments.append((start, end - 1, number))
        self.count = len(numbers)
        self._masks = dict.fromkeys(distinct, 0)
        for members, number in numbers.items():
            while members:
                bit = members & -members
                self._masks[distinct[bit.bit_length() - 1]] |= 1 << number
                members ^= bit

    def mask(self, ranges: Ranges) -> int:
        """Return the classes that one of the sets consists of, as bits."""
        return self._masks[ranges]


class ByteWriter:
    """Writes automata over the classes as automata over bytes."""

    def __init__(self, classes: CharacterClasses) -> None:
        self._nodes: list[_Edges] = []
        self._below: list[tuple[int, ...]] = []  # the classes that a node leads to
        self._numbers: dict[_Edges, int] = {}
        spelled = [
            (sequence, number)
            for low, high, number in classes.segments
            for sequence in _byte_ranges(low, high)
        ]
        self._root = self._tree(spelled, 0)

    def _tree(self, spelled: Sequence[_Spelled], depth: int) -> int:
        """Return a node over bytes whose leaves are classes: a class c is the number ~c."""
        edges = []
        for (first, last), group in groupby(spelled, key=lambda each: each[0][depth]):
            members = list(group)
            sequence, number = members[0]
            ends = len(sequence) == depth + 1
            edges.append((first, last, ~number if ends else self._tree(members, depth + 1)))
        key = tuple(edges)
        if key not in self._numbers:
            self._numbers[key] = len(self._nodes)
            self._nodes.append(key)
            self._below.append(tuple({number for _, number in spelled}))
        return self._numbers[key]

    def table(self, accepting: Sequence[bool], rows: Sequence[Sequence[int]]) -> Table:
        """Return the automaton over bytes.

        Args:
            accepting: for each state, the start first, if it accepts.
            rows: for each state and class the next state, -1 for none.
        """
        table: Table = [(accepts, ()) for accepts in accepting]
        inner: dict[_Edges, int] = {}
        known: dict[tuple[int, tuple[int, ...]], int] = {}

        def target(node: int, row: Sequence[int]) -> int:
            """Return the state for a node of the tree, -1 where nothing follows."""
            if node < 0:
                return row[~node]
            key = (node, tuple(row[each] for each in self._below[node]))
            number = known.get(key)
            if number is None:
                edges = mapped(node, row)
                number = inner.setdefault(edges, len(table)) if edges else -1
                if number == len(table):
                    table.append((False, edges))
                known[key] = number
            return number

        def mapped(node: int, row: Sequence[int]) -> _Edges:
            edges = self._nodes[node]
            return _joined((first, last, target(child, row)) for first, last, child in edges)

        for state, row in enumerate(rows):
            table[state] = (accepting[state], mapped(self._root, row))
        return table


def _joined(edges: Iterable[tuple[int, int, int]]) -> _Edges:
    joined: list[tuple[int, int, int]] = []
    for first, last, target in edges:
        if target < 0:
            continue
        if joined and joined[-1][2] == target and joined[-1][1] == first - 1:
            joined[-1] = (joined[-1][0], last, target)
        else:
            joined.append((first, last, target))
    return tuple(joined)


def _byte_ranges(low: int, high: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield the code points from `low` to `high` as runs of byte ranges, in ascending order."""
    waiting = [(low, high)]
    while waiting:
        low, high = waiting.pop()
        cut = _cut(low, high)
        if cut is None:
            yield tuple(zip(chr(low).encode(), chr(high).encode(), strict=True))
        else:
            waiting += [(cut + 1, high), (low, cut)]


def _cut(low: int, high: int) -> int | None:
    """Return where to cut a range so that each half is closer to one run of byte ranges."""
    for last in (0x7F, 0x7FF, 0xFFFF):
        if low <= last < high:
            return last
    if high <= 0x7F:
        return None
    for bits in (6, 12, 18):
        mask = (1 << bits) - 1
        if low & ~mask != high & ~mask:
            if low & mask:
                return low | mask
            if high & mask != mask:
                return (high & ~mask) - 1
    return None
