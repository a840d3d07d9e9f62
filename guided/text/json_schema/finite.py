"""`enum` and `const`: the values listed, sorted by type.

Arrays and objects become shapes whose parts are constants themselves, so that they meet other
schemas part by part, as any array or object does.
"""

from __future__ import annotations

from decimal import Decimal

from guided.text.json_schema.assertions import malformed, read_number
from guided.text.json_schema.document import Document, Json, Subschema
from guided.text.json_schema.shapes import (
    FALSE,
    NULL,
    TRUE,
    ArrayShape,
    Child,
    Count,
    Finite,
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
    for index, value in enumerate(values):
        if isinstance(value, str):
            strings[value] = None
        elif value is None or isinstance(value, bool):
            simple |= NULL if value is None else TRUE if value else FALSE
        elif isinstance(value, list):
            arrays.append(_array(document, schema, (keyword, index), value))
        elif isinstance(value, dict):
            objects.append(_object(document, schema, (keyword, index), value))
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


def _array(
    document: Document, schema: Subschema, path: tuple[str | int, ...], value: list[Json]
) -> ArrayShape:
    count = Count(len(value), schema, str(path[0]))
    prefix = tuple(_part(document, schema, (*path, k), item) for k, item in enumerate(value))
    return ArrayShape(prefix, (), count if value else None, count)


def _object(
    document: Document, schema: Subschema, path: tuple[str | int, ...], value: dict[str, Json]
) -> ObjectShape:
    parts = {name: _part(document, schema, (*path, name), part) for name, part in value.items()}
    return ObjectShape(parts, dict.fromkeys(value, schema), (Subschema(False, schema, path),))


def _part(document: Document, schema: Subschema, path: tuple[str | int, ...], value: Json) -> Child:
    return (document.subschema({"const": value}, schema, path),)
