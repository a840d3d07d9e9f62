"""One shape for children that come to the same.

A child of several terms may say what another one says: that something fits no second schema means
nothing where it cannot fit it anyway. Where that shows in the shapes they are one, so that they are
written once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.shapes.children import join
from guided.text.json_schema.shapes.shape import (
    ANY_OBJECTS,
    Child,
    Either,
    Negated,
    ObjectShape,
    Shape,
    Term,
    is_nothing,
)

if TYPE_CHECKING:
    from guided.text.json_schema.reader import Reader


class Sharing:
    """The shapes of the children that are not just one schema."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._resolved: dict[Child, Child] = {}
        self._shapes: dict[object, Shape] = {}
        self._children: dict[int, Child] = {}
        self._beside: dict[tuple[Subschema, str], Subschema] = {}

    def resolve(self, child: Child) -> Child:
        """Replace references without siblings by their targets in all terms of a child."""
        if len(child) == 1 and type(child[0]) is Subschema:
            return self._reader.resolve(child)
        found = self._resolved.get(child)
        if found is None:
            found = ()
            for term in child:
                found = join(found, (self._resolve_term(term),))
            self._resolved[child] = found
        return found

    def _resolve_term(self, term: Term) -> Term:
        if type(term) is Either:
            return Either(tuple(map(self.resolve, term.children)))
        if type(term) is Negated:
            return Negated(self._resolve_schema(term.schema))
        assert type(term) is Subschema
        return self._resolve_schema(term)

    def _resolve_schema(self, schema: Subschema) -> Subschema:
        target = self._reader.resolve((schema,))[0]
        assert type(target) is Subschema
        return target

    def shape(self, shape: Shape) -> Shape:
        """Return the shape that was first to allow the same as this one, as far as that shows."""
        return shape if is_nothing(shape) else self._shapes.setdefault(_key(shape), shape)

    def child(self, child: Child) -> Child:
        """Return the child that was first to have the shape of one, or its first term."""
        child = self.resolve(child)
        shape = self._reader.shape(child)
        first = child[0]
        if type(first) is Subschema and first.shape is shape:
            return (first,)
        return child if is_nothing(shape) else self._children.setdefault(id(shape), child)

    def beside(self, schema: Subschema, keyword: str) -> Subschema:
        """Return a schema without a keyword: the same one each time, for it may refer to itself."""
        found = self._beside.get((schema, keyword))
        if found is None:
            value = {name: schema.value[name] for name in schema.value if name != keyword}
            found = Subschema(value, schema.parent, schema.path, schema.scope)
            self._beside[schema, keyword] = found
        return found


def _key(shape: Shape) -> object:
    objects = shape.objects
    return (
        *shape[:4],
        None if objects is ANY_OBJECTS else tuple(map(_object_key, objects)),
    )


def _object_key(shape: ObjectShape) -> object:
    return shape._replace(
        groups=tuple(map(id, shape.groups)),  # type: ignore[arg-type]  # cheaper to compare
        required=tuple(shape.required),  # type: ignore[arg-type]  # in their order
        some=tuple(map(id, shape.some)),  # type: ignore[arg-type]
    )
