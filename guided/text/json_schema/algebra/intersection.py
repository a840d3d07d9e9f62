"""Intersection of shapes.

It is cheap: of two single alternatives a contradiction is kept, and found out where it is written,
so that nothing is compared that nobody asks for. Only where unions are
multiplied are alternatives that nothing fits struck out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from guided.text.json_schema.algebra.budget import MAX_ALTERNATIVES, TooManyError
from guided.text.json_schema.algebra.union import Alternative, absorb, lists_only
from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.shapes.children import join
from guided.text.json_schema.shapes.evaluated import join_items, join_keys
from guided.text.json_schema.shapes.shape import (
    ANY_ARRAYS,
    ANY_NUMBERS,
    ANY_OBJECTS,
    ANY_STRINGS,
    ANYTHING,
    ArrayShape,
    Bound,
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

if TYPE_CHECKING:
    from guided.text.json_schema.algebra.emptiness import Emptiness

# Products up to this size are not worth looking through for alternatives that nothing fits.
_FEW = 4

Part = TypeVar("Part")
Scalar = TypeVar("Scalar", NumberShape, StringShape)


def intersect(
    a: Shape,
    b: Shape,
    at: Subschema,
    tokens: tuple[str | int, ...],
    emptiness: Emptiness | None = None,
) -> Shape:
    """Return what both allow.

    `tokens` lead from `at` to what made `b`, for the message if nothing is left.

    Raises:
        TooManyError: the product of their alternatives is too large.
    """
    if a is ANYTHING:
        return b
    if b is ANYTHING or a is b:
        return a
    shape = Shape(
        a.simple & b.simple,
        product(a.numbers, b.numbers, ANY_NUMBERS, meet_numbers, emptiness),
        product(a.strings, b.strings, ANY_STRINGS, meet_strings, emptiness),
        product(a.arrays, b.arrays, ANY_ARRAYS, meet_arrays, emptiness),
        product(a.objects, b.objects, ANY_OBJECTS, meet_objects, emptiness),
    )
    if not is_nothing(shape):
        return shape
    return shape._replace(reason=a.reason or b.reason or _disjoint(a, b, at, tokens))


def product(
    left: tuple[Alternative, ...],
    right: tuple[Alternative, ...],
    anything: tuple[Alternative, ...],
    meet: Callable[[Alternative, Alternative], Alternative],
    emptiness: Emptiness | None,
) -> tuple[Alternative, ...]:
    """Return what fits an alternative of `left` and one of `right`."""
    if left is right or right is anything:
        return left
    if left is anything:
        return right
    if len(left) == 1 and len(right) == 1:
        return (meet(left[0], right[0]),)
    if not left or not right:
        return ()
    # (A or B) and (A or C) is A or (B and C).
    shared = {id(a): a for a in left}.keys() & {id(b) for b in right}
    found = [a for a in left if id(a) in shared]
    if shared:
        left = tuple(a for a in left if id(a) not in shared)
        right = tuple(b for b in right if id(b) not in shared)
    if emptiness is None or len(left) * len(right) <= _FEW:
        return (*found, *(meet(a, b) for a in left for b in right))
    emptiness.budget.spend(len(left), len(right))
    for a in left:
        for b in right:
            both = meet(a, b)
            if not emptiness.alternative(both):
                found.append(both)
        if len(found) > MAX_ALTERNATIVES:
            raise TooManyError(len(left), len(right))
    # One that nothing fits is kept, to say why.
    return tuple(absorb(found)) or (meet(left[0], right[0]),)


def meet_numbers(a: NumberShape, b: NumberShape) -> NumberShape:
    """Return the numbers that fit both."""
    shape = NumberShape(
        a.is_integer or b.is_integer,
        _higher(a.low, b.low),
        _lower(a.high, b.high),
        _meet_values(a.values, b.values),
        _join(a.multiples, b.multiples),
        _join(a.excluded, b.excluded),
    )
    return _without_listed(shape) if shape.excluded and shape.values else shape


def meet_strings(a: StringShape, b: StringShape) -> StringShape:
    """Return the strings that fit both."""
    texts = {pattern.text for pattern in a.patterns}
    names = {one.name for one in a.formats}
    shape = StringShape(
        larger(a.minimum, b.minimum),
        smaller(a.maximum, b.maximum),
        a.patterns + tuple(pattern for pattern in b.patterns if pattern.text not in texts),
        _meet_values(a.values, b.values),
        a.formats + tuple(one for one in b.formats if one.name not in names),
        a.grammars + tuple(one for one in b.grammars if one not in a.grammars),
        _join(a.excluded, b.excluded),
    )
    return _without_listed(shape) if shape.excluded and shape.values else shape


def meet_arrays(a: ArrayShape, b: ArrayShape) -> ArrayShape:
    """Return the arrays that fit both."""
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
        _join(a.contains, b.contains),
        a.unique or b.unique,
        join_items(a.seen, b.seen),
    )


def meet_objects(a: ObjectShape, b: ObjectShape) -> ObjectShape:
    """Return the objects that fit both."""
    return ObjectShape(
        _join(a.groups, b.groups),
        {**a.required, **b.required} if a.required and b.required else a.required or b.required,
        join(a.keys, b.keys),
        larger(a.minimum, b.minimum),
        smaller(a.maximum, b.maximum),
        _join(a.owes, b.owes),
        _join(a.some, b.some),
        join_keys(a.seen, b.seen),
    )


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


def _disjoint(a: Shape, b: Shape, at: Subschema, tokens: tuple[str | int, ...]) -> Reason:
    return Reason(
        f"no value fits both: one part of the schema allows {type_names(a)},"
        f" another {type_names(b)}",
        at,
        tokens,
        "let them share a type, or take one of them out",
    )


def _join(a: tuple[Part, ...], b: tuple[Part, ...]) -> tuple[Part, ...]:
    """Join two lists of things that must all hold, each once."""
    if not b or a is b:
        return a
    if not a:
        return b
    known = set(map(id, a))
    more = tuple(part for part in b if id(part) not in known)
    return a + more if more else a


def _meet_values(a: Finite[Value] | None, b: Finite[Value] | None) -> Finite[Value] | None:
    if a is None or b is None:
        return a if b is None else b
    allowed = set(b.members)
    return b._replace(members=tuple(value for value in a.members if value in allowed))


def _without_listed(shape: Scalar) -> Scalar:
    """Take excluded values out of the list of those allowed."""
    listed = [one.values.members for one in shape.excluded if one.values and lists_only(one)]
    if shape.values is None or not listed:
        return shape
    out = set().union(*listed)
    return shape._replace(
        values=shape.values._replace(
            members=tuple(v for v in shape.values.members if v not in out)
        ),
        excluded=tuple(one for one in shape.excluded if not lists_only(one)),
    )


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
