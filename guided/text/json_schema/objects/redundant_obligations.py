"""Obligations that are met whenever others are, and so need not be counted.

Schemas told apart by what they do not allow give many: if no member fits two of them, one member is
enough for both. Each that is left out halves the ways to write a member, and objects that ask for
the same in the end are one node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from guided.text.json_schema.shapes.children import is_false, join
from guided.text.json_schema.shapes.shape import Child, ObjectShape, Some
from guided.text.json_schema.strings.spelling import is_spellable

if TYPE_CHECKING:
    from guided.text.json_schema.objects.sorted_keys import ObjectParts
    from guided.text.json_schema.reader import Reader

# The value of a key can meet an obligation by fitting one of these terms, beside what it must fit
# anyway. With the empty child among them whatever may stand there does.
_Means = tuple[Child, ...]


def drop_redundant(reader: Reader, shape: ObjectShape, parts: ObjectParts) -> ObjectShape:
    """Leave out the obligations that what is required, or another obligation, sees to.

    Returns the shape itself if there are none.
    """
    if len(shape.some) < 2:
        return shape
    sorter = _Sorter(reader, parts)
    left = {
        number: means
        for number, means in enumerate(sorter.means(shape.some))
        if not any(() in means.get(name, ()) for name in shape.required)
    }
    # Of those that ask for the same the first is kept.
    for number in sorted(left, reverse=True):
        mine = left.pop(number)
        if not any(sorter.implies(k, other, number, mine) for k, other in left.items()):
            left[number] = mine
    if len(left) == len(shape.some):
        return shape
    return shape._replace(some=tuple(shape.some[number] for number in sorted(left)))


class _Sorter:
    """Compares the obligations of one object."""

    def __init__(self, reader: Reader, parts: ObjectParts) -> None:
        self._reader = reader
        cells: list[tuple[str | int, Child, int]] = [
            (name, child, parts.meets[name])
            for name, child in parts.names.items()
            if is_spellable(name)
        ]
        cells += [(k, other.child, other.meets) for k, other in enumerate(parts.others)]
        self._cells = [cell for cell in cells if cell[-1] and not is_false(cell[1])]
        self._children = {key: child for key, child, _ in self._cells}

    def means(self, some: Sequence[Some]) -> Iterator[dict[str | int, _Means]]:
        """Give for each obligation how each name, and each set of other keys, can meet it."""
        first = 0
        for each in some:
            children = [each.child, *(other.child for other in each.others)]
            bits = (1 << len(children)) - 1
            found = {
                key: self._means(child, children, meets >> first & bits)
                for key, child, meets in self._cells
                if meets >> first & bits
            }
            first += len(children)
            yield {key: means for key, means in found.items() if means}

    def _means(self, child: Child, children: list[Child], meets: int) -> _Means:
        found = []
        while meets:
            last = meets & -meets
            both = join(child, children[last.bit_length() - 1])
            if len(both) == len(child) or self._reader.emptiness.are_same(both, child):
                return ((),)
            if not self._reader.is_void(both):
                found.append(both[len(child) :])
            meets -= last
        return tuple(found)

    def implies(
        self,
        place: int,
        one: dict[str | int, _Means],
        other_place: int,
        other: dict[str | int, _Means],
    ) -> bool:
        """Return True if each way to meet one obligation meets the other.

        They are told in the order of their places, as the ways to meet both will be written.
        """
        if not one.keys() <= other.keys():
            return False
        is_first = place < other_place
        return all(
            any(self._is_within(key, narrow, wide, is_first) for wide in other[key])
            for key, means in one.items()
            for narrow in means
        )

    def _is_within(self, key: str | int, narrow: Child, wide: Child, is_first: bool) -> bool:
        if all(term in narrow for term in wide):
            return True
        if not narrow:
            return False
        child = self._children[key]
        both = join(narrow, wide) if is_first else join(wide, narrow)
        return self._reader.emptiness.are_same(join(child, both), join(child, narrow))
