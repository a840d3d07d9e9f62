"""The keywords that constrain one type each: what they say is checked and noted down.

A handler takes the builder of the schema's shape, the schema, the keyword and its value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from decimal import Decimal

from guided.errors import LimitError, SchemaError
from guided.text.json_schema.algebra.intersection import larger, smaller
from guided.text.json_schema.document.places import Json, Subschema, describe
from guided.text.json_schema.keywords.shape_builder import ShapeBuilder
from guided.text.json_schema.shapes.shape import OF_TYPE, Bound, Count, Multiple, Pattern

# Digits before or after the point of a number in a schema; automata grow with them.
MAX_DIGITS = 1_000

# No text gets this long, so a larger maximum says nothing; the core counts to 2**30.
MAX_COUNT = 1_000_000_000


_STR = {str}

Handler = Callable[[ShapeBuilder, Subschema, str, Json], None]


def malformed(schema: Subschema, keyword: str, value: Json, wanted: str) -> SchemaError:
    """Return the error for a keyword whose value has the wrong form."""
    return SchemaError(
        f'"{keyword}" must be {wanted}, found {describe(value)}',
        pointer=schema.pointer(keyword),
        mend=f'make "{keyword}" {wanted}, or take it out',
    )


def read_type(builder: ShapeBuilder, schema: Subschema, keyword: str, value: Json) -> None:
    """`type`: a name or a list of names."""
    if isinstance(value, str) and value in OF_TYPE:
        builder.types = [value]
        return
    names = value if isinstance(value, list) else [value]
    if not names:
        raise malformed(schema, keyword, value, "a type or an array of at least one type")
    for name in names:
        if not isinstance(name, str) or name not in OF_TYPE:
            raise SchemaError(
                f"there is no type {describe(name)}",
                pointer=schema.pointer("type"),
                mend=f"the types are {', '.join(OF_TYPE)}",
            )
    builder.types = names


def read_count(schema: Subschema, keyword: str, value: Json) -> Count:
    """Check a length: an integer, 0 or more; 2.0 is one."""
    if isinstance(value, float | Decimal):
        number = read_number(schema, (keyword,), value)
        value = int(number) if number == number.to_integral_value() else value
    if type(value) is not int or value < 0:
        raise malformed(schema, keyword, value, "an integer that is not negative")
    return Count(value, schema, keyword)


def read_minimum_count(schema: Subschema, keyword: str, value: Json) -> Count:
    """Check a minimum length against what can be counted."""
    count = read_count(schema, keyword, value)
    if count.value > MAX_COUNT:
        raise LimitError(
            f'"{keyword}" at {schema.pointer(keyword)}', limit="units", value=MAX_COUNT
        )
    return count


def read_maximum_count(schema: Subschema, keyword: str, value: Json) -> Count | None:
    """Check a maximum length; None if no text can reach it."""
    count = read_count(schema, keyword, value)
    return None if count.value > MAX_COUNT else count


def read_min_length(builder: ShapeBuilder, schema: Subschema, keyword: str, value: Json) -> None:
    """`minLength`."""
    count = read_minimum_count(schema, keyword, value)
    builder.string = builder.string._replace(minimum=count if count.value else None)


def read_max_length(builder: ShapeBuilder, schema: Subschema, keyword: str, value: Json) -> None:
    """`maxLength`."""
    builder.string = builder.string._replace(maximum=read_maximum_count(schema, keyword, value))


def read_pattern(builder: ShapeBuilder, schema: Subschema, keyword: str, value: Json) -> None:
    """`pattern`; the expression itself is read when it is written to nodes."""
    if not isinstance(value, str):
        raise malformed(schema, keyword, value, "a string")
    builder.string = builder.string._replace(patterns=(Pattern(value, schema),))


def read_min_items(builder: ShapeBuilder, schema: Subschema, keyword: str, value: Json) -> None:
    """`minItems`."""
    count = read_minimum_count(schema, keyword, value)
    builder.array_minimum = larger(builder.array_minimum, count if count.value else None)


def read_max_items(builder: ShapeBuilder, schema: Subschema, keyword: str, value: Json) -> None:
    """`maxItems`."""
    builder.array_maximum = smaller(
        builder.array_maximum, read_maximum_count(schema, keyword, value)
    )


def read_number(schema: Subschema, tokens: tuple[str | int, ...], value: Json) -> Decimal:
    """Return the exact value of a number; a float is what its shortest decimal says."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise malformed(schema, str(tokens[0]), value, "a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise malformed(schema, str(tokens[0]), value, "a finite number")
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    exponent = number.as_tuple().exponent
    if number and (
        number.adjusted() > MAX_DIGITS or not -MAX_DIGITS <= int(exponent) <= MAX_DIGITS
    ):
        raise LimitError(
            f"the number at {schema.pointer(*tokens)} is too long", limit="digits", value=MAX_DIGITS
        )
    return number if number else Decimal(0)


def read_bound(builder: ShapeBuilder, schema: Subschema, keyword: str, value: Json) -> None:
    """`minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, each a number."""
    number = read_number(schema, (keyword,), value)
    bound = Bound(number, keyword.startswith("exclusive"), schema, keyword)
    if keyword in ("minimum", "exclusiveMinimum"):
        low = builder.low
        if low is None or number > low.value or (number == low.value and bound.is_open):
            builder.low = bound
    else:
        high = builder.high
        if high is None or number < high.value or (number == high.value and bound.is_open):
            builder.high = bound


def read_required(builder: ShapeBuilder, schema: Subschema, keyword: str, value: Json) -> None:
    """`required`: a list of names."""
    if not is_names(value):
        raise malformed(schema, keyword, value, "an array of property names")
    builder.required = dict.fromkeys(value, schema)


def read_bound_or_flag(builder: ShapeBuilder, schema: Subschema, keyword: str, value: Json) -> None:
    """`exclusiveMinimum` and `exclusiveMaximum`: numbers, in draft 4 how the bound beside is meant.

    There too numbers, as later drafts have them, are taken at their word.
    """
    if not isinstance(value, bool) or schema.draft > 4:
        read_bound(builder, schema, keyword, value)


def read_multiple(builder: ShapeBuilder, schema: Subschema, keyword: str, value: Json) -> None:
    """`multipleOf`: a number above 0."""
    number = read_number(schema, (keyword,), value)
    if number <= 0:
        raise malformed(schema, keyword, value, "a number above 0")
    builder.multiple = Multiple(number, schema)


def read_unique(builder: ShapeBuilder, schema: Subschema, keyword: str, value: Json) -> None:
    """`uniqueItems`."""
    if not isinstance(value, bool):
        raise malformed(schema, keyword, value, "true or false")
    if value:
        builder.has_rare = True
        builder.unique = schema


def read_min_properties(
    builder: ShapeBuilder, schema: Subschema, keyword: str, value: Json
) -> None:
    """`minProperties`."""
    count = read_minimum_count(schema, keyword, value)
    builder.has_rare = True
    builder.object_minimum = count if count.value else None


def read_max_properties(
    builder: ShapeBuilder, schema: Subschema, keyword: str, value: Json
) -> None:
    """`maxProperties`."""
    builder.has_rare = True
    builder.object_maximum = read_maximum_count(schema, keyword, value)


def read_dependent_required(
    builder: ShapeBuilder, schema: Subschema, keyword: str, value: Json
) -> None:
    """`dependentRequired`: names, and the names that each asks for."""
    if not isinstance(value, dict) or not all(map(is_names, value.values())):
        raise malformed(schema, keyword, value, "an object of arrays of property names")
    builder.has_rare = True
    builder.owes += tuple((name, owed, schema) for name, more in value.items() for owed in more)


def is_names(value: Json) -> bool:
    """Return True for a list of property names."""
    return isinstance(value, list) and are_strings(value)


def are_strings(values: Collection[Json]) -> bool:
    """Return True if all values are strings."""
    return set(map(type, values)) <= _STR or all(isinstance(value, str) for value in values)


ASSERTIONS: dict[str, Handler] = {
    "type": read_type,
    "minLength": read_min_length,
    "maxLength": read_max_length,
    "pattern": read_pattern,
    "minItems": read_min_items,
    "maxItems": read_max_items,
    "minimum": read_bound,
    "maximum": read_bound,
    "exclusiveMinimum": read_bound_or_flag,
    "exclusiveMaximum": read_bound_or_flag,
    "multipleOf": read_multiple,
    "required": read_required,
    "uniqueItems": read_unique,
    "minProperties": read_min_properties,
    "maxProperties": read_max_properties,
    "dependentRequired": read_dependent_required,
}
