"""Arrays whose items must all differ (`uniqueItems`).

The core remembers scalars: the key of a member is then the item itself. Strings and other scalars
are members of their own, for of the others one may begin another, as 1 does 12. Where no position
is special, each of few values is a slot of its own, to be used once.
"""

from __future__ import annotations

from collections.abc import Iterator

from guided.text.json_schema.arrays.records import ArrayDraft, Member, Slot
from guided.text.json_schema.arrays.unique_items import MayRunOutError, Scalar, UniqueItem, room
from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.shapes.shape import Child
from guided.text.json_schema.strings.spelling import NEVER
from guided.text.json_schema.values.obligations import Way


class UniqueDraft(ArrayDraft):
    """An array of different items on its way to a node."""

    _items: dict[Child, UniqueItem]
    _is_given_up = False

    def tell_apart(self, unique: Subschema) -> None:
        """Split the items by their types, so that the core can tell them apart.

        `unique` is the schema that asks for it, to be refused where it cannot be done.
        """
        ways = [way for place in (*self.places, self.rest) for way in place]
        self._items = {
            way.child: self.writer.items.split(way.child, self.level + 1) for way in ways
        }
        self._listed: list[tuple[Way, list[Scalar]]] = []
        fact = None
        # A container cannot be told from another one, but one place holds one only.
        holders = sum(any(map(self._containers, place)) for place in self.places)
        if any(map(self._containers, self.rest)) or holders > 1:
            fact = "uniqueItems is not supported where items may be arrays or objects"
        elif not all(self.writer.arena.is_regular(each.strings) for each in self._items.values()):
            fact = "uniqueItems is not supported where a string must fit a grammar with rules"
        elif not self.places:
            self._list_values()
        elif self._may_run_out():
            fact = "uniqueItems is not supported where items before may use up all values"
        if fact is not None:
            self.writer.reader.refuse(unique, "uniqueItems", fact)
            self._is_given_up = True

    def room_for(self, bit: int) -> float:
        """Return how many items may count for a bit, or more."""
        listed = sum(len(values) for way, values in self._listed if way.bits & bit)
        return super().room_for(bit) + listed

    def node(self) -> int:
        """Write the array."""
        if not self._listed:
            return super().node()
        after = self.writer.any_json.layout(self.level).after_value
        slots: list[Slot] = []
        members: list[Member] = []
        for way, values in self._listed:
            for value in values:
                key = self.writer.items.node(value)
                members.append((len(slots), key, None, False, [(way.bits, after)]))
                slots.append((False, False, ()))
        if self.rest:
            members += self.members(len(slots), self.rest)
            slots.append((False, True, ()))
        return self.record(slots, members, "any")

    def members(self, slot: int, ways: list[Way]) -> Iterator[Member]:
        """Give what may fill a slot."""
        if self._is_given_up:
            yield from super().members(slot, ways)
            return
        layout = self.writer.any_json.layout(self.level)
        for way in ways:
            item = self._items[way.child]
            for key in (item.strings, item.others):
                if key != NEVER:
                    yield slot, key, None, True, [(way.bits, layout.after_value)]
            if item.containers is not None:
                node = self.writer.value(item.containers, self.level + 1)
                yield slot, 0, None, False, [(way.bits, self.writer.item(node, layout))]

    def _containers(self, way: Way) -> Child | None:
        return self._items[way.child].containers

    def _list_values(self) -> None:
        """Take the ways that have few values out of `rest`."""
        rest = []
        for way in self.rest:
            values = self._values([way])
            if values is None:
                rest.append(way)
            else:
                self._listed.append((way, values))
        self.rest = rest
        if not rest:
            count = sum(len(values) for _, values in self._listed)
            if count < self.minimum:
                self.maximum = count

    def _may_run_out(self) -> bool:
        """Lower the maximum if there are too few values; return True if that is not sure."""
        values = [self._values(ways) for ways in self.places]
        rest = self._values(self.rest)
        if any(contains.minimum for contains in self.shape.contains):
            return any(one is not None for one in (*values, rest))
        try:
            most = room(values, rest, self.minimum)
        except MayRunOutError:
            return True
        if most < self.minimum:
            self.maximum = most
        return False

    def _values(self, ways: list[Way]) -> list[Scalar] | None:
        """Return the values of an item, None if they are many or there is none."""
        needed = [self.minimum, *(contains.minimum for contains in self.shape.contains)]
        found: list[Scalar] = []
        for way in ways:
            values = self.writer.items.values(way.child, counts_texts=max(needed) > 1)
            if values is None:
                return None
            found += values
        return found if ways else None
