"""What does not fit a schema with `oneOf`: what fits none of its branches, or two of them.

To say so needs no complement of a complement. What fits exactly one branch is what does not fit the
others, in as many alternatives; their complement, in turn, has so many that it cannot be said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from guided.text.json_schema.algebra.exclusion import without
from guided.text.json_schema.algebra.union import unite
from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.keywords.combinations import branches
from guided.text.json_schema.shapes.shape import ANYTHING, Child, Group, ObjectShape, Shape, Some

if TYPE_CHECKING:
    from guided.text.json_schema.reader import Reader

# Up to so many alternatives are better than an obligation, which must be counted.
_FEW = 8

# Keywords that see what their neighbours have seen, or that let them say nothing.
_TIES = frozenset(["unevaluatedProperties", "unevaluatedItems", "$ref"])


def parts_of_one_of(reader: Reader, child: Child) -> tuple[Shape, list[Shape]] | None:
    """Return what stands beside the `oneOf` of a schema, and its branches; None without one."""
    schema = child[0]
    if type(schema) is not Subschema or not isinstance(schema.value, dict):
        return None
    value = schema.value
    if "oneOf" not in value or not _TIES.isdisjoint(value):
        return None
    beside = reader.sharing.beside(schema, "oneOf")
    children = branches(reader, schema, "oneOf", value["oneOf"])
    return reader.shape((beside,)), list(map(reader.shape, children))


def without_one_of(
    reader: Reader, shape: Shape, beside: Shape, shapes: list[Shape], at: Subschema
) -> Shape:
    """Return what fits a shape, and not exactly one of some shapes or not what is beside them.

    Raises:
        InexactError, TooManyError: see `exclusion.without`.
    """
    found = []
    if beside is not ANYTHING:
        found.append(without(reader, shape, beside, at))
        shape = reader.meet(shape, beside, at, ())
    found.append(without(reader, shape, unite(shapes), at))
    for number, first in enumerate(shapes[:-1]):
        one = reader.meet(shape, first, at, ("oneOf", number))
        found.append(reader.meet(one, _any_of(reader, shapes[number + 1 :]), at, ("oneOf",)))
    return unite(found)


def _any_of(reader: Reader, shapes: Sequence[Shape]) -> Shape:
    """Return what fits one of some shapes; many properties to choose from are one obligation."""
    shape = unite(shapes)
    if len(shape.objects) <= _FEW:
        return shape
    obligations = [(one, next(_obligation(one), None)) for one in shape.objects]
    single = [some for _, some in obligations if some is not None]
    if len(single) <= _FEW:
        return shape
    single = list(map(reader.failures.obligation, single))
    others = tuple(one for one, some in obligations if some is None)
    return shape._replace(objects=(*others, ObjectShape(some=(reader.failures.one_of(single),))))


def _obligation(one: ObjectShape) -> Iterator[Some]:
    """Give the obligation that says the same as an alternative, if there is one."""
    if len(one.required) != 1 or one != ObjectShape(one.groups, one.required, seen=one.seen):
        return
    ((name, at),) = one.required.items()
    if not one.groups:
        yield Some((), at, name=name)
    elif len(one.groups) == 1 and one.groups[0].properties.keys() == {name}:
        child = one.groups[0].properties[name]
        if one.groups[0] == Group({name: child}):
            yield Some(child, at, name=name)
