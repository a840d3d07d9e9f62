"""An index of objects, for those that may have a value in common with another one.

Objects are mostly told apart by a property that all require with other values, or by the names that
they require and allow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from guided.text.json_schema.algebra.emptiness import Emptiness
from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.shapes.shape import ObjectShape

# Up to so many objects all are compared, without an index.
FEW_RIVALS = 3


class Index:
    """Finds the objects that may have a value in common with another one."""

    def __init__(self, emptiness: Emptiness, objects: list[ObjectShape]) -> None:
        self._emptiness = emptiness
        self._objects = objects
        self._by_required: dict[str | None, list[int]] | None = None
        self._names: dict[str, tuple[dict[object, list[int]], set[int]] | None] = {}

    def candidates(self, one: ObjectShape) -> Sequence[int]:
        """Return the places of the objects that may have a value in common with one."""
        best: Sequence[int] = range(len(self._objects))
        names = self._emptiness.all_names(one)
        if names is not None and len(best) > FEW_RIVALS:
            best = self._requiring_only(names)
        for name in one.required if len(best) > FEW_RIVALS else ():
            by_value, others = self._of_name(name) or (None, ())
            if by_value is None or len(others) >= len(best):
                continue
            values = self._emptiness.values(self._emptiness.value_child(one, name))
            if values is not None:
                found = set(others).union(*(by_value.get(value, ()) for value in values))
                if len(found) < len(best):
                    best = sorted(found)
        return best

    def _requiring_only(self, names: Collection[str]) -> Sequence[int]:
        """Return the places of the objects that require no other names."""
        if self._by_required is None:
            self._by_required = {}
            for place, one in enumerate(self._objects):
                for name in one.required or (None,):
                    self._by_required.setdefault(name, []).append(place)
        found = Counter(self._by_required.get(None, ()))
        for name in names if len(names) < len(self._by_required) else self._by_required:
            if name in names:
                found.update(self._by_required.get(name, ()))
        objects = self._objects
        return sorted(place for place in found if found[place] >= len(objects[place].required))

    def _of_name(self, name: str) -> tuple[dict[object, list[int]], set[int]] | None:
        """Return the objects by the listed values of a property, and those that list none."""
        if name not in self._names:
            by_value: dict[object, list[int]] = {}
            others = set()
            for place, one in enumerate(self._objects):
                values = self._emptiness.values(self._emptiness.value_child(one, name))
                if values is None:
                    others.add(place)
                for value in values or ():
                    by_value.setdefault(value, []).append(place)
            self._names[name] = (by_value, others) if by_value else None
        return self._names[name]


def telling_names(
    emptiness: Emptiness, one: ObjectShape, objects: list[ObjectShape]
) -> dict[str, tuple[Subschema, list[ObjectShape]]]:
    """Return names that some of the objects require and few allow, and that `one` leaves open.

    Each comes with the schema that requires it, and the objects that allow it.
    """
    allowed = [emptiness.all_names(each) for each in objects]
    by_name: dict[str, list[ObjectShape]] = {}
    for names, each in zip(allowed, objects, strict=True):
        for name in names or ():
            by_name.setdefault(name, []).append(each)
    others = [each for names, each in zip(allowed, objects, strict=True) if names is None]
    found: dict[str, tuple[Subschema, list[ObjectShape]]] = {}
    for each in objects if len(others) < FEW_RIVALS else ():
        for name, at in each.required.items():
            allowing = others + by_name.get(name, [])
            if name not in one.required and len(allowing) <= FEW_RIVALS:
                found.setdefault(name, (at, allowing))
    return found
