"""`enum` and `const`: the values listed, sorted by type.

Arrays and objects become shapes whose parts are constants themselves, so that they meet other
schemas part by part, as any array or object does.
"""

from __future__ import annotations

from decimal import Decimal

from guided.text.json_schema.document.document import Document
from guided.text.json_schema.document.places import Json, Path, Subschema
from guided.text.json_schema.keywords.assertions import malformed, read_number
from guided.text.json_schema.shapes.shape import (
    FALSE,
    NULL,
    TRUE,
    ArrayShape,
    Child,
    Count,
    Finite,
    Group,
    NumberShape,
    ObjectShape,
    Shape,
    StringShape,
)


def finite_shape(document: Document, schema: Subschema, keyword: str, values: list[Json]) -> Shape:
    """Return the shape of the values that `keyword` lists in `schema`."""
    simple = 0
    strings: dict[str, None] = {}
    numbers: dict[Decimal, None] = {}
    arrays: list[ArrayShape] = []
    objects: list[ObjectShape] = []
    parts: _Parts | None = None
    for index, value in enumerate(values):
        if isinstance(value, str):
            strings[value] = None
        elif value is None or isinstance(value, bool):
            simple |= NULL if value is None else TRUE if value else FALSE
        elif isinstance(value, list | dict):
            parts = parts or _Parts(document, schema)
            if isinstance(value, list):
                arrays.append(parts.array((keyword, index), value))
            else:
                objects.append(parts.object((keyword, index), value))
        elif not isinstance(value, int | float | Decimal):
            raise malformed(schema, keyword, repr(value), "made of JSON values")
        else:
            numbers[read_number(schema, (keyword, index), value)] = None
    return Shape(
        simple,
        (NumberShape(values=Finite(tuple(numbers), schema, keyword)),) if numbers else (),
        (StringShape(values=Finite(tuple(strings), schema, keyword)),) if strings else (),
        tuple(arrays),
        tuple(objects),
    )


class _Parts:
    """Makes arrays and objects of constants; equal strings, numbers and so on are one part."""

    def __init__(self, document: Document, schema: Subschema) -> None:
        self._document = document
        self._schema = schema
        self._known: dict[tuple[type, Json], Child] = {}

    def array(self, path: Path, value: list[Json]) -> ArrayShape:
        """Return the shape of one array."""
        count = Count(len(value), self._schema, str(path[0]))
        prefix = tuple(self._part((*path, index), item) for index, item in enumerate(value))
        return ArrayShape(prefix, (), count if value else None, count)

    def object(self, path: Path, value: dict[str, Json]) -> ObjectShape:
        """Return the shape of one object."""
        schema = self._schema
        parts = {name: self._part((*path, name), part) for name, part in value.items()}
        group = Group(parts, (), (Subschema(False, schema, path),))
        return ObjectShape((group,), dict.fromkeys(value, schema))

    def _part(self, path: Path, value: Json) -> Child:
        if isinstance(value, list | dict):
            return self._constant(path, value)
        key = (type(value), value)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._constant(path, value)
        return known

    def _constant(self, path: Path, value: Json) -> Child:
        # Not a const, which draft 4 does not know.
        return (self._document.subschema({"enum": [value]}, self._schema, path),)
