"""Why an alternative cannot be fulfilled, in the words of the message."""

from __future__ import annotations

from decimal import Decimal

from guided.text.json_schema.document import Subschema, describe
from guided.text.json_schema.numbers import greatest_integer, holds, least_integer
from guided.text.json_schema.shapes import (
    Count,
    NumberShape,
    ObjectShape,
    Pattern,
    Reason,
    StringShape,
)


def contrary_counts(
    minimum: Count | None, maximum: Count | None, what: str, unit: str
) -> Reason | None:
    """Return why no `what` can have a length within both bounds."""
    if minimum is None or maximum is None or minimum.value <= maximum.value:
        return None
    low, high = minimum.value, maximum.value
    return Reason(
        f"no {what} can have at least {low} and at most {high} {unit}",
        minimum.at,
        (minimum.keyword,),
        f"lower {minimum.keyword} to {high} or raise {maximum.keyword} to {low}",
    )


def contrary_bounds(shape: NumberShape) -> Reason | None:
    """Return why no number lies between the bounds of a shape."""
    low, high = shape.low, shape.high
    if low is None or high is None:
        return None
    kind = "integer" if shape.is_integer else "number"
    if shape.is_integer:
        is_void = least_integer(low) > greatest_integer(high)
    else:
        is_open = low.is_open or high.is_open
        is_void = low.value > high.value or (low.value == high.value and is_open)
    if not is_void:
        return None
    least = f"more than {low.value}" if low.is_open else f"at least {low.value}"
    most = f"less than {high.value}" if high.is_open else f"at most {high.value}"
    return Reason(
        f"no {kind} can be {least} and {most}",
        low.at,
        (low.keyword,),
        f"lower {low.keyword} or raise {high.keyword}",
    )


def fitting_numbers(shape: NumberShape) -> tuple[Decimal, ...]:
    """Return the listed numbers that satisfy the other constraints."""
    assert shape.values is not None
    return tuple(value for value in shape.values.members if holds(shape, value))


def none_of_list(shape: NumberShape | StringShape) -> Reason:
    """Return that no listed value is left."""
    assert shape.values is not None
    what = "number" if isinstance(shape, NumberShape) else "string"
    return Reason(
        f"no {what} of the {shape.values.keyword} fits what else is asked of it",
        shape.values.at,
        (shape.values.keyword,),
        "list a value that fits, or take the other constraints out",
    )


def no_match(shape: StringShape) -> Reason:
    """Return that the patterns and lengths of a shape exclude each other."""
    pattern: Pattern = shape.patterns[0]
    wishes = [f"match {describe(other.text)}" for other in shape.patterns]
    wishes += [f"have at least {shape.minimum.value} characters"] if shape.minimum else []
    wishes += [f"have at most {shape.maximum.value} characters"] if shape.maximum else []
    return Reason(
        f"no string can {' and '.join(wishes)}",
        pattern.at,
        ("pattern",),
        "change the pattern or the lengths" if len(wishes) > 1 else "change the pattern",
    )


def forbidden_property(name: str, shape: ObjectShape) -> Reason:
    """Return that a required property is false, or neither declared nor allowed otherwise."""
    at = shape.required[name]
    shown = name.encode("utf-8", "backslashreplace").decode()
    return Reason(
        f'property "{shown}" is required, but no property of that name is allowed',
        at,
        ("required",) if "required" in at.value else (),
        f'allow "{shown}" in properties, or take it out of required',
    )


def too_few_places(minimum: Count, places: int) -> Reason:
    """Return that an array must have more items than there may be."""
    return Reason(
        f"no array can have at least {minimum.value} items when only {places} are allowed",
        minimum.at,
        (minimum.keyword,),
        f"lower {minimum.keyword} to {places}, or allow more items",
    )


def nothing_fits(at: Subschema) -> Reason:
    """Return that nothing fits a schema, for want of a better reason."""
    return Reason("no value fits the schema", at, (), "take a constraint out")


def lone_surrogate(text: str, at: Subschema, tokens: tuple[str | int, ...]) -> Reason:
    """Return that a string cannot be written as UTF-8."""
    shown = text.encode("ascii", "backslashreplace").decode()
    return Reason(
        f'"{shown}" holds half of a surrogate pair, which no UTF-8 text can spell',
        at,
        tokens,
        "take it out, or write the whole pair",
    )


def endless(at: Subschema) -> Reason:
    """Return that a recursion has no way out."""
    return Reason(
        f"the recursion never ends: a value of {at.pointer() or 'the schema'} must contain another",
        at,
        (),
        "make the property that leads back optional, or allow null or an empty array there",
    )


def too_deep_to_indent(at: Subschema, levels: int) -> Reason:
    """Return that an indented value must go deeper than the levels counted out."""
    return Reason(
        f"a value with more than {levels} levels cannot be indented",
        at,
        (),
        'compile with whitespace="flexible" or "compact"',
    )
