"""What the keywords of a schema have evaluated, for `unevaluatedProperties` and `unevaluatedItems`.

Only schemas that stand beside or within such a keyword are read with this; their alternatives then
carry it as `seen`. More seen means fewer constraints. So where several branches of an anyOf pass
together, adding the alternative of all of them is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from guided.text.json_schema.document.places import Json, Subschema
from guided.text.json_schema.shapes.children import either, one_schema
from guided.text.json_schema.shapes.shape import (
    ArrayShape,
    Child,
    Group,
    ObjectShape,
    Pattern,
    SeenItems,
    SeenKeys,
    Shape,
)

if TYPE_CHECKING:
    from guided.text.json_schema.reader import Reader

_OF_OBJECTS = ("properties", "patternProperties", "additionalProperties")
_OF_ARRAYS = ("items", "prefixItems", "contains")

NO_KEYS = SeenKeys()
NO_ITEMS = SeenItems()


def mark(reader: Reader, shape: Shape, schema: Subschema) -> Shape:
    """Note in the shape of a schema's own keywords what they evaluate."""
    value = schema.value
    if shape.objects and any(keyword in value for keyword in _OF_OBJECTS):
        keys = _seen_keys(schema, value)
        shape = shape._replace(objects=tuple(one._replace(seen=keys) for one in shape.objects))
    if shape.arrays and any(keyword in value for keyword in _OF_ARRAYS):
        items = _seen_items(reader, schema, value)
        shape = shape._replace(arrays=tuple(one._replace(seen=items) for one in shape.arrays))
    return shape


def unmark(shape: Shape) -> Shape:
    """Take out what was seen, once it has been used."""
    objects, arrays = shape.objects, shape.arrays
    if any(one.seen is not None for one in objects):
        shape = shape._replace(objects=tuple(one._replace(seen=None) for one in objects))
    if any(one.seen is not None for one in arrays):
        shape = shape._replace(arrays=tuple(one._replace(seen=None) for one in arrays))
    return shape


def constrain_properties(objects: tuple[ObjectShape, ...], child: Child) -> tuple[ObjectShape, ...]:
    """Let all properties that an alternative has not seen fit a child; then all are seen."""
    return tuple(
        shape._replace(
            groups=shape.groups + _unseen_keys(shape.seen or NO_KEYS, child),
            seen=SeenKeys(all_keys=True),
        )
        for shape in objects
    )


def constrain_items(
    arrays: tuple[ArrayShape, ...],
    child: Child,
    meet: Callable[[ArrayShape, ArrayShape], ArrayShape],
) -> tuple[ArrayShape, ...]:
    """Let all items that an alternative has not seen fit a child; then all are seen."""
    return tuple(
        meet(shape, _unseen_items(shape.seen or NO_ITEMS, child))._replace(seen=SeenItems(None))
        for shape in arrays
    )


def join_keys(a: SeenKeys | None, b: SeenKeys | None) -> SeenKeys | None:
    """Return what was seen by one of two."""
    if a is None or b is None or a is b:
        return a or b
    if a.all_keys or b.all_keys:
        return SeenKeys(all_keys=True)
    known = {pattern.text for pattern in a.patterns}
    patterns = tuple(pattern for pattern in b.patterns if pattern.text not in known)
    return SeenKeys(False, a.names | b.names, a.patterns + patterns)


def join_items(a: SeenItems | None, b: SeenItems | None) -> SeenItems | None:
    """Return what was seen by one of two."""
    if a is None or b is None or a is b:
        return a or b
    if a.number is None or b.number is None:
        return SeenItems(None)
    fitting = tuple(child for child in b.fitting if child not in a.fitting)
    return SeenItems(max(a.number, b.number), a.fitting + fitting)


def adds_keys(a: SeenKeys | None, b: SeenKeys | None) -> bool:
    """Return True if `a` has seen what `b` has not."""
    if a is None or (b is not None and b.all_keys):
        return False
    if b is None:
        return a != NO_KEYS
    texts = {pattern.text for pattern in b.patterns}
    return a.all_keys or not (
        a.names <= b.names and all(pattern.text in texts for pattern in a.patterns)
    )


def adds_items(a: SeenItems | None, b: SeenItems | None) -> bool:
    """Return True if `a` has seen what `b` has not."""
    if a is None or (b is not None and b.number is None):
        return False
    if b is None:
        return a != NO_ITEMS
    if a.number is None or (b.number is not None and a.number > b.number):
        return True
    return any(child not in b.fitting for child in a.fitting)


def _seen_keys(schema: Subschema, value: dict[str, Json]) -> SeenKeys:
    if "additionalProperties" in value:
        return SeenKeys(all_keys=True)
    patterns = tuple(Pattern(text, schema) for text in value.get("patternProperties", ()))
    return SeenKeys(False, frozenset(value.get("properties", ())), patterns)


def _seen_items(reader: Reader, schema: Subschema, value: dict[str, Json]) -> SeenItems:
    draft, items = schema.draft, value.get("items")
    in_order = value.get("prefixItems", ()) if draft >= 2020 else ()
    if draft < 2020 and isinstance(items, list):
        in_order = items
        all_items = "additionalItems" in value
    else:
        all_items = items is not None
    if all_items:
        return SeenItems(None)
    if draft < 2020 or "contains" not in value:
        return SeenItems(len(in_order))
    fitting = one_schema(reader, schema, "contains", value["contains"])
    return SeenItems(len(in_order), (fitting,)) if fitting else SeenItems(None)


def _unseen_keys(seen: SeenKeys, child: Child) -> tuple[Group, ...]:
    if seen.all_keys or not child:
        return ()
    properties: dict[str, Child] = dict.fromkeys(sorted(seen.names), ())
    return (Group(properties, tuple((pattern, ()) for pattern in seen.patterns), child),)


def _unseen_items(seen: SeenItems, child: Child) -> ArrayShape:
    if seen.number is None or not child:
        return ArrayShape()
    return ArrayShape(((),) * seen.number, either((child, *seen.fitting)))
