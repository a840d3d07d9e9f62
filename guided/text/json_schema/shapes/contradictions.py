"""Why an alternative cannot be fulfilled, in the words of the message."""

from __future__ import annotations

from guided.text.json_schema.document.places import Subschema, describe
from guided.text.json_schema.shapes.shape import (
    Contains,
    Count,
    NumberShape,
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


def no_number(shape: NumberShape) -> Reason | None:
    """Return that no number fits all that a shape asks, unless there is no place to blame."""
    low, high, multiples = shape.low, shape.high, shape.multiples
    wishes, mends = [], []
    if low is not None:
        wishes.append(f"more than {low.value}" if low.is_open else f"at least {low.value}")
        mends.append(f"lower {low.keyword}")
    if high is not None:
        wishes.append(f"less than {high.value}" if high.is_open else f"at most {high.value}")
        mends.append(f"raise {high.keyword}")
    wishes += [f"a multiple of {multiple.value}" for multiple in multiples]
    wishes += ["none of those excluded"] if shape.excluded else []
    mends += ["exclude less"] if shape.excluded else []
    kind = "integer" if shape.is_integer else "number"
    fact = f"no {kind} can be {_listing(wishes)}"
    place = _place_of_numbers(shape)
    return place and Reason(fact, place[0], (place[1],), " or ".join(mends))


def _place_of_numbers(shape: NumberShape) -> tuple[Subschema, str] | None:
    """Return a keyword that constrains the numbers of a shape, if one is known."""
    for part in (shape.low, shape.high, shape.values):
        if part is not None:
            return part.at, part.keyword
    if shape.multiples:
        return shape.multiples[0].at, "multipleOf"
    return next(filter(None, map(_place_of_numbers, shape.excluded)), None)


def _listing(wishes: list[str]) -> str:
    return " and ".join([", ".join(wishes[:-1]), wishes[-1]] if len(wishes) > 1 else wishes)


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


def no_match(shape: StringShape) -> Reason | None:
    """Return that what a string must be contradicts itself; None if no keyword says what."""
    parts = [
        ("the pattern" if len(shape.patterns) == 1 else "a pattern", bool(shape.patterns)),
        ("the format", bool(shape.formats)),
        ("the grammar", bool(shape.grammars)),
        ("the lengths", bool(shape.minimum or shape.maximum)),
        ("what is excluded", bool(shape.excluded)),
    ]
    place = _string_place(shape)
    if place is None:
        return None
    at, keyword = place
    return Reason(
        f"no string can {' and '.join(_string_wishes(shape))}",
        at,
        (keyword,) if isinstance(at.value, dict) and keyword in at.value else (),
        f"change {' or '.join(name for name, is_there in parts if is_there)}",
    )


def _string_wishes(shape: StringShape) -> list[str]:
    """Return what a string must do to fit a shape."""
    wishes = [f"match {describe(pattern.text)}" for pattern in shape.patterns]
    wishes += [f"have the format {describe(one.name)}" for one in shape.formats]
    wishes += ["fit the grammar"] * len(shape.grammars)
    wishes += [f"have at least {shape.minimum.value} characters"] if shape.minimum else []
    wishes += [f"have at most {shape.maximum.value} characters"] if shape.maximum else []
    wishes += [f"be listed in the {shape.values.keyword}"] if shape.values else []
    for other in shape.excluded:
        avoided = _string_wishes(other) or ["be a string"]
        text = " and ".join(avoided)
        wishes.append(f"not {text}" if len(avoided) == 1 else f"not ({text})")
    return wishes


def _string_place(shape: StringShape) -> tuple[Subschema, str] | None:
    """Return the first keyword of a shape and the schema it stands in."""
    if shape.patterns:
        return shape.patterns[0].at, "pattern"
    if shape.formats:
        return shape.formats[0].at, "format"
    if shape.grammars:
        return shape.grammars[0].at, ""
    for one in (shape.minimum, shape.maximum, shape.values):
        if one is not None:
            return one.at, one.keyword
    return next(filter(None, map(_string_place, shape.excluded)), None)


def forbidden_property(name: str, at: Subschema) -> Reason:
    """Return that a property that `at` requires is false, or not allowed by anything else."""
    shown = name.encode("utf-8", "backslashreplace").decode()
    return Reason(
        f'property "{shown}" is required, but no property of that name is allowed',
        at,
        ("required",) if "required" in at.value else (),
        f'allow "{shown}" in properties, or take it out of required',
    )


def too_many_required(maximum: Count, required: int) -> Reason:
    """Return that an object must have more properties than it may have."""
    return Reason(
        f"no object can have at most {maximum.value} properties when {required} are required",
        maximum.at,
        (maximum.keyword,),
        f"raise {maximum.keyword} to {required}, or require fewer properties",
    )


def too_few_names(minimum: Count, names: int) -> Reason:
    """Return that an object must have more properties than there may be."""
    return Reason(
        f"no object can have at least {minimum.value} properties when only {names} are allowed",
        minimum.at,
        (minimum.keyword,),
        f"lower {minimum.keyword} to {names}, or allow more properties",
    )


def nothing_unfit(at: Subschema) -> Reason:
    """Return that all properties that may be there fit what one of them must not fit."""
    return Reason(
        "some property must not fit a schema, and all that are allowed fit it",
        at,
        (),
        "allow other properties, or take the negation out",
    )


def too_few_fitting(contains: Contains, places: int) -> Reason:
    """Return that more items must fit `contains` than can."""
    least, keyword = contains.minimum, contains.keyword
    return Reason(
        f"no array can have at least {least} items that fit {keyword} when only {places} can",
        contains.at,
        (keyword,),
        f"allow more items that fit {keyword}, or ask for fewer",
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
