"""The keywords that hold schemas of parts: of properties, of their names, of items.

A handler takes the reader, the builder of the schema's shape, the schema and the keyword's value.
The schemas are not read here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from guided.errors import SchemaError
from guided.text.json_schema.algebra.intersection import larger, smaller
from guided.text.json_schema.document.places import Json, Subschema, describe
from guided.text.json_schema.keywords.assertions import (
    are_strings,
    malformed,
    read_maximum_count,
    read_minimum_count,
)
from guided.text.json_schema.keywords.shape_builder import ShapeBuilder
from guided.text.json_schema.shapes.children import one_schema
from guided.text.json_schema.shapes.shape import Child, Contains, Count, Format, Pattern

if TYPE_CHECKING:
    from guided.text.json_schema.reader import Reader

Handler = Callable[["Reader", ShapeBuilder, Subschema, Json], None]


def read_properties(
    reader: Reader, builder: ShapeBuilder, schema: Subschema, content: Json
) -> None:
    """`properties`."""
    _check_schemas(schema, "properties", content)
    subschema = reader.document.subschema
    builder.properties = {
        name: (subschema(value, schema, ("properties", name)),) for name, value in content.items()
    }


def read_pattern_properties(
    reader: Reader, builder: ShapeBuilder, schema: Subschema, content: Json
) -> None:
    """`patternProperties`; the expressions are read when they are needed."""
    _check_schemas(schema, "patternProperties", content)
    subschema = reader.document.subschema
    builder.patterns = tuple(
        (Pattern(text, schema), (subschema(value, schema, ("patternProperties", text)),))
        for text, value in content.items()
    )


def read_additional_properties(
    reader: Reader, builder: ShapeBuilder, schema: Subschema, content: Json
) -> None:
    """`additionalProperties`."""
    builder.additional = one_schema(reader, schema, "additionalProperties", content)


def read_property_names(
    reader: Reader, builder: ShapeBuilder, schema: Subschema, content: Json
) -> None:
    """`propertyNames`."""
    builder.has_rare = True
    builder.keys = one_schema(reader, schema, "propertyNames", content)


def read_prefix_items(
    reader: Reader, builder: ShapeBuilder, schema: Subschema, content: Json
) -> None:
    """`prefixItems`."""
    builder.prefix = schemas(reader, schema, "prefixItems", content)


def read_items(reader: Reader, builder: ShapeBuilder, schema: Subschema, content: Json) -> None:
    """`items`, an array before 2020-12, and then `additionalItems` with it."""
    if not isinstance(content, list):
        builder.rest = one_schema(reader, schema, "items", content)
        return
    if schema.draft >= 2020:
        raise SchemaError(
            '"items" must be one schema, found an array',
            pointer=schema.pointer("items"),
            mend='rename it to "prefixItems", or name an older draft in "$schema"',
        )
    builder.prefix = schemas(reader, schema, "items", content)
    rest = schema.value.get("additionalItems", True)
    builder.rest = one_schema(reader, schema, "additionalItems", rest)


def read_contains(reader: Reader, builder: ShapeBuilder, schema: Subschema, content: Json) -> None:
    """`contains`, with `minContains` and `maxContains` from 2019-09 on."""
    child = one_schema(reader, schema, "contains", content)
    least, most = Count(1, schema, "contains"), None
    if schema.draft >= 2019:
        if "minContains" in schema.value:
            least = read_minimum_count(schema, "minContains", schema.value["minContains"])
        if "maxContains" in schema.value:
            most = read_maximum_count(schema, "maxContains", schema.value["maxContains"])
    if not child:
        # Any item will do, so these are counts of items.
        builder.array_minimum = larger(builder.array_minimum, least if least.value else None)
        builder.array_maximum = smaller(builder.array_maximum, most)
    elif least.value or most is not None:
        builder.has_rare = True
        maximum = None if most is None else most.value
        builder.contains = Contains(child, least.value, maximum, schema, "contains")


def read_unevaluated_properties(
    reader: Reader, builder: ShapeBuilder, schema: Subschema, content: Json
) -> None:
    """`unevaluatedProperties`: its turn is when all else is known."""
    builder.unevaluated += ("unevaluatedProperties",)


def read_unevaluated_items(
    reader: Reader, builder: ShapeBuilder, schema: Subschema, content: Json
) -> None:
    """`unevaluatedItems`: its turn is when all else is known."""
    builder.unevaluated += ("unevaluatedItems",)


def read_format(reader: Reader, builder: ShapeBuilder, schema: Subschema, content: Json) -> None:
    """`format`."""
    if not isinstance(content, str):
        raise malformed(schema, "format", content, "a string")
    if not reader.asserts_formats:
        return
    from guided.text.json_schema.strings.formats import KNOWN, SILENT, UNSUPPORTED

    if content in KNOWN:
        builder.string = builder.string._replace(formats=(Format(content, schema),))
    elif content in UNSUPPORTED and _may_be_string(schema.value.get("type", "string")):
        why = UNSUPPORTED[content]
        reader.refuse(schema, "format", f"the format {describe(content)} is not supported: {why}")
    elif content not in SILENT:
        # No part of the standard, which has it say nothing.
        reader.unknown[schema.pointer("format")] = None


def schemas(reader: Reader, schema: Subschema, keyword: str, content: Json) -> tuple[Child, ...]:
    """Return the children of a keyword that holds a list of schemas."""
    if not isinstance(content, list):
        raise malformed(schema, keyword, content, "an array of schemas")
    subschema = reader.document.subschema
    return tuple(
        (subschema(value, schema, (keyword, index)),) for index, value in enumerate(content)
    )


def _check_schemas(schema: Subschema, keyword: str, content: Json) -> None:
    if not isinstance(content, dict):
        raise malformed(schema, keyword, content, "an object of schemas")
    if not are_strings(content):
        raise malformed(schema, keyword, content, "an object whose keys are strings")


def _may_be_string(types: Json) -> bool:
    return types == "string" or (isinstance(types, list) and "string" in types)


PARTS: dict[str, Handler] = {
    "properties": read_properties,
    "patternProperties": read_pattern_properties,
    "additionalProperties": read_additional_properties,
    "propertyNames": read_property_names,
    "prefixItems": read_prefix_items,
    "items": read_items,
    "contains": read_contains,
    "unevaluatedProperties": read_unevaluated_properties,
    "unevaluatedItems": read_unevaluated_items,
    "format": read_format,
}
