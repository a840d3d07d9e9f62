"""Intersection and union of shapes.

Both are total and cheap: an alternative whose constraints contradict each other is kept, and found
out where it is written (`contradictions`), so that nothing is compared that nobody asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from guided.errors import LimitError
from guided.text.json_schema.document import Subschema
from guided.text.json_schema.shapes import (
    ANY_ARRAYS,
    ANY_NUMBERS,
    ANY_OBJECTS,
    ANY_STRINGS,
    ANYTHING,
    ArrayShape,
    Bound,
    Child,
    Count,
    Finite,
    NumberShape,
    ObjectShape,
    Reason,
    Shape,
    StringShape,
    Value,
    is_nothing,
    type_names,
)

# Bounds the product of unions: anyOf beside anyOf multiplies the branches.
MAX_ALTERNATIVES = 10_000

# Bounds a union itself: branches that differ a little may double at each level of nesting.
MAX_UNION = 30_000

Alternative = TypeVar("Alternative")


def intersect(a: Shape, b: Shape, at: Subschema, tokens: tuple[str | int, ...]) -> Shape:
    """Return what both allow.

    `tokens` lead from `at` to what made `b`, for the message if nothing is left.
    """
    if a is ANYTHING:
        return b
    if b is ANYTHING or a is b:
        return a
    shape = Shape(
        a.simple & b.simple,
        _meet_all(a.numbers, b.numbers, ANY_NUMBERS, _meet_numbers),
        _meet_all(a.strings, b.strings, ANY_STRINGS, _meet_strings),
        _meet_all(a.arrays, b.arrays, ANY_ARRAYS, _meet_arrays),
        _meet_all(a.objects, b.objects, ANY_OBJECTS, _meet_objects),
    )
    if not is_nothing(shape):
        return shape
    return shape._replace(reason=a.reason or b.reason or _disjoint(a, b, at, tokens))


def unite(shapes: Sequence[Shape]) -> Shape:
    """Return what at least one of them allows."""
    if any(shape is ANYTHING for shape in shapes):
        return ANYTHING
    simple = 0
    for shape in shapes:
        simple |= shape.simple
    united = Shape(
        simple,
        _unite_all([shape.numbers for shape in shapes], ANY_NUMBERS),
        _gather_values(_unite_all([shape.strings for shape in shapes], ANY_STRINGS)),
        _unite_all([shape.arrays for shape in shapes], ANY_ARRAYS),
        _unite_all([shape.objects for shape in shapes], ANY_OBJECTS),
    )
    if not is_nothing(united):
        return united
    return united._replace(reason=next((s.reason for s in shapes if s.reason is not None), None))


def join(a: Child, b: Child) -> Child:
    """Return the part that must fit both."""
    if not a or a == b:
        return b
    if not b:
        return a
    return a + tuple(schema for schema in b if schema not in a)


def _disjoint(a: Shape, b: Shape, at: Subschema, tokens: tuple[str | int, ...]) -> Reason:
    return Reason(
        f"no value fits both: one part of the schema allows {type_names(a)},"
        f" another {type_names(b)}",
        at,
        tokens,
        "let them share a type, or take one of them out",
    )


def _unite_all(
    parts: list[tuple[Alternative, ...]], anything: tuple[Alternative, ...]
) -> tuple[Alternative, ...]:
    """Join alternatives, each once; one that is not constrained swallows the others."""
    # By identity: branches that refer to one schema share it, and would double at each level.
    known = {id(alternative): alternative for part in parts for alternative in part}
    if id(anything[0]) in known:
        return anything
    if len(known) > MAX_UNION:
        raise LimitError(
            "too many alternatives in one place", limit="alternatives of one type", value=MAX_UNION
        )
    return tuple(known.values())


def _gather_values(strings: tuple[StringShape, ...]) -> tuple[StringShape, ...]:
    """Make one alternative of all that only list values: many branches of a const are an enum."""
    if len(strings) < 2:
        return strings
    gathered: dict[str, None] = {}
    first: Finite[str] | None = None
    others: list[StringShape] = []
    for shape in strings:
        if shape.values is None or shape.minimum or shape.maximum or shape.patterns:
            others.append(shape)
        else:
            first = first or shape.values
            gathered.update(dict.fromkeys(shape.values.members))
    if first is not None:
        others.append(StringShape(values=first._replace(members=tuple(gathered))))
    return tuple(others)


def _meet_all(
    left: tuple[Alternative, ...],
    right: tuple[Alternative, ...],
    anything: tuple[Alternative, ...],
    meet: Callable[[Alternative, Alternative], Alternative],
) -> tuple[Alternative, ...]:
    if left is right or right is anything:
        return left
    if left is anything:
        return right
    if len(left) * len(right) > MAX_ALTERNATIVES and len(left) > 1 and len(right) > 1:
        raise LimitError(
            f"the schema combines {len(left)} and {len(right)} alternatives with each other",
            limit="alternatives of one type",
            value=MAX_ALTERNATIVES,
        )
    return tuple(meet(a, b) for a in left for b in right)


def _meet_numbers(a: NumberShape, b: NumberShape) -> NumberShape:
    return NumberShape(
        a.is_integer or b.is_integer,
        _higher(a.low, b.low),
        _lower(a.high, b.high),
        _meet_values(a.values, b.values),
    )


def _meet_strings(a: StringShape, b: StringShape) -> StringShape:
    known = {pattern.text for pattern in a.patterns}
    return StringShape(
        larger(a.minimum, b.minimum),
        smaller(a.maximum, b.maximum),
        a.patterns + tuple(pattern for pattern in b.patterns if pattern.text not in known),
        _meet_values(a.values, b.values),
    )


def _meet_arrays(a: ArrayShape, b: ArrayShape) -> ArrayShape:
    if len(a.prefix) < len(b.prefix):
        prefix = a.prefix + (a.rest,) * (len(b.prefix) - len(a.prefix))
        other = b.prefix
    else:
        prefix = a.prefix
        other = b.prefix + (b.rest,) * (len(a.prefix) - len(b.prefix))
    return ArrayShape(
        tuple(map(join, prefix, other)),
        join(a.rest, b.rest),
        larger(a.minimum, b.minimum),
        smaller(a.maximum, b.maximum),
    )


def _meet_objects(a: ObjectShape, b: ObjectShape) -> ObjectShape:
    properties = {
        name: join(child, b.properties.get(name, b.additional))
        for name, child in a.properties.items()
    }
    for name, child in b.properties.items():
        if name not in properties:
            properties[name] = join(a.additional, child)
    return ObjectShape(properties, {**a.required, **b.required}, join(a.additional, b.additional))


def _meet_values(a: Finite[Value] | None, b: Finite[Value] | None) -> Finite[Value] | None:
    if a is None or b is None:
        return a if b is None else b
    allowed = set(b.members)
    return b._replace(members=tuple(value for value in a.members if value in allowed))


def larger(a: Count | None, b: Count | None) -> Count | None:
    """Return the stricter of two minima."""
    if a is None or b is None:
        return a if b is None else b
    return b if b.value > a.value else a


def smaller(a: Count | None, b: Count | None) -> Count | None:
    """Return the stricter of two maxima."""
    if a is None or b is None:
        return a if b is None else b
    return b if b.value < a.value else a


def _higher(a: Bound | None, b: Bound | None) -> Bound | None:
    if a is None or b is None:
        return a if b is None else b
    if a.value == b.value:
        return a if a.is_open else b
    return b if b.value > a.value else a


def _lower(a: Bound | None, b: Bound | None) -> Bound | None:
    if a is None or b is None:
        return a if b is None else b
    if a.value == b.value:
        return a if a.is_open else b
    return b if b.value < a.value else a
