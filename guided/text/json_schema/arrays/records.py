"""Arrays that the core writes as records: those of which some items are counted.

Items are members in slots: one for each position as long as positions differ, the last for all the
rest. What `contains` asks for is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Literal

from guided.text.json_schema.algebra.intersection import larger, smaller
from guided.text.json_schema.shapes.children import is_false
from guided.text.json_schema.shapes.contradictions import too_few_fitting, too_few_places
from guided.text.json_schema.shapes.shape import ArrayShape, Child, Contains, Count, Reason
from guided.text.json_schema.values.obligations import Obligation, Way, check_number, ways_of

if TYPE_CHECKING:
    from guided.text.json_schema.writer import Writer

# Slots and members of a record, as the core takes them.
Slot = tuple[bool, bool, tuple[int, ...]]
Member = tuple[int, int, None, bool, list[tuple[int, int]]]


def simplify(shape: ArrayShape) -> ArrayShape:
    """Leave out what says nothing, and count all items by `minimum` and `maximum`."""
    minimum, maximum = shape.minimum, shape.maximum
    kept = []
    for contains in shape.contains:
        if contains.child:
            if contains.minimum or contains.maximum is not None:
                kept.append(contains)
            continue
        least, most = counts(contains, contains.start)
        if contains.minimum:
            minimum = larger(minimum, least)
        maximum = smaller(maximum, most)
    is_single = maximum is not None and maximum.value <= 1
    unique = None if is_single else shape.unique
    return shape._replace(minimum=minimum, maximum=maximum, contains=tuple(kept), unique=unique)


class ArrayDraft:
    """An array on its way to a node.

    Attributes:
        places: the ways to write each of the first items.
        rest: the ways to write an item after those.
        minimum, maximum: of the number of items.
    """

    def __init__(self, writer: Writer, shape: ArrayShape, level: int) -> None:
        self.places: list[list[Way]] = []
        self.rest: list[Way] = []
        self.minimum = 0 if shape.minimum is None else shape.minimum.value
        self.maximum = None if shape.maximum is None else shape.maximum.value
        self.writer = writer
        self.shape = shape
        self.level = level
        self._reason: Reason | None = None
        check_number(len(shape.contains))

    def write_items(self) -> None:
        """Write the items of each position; one that nothing fits ends the array."""
        shape = self.shape
        self.writer.reason = None
        starts = [each.start for each in shape.contains]
        for place in range(max([len(shape.prefix), *starts])):
            if place == self.maximum:
                return
            is_listed = place < len(shape.prefix)
            ways = self._ways(shape.prefix[place] if is_listed else shape.rest, place)
            if not ways:
                self._reason = self.writer.reason
                self.maximum = place
                return
            self.places.append(ways)
        if self.maximum is None or self.maximum > len(self.places):
            self.rest = self._ways(shape.rest, None)
            if not self.rest:
                self._reason = self.writer.reason
                self.maximum = len(self.places)

    def _ways(self, child: Child, place: int | None) -> list[Way]:
        if is_false(child):
            return []
        is_unique = self.shape.unique is not None
        obligations = [
            Obligation(1 << bit, each.child, each.maximum is not None or is_unique)
            for bit, each in enumerate(self.shape.contains)
            if place is None or place >= each.start
        ]
        return ways_of(self.writer, child, obligations, self.level + 1)

    def failure(self) -> Reason | None:
        """Return why no array fits, as far as that is seen here."""
        maximum = self.maximum
        if maximum is not None and maximum < self.minimum:
            minimum = self.shape.minimum
            assert minimum is not None
            return self._reason or too_few_places(minimum, maximum)
        for bit, contains in enumerate(self.shape.contains):
            fitting = self.room_for(1 << bit)
            if fitting < contains.minimum:
                return too_few_fitting(contains, int(fitting))
        return None

    def room_for(self, bit: int) -> float:
        """Return how many items may count for a bit, or more."""
        if any(way.bits & bit for way in self.rest):
            return inf
        return sum(any(way.bits & bit for way in ways) for ways in self.places)

    def node(self) -> int:
        """Write the array."""
        slots: list[Slot] = [(False, False, ())] * len(self.places)
        members: list[Member] = []
        for slot, ways in enumerate(self.places):
            members += self.members(slot, ways)
        if self.rest:
            members += self.members(len(slots), self.rest)
            slots.append((False, True, ()))
        return self.record(slots, members, "each")

    def record(
        self, slots: list[Slot], members: list[Member], order: Literal["each", "any"]
    ) -> int:
        """Write the record, whatever its slots stand for."""
        return self.writer.arena.record(
            self.writer.frame("[]", self.level),
            slots,
            members,
            order,
            self.minimum,
            self.maximum,
            [(each.minimum, each.maximum) for each in self.shape.contains],
        )

    def members(self, slot: int, ways: list[Way]) -> Iterator[Member]:
        """Give what may fill a slot."""
        layout = self.writer.any_json.layout(self.level)
        yield slot, 0, None, False, [(w.bits, self.writer.item(w.node, layout)) for w in ways]

    def needs(self) -> frozenset[int]:
        """Return the nodes in doubt that are needed for sure; there may be more."""
        needed = self.places[: self.minimum]
        if self.minimum > len(self.places):
            needed.append(self.rest)
        for bit, contains in enumerate(self.shape.contains):
            if contains.minimum:
                ways = chain(*self.places, self.rest)
                needed.append([way for way in ways if way.bits >> bit & 1])
        nodes = ({way.node for way in ways} for ways in needed)
        sure = (next(iter(each)) for each in nodes if len(each) == 1)
        return self.writer.productivity.doubtful(sure)


def counts(contains: Contains, start: int) -> tuple[Count, Count | None]:
    """Return the bounds of a `contains` with the keywords that set them."""
    at = contains.at
    value = at.value if isinstance(at.value, dict) else {}
    keywords = [
        keyword if keyword in value else contains.keyword
        for keyword in ("minContains", "maxContains")
    ]
    maximum = contains.maximum
    return (
        Count(start + contains.minimum, at, keywords[0]),
        None if maximum is None else Count(start + maximum, at, keywords[1]),
    )
