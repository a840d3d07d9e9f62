"""What fits one shape and not others: `not`, `else`, and `oneOf`, which is both.

Arrays and objects are taken out of each other one by one (`rivals`). Numbers and strings can say
themselves what they exclude.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from operator import is_
from typing import TYPE_CHECKING, TypeVar

from guided.text.json_schema.algebra.emptiness import Emptiness
from guided.text.json_schema.algebra.intersection import Scalar, meet_numbers, meet_strings, product
from guided.text.json_schema.algebra.negation import not_numbers, not_strings
from guided.text.json_schema.algebra.rivals import ArrayRivals, ObjectRivals
from guided.text.json_schema.algebra.union import lists_only, unite_all
from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.shapes.shape import (
    ANY_ARRAYS,
    ANY_NUMBERS,
    ANY_OBJECTS,
    ANY_STRINGS,
    FALSE,
    NULL,
    TRUE,
    ArrayShape,
    NumberShape,
    ObjectShape,
    Shape,
    StringShape,
)

if TYPE_CHECKING:
    from guided.text.json_schema.reader import Reader

Container = TypeVar("Container", ArrayShape, ObjectShape)

# Up to so many alternatives all are compared, without an index.
_FEW = 3


def without(reader: Reader, shape: Shape, other: Shape, at: Subschema) -> Shape:
    """Return what fits a shape and not another, which came from the schema `at`.

    Raises:
        InexactError: a keyword has no complement that can be said.
        TooManyError: there are too many ways not to fit.
    """
    numbers, strings = not_numbers(other.numbers), not_strings(other.strings)
    arrays, objects = shape.arrays, shape.objects
    if arrays and other.arrays:
        arrays = ArrayRivals(reader, [other.arrays], at).outside_of(arrays, None)
    if objects and other.objects:
        objects = ObjectRivals(reader, [other.objects], at).outside_of(objects, None)
    outside = Shape(
        shape.simple & ~other.simple,
        product(shape.numbers, numbers, ANY_NUMBERS, meet_numbers, reader.emptiness),
        product(shape.strings, strings, ANY_STRINGS, meet_strings, reader.emptiness),
        arrays,
        objects,
    )
    return shape if _is_same(shape, outside) else outside


def _is_same(shape: Shape, outside: Shape) -> bool:
    """Return True if nothing was taken out of a shape."""
    return shape.simple == outside.simple and all(
        len(before) == len(after) and all(map(is_, before, after))
        for before, after in zip(shape[1:5], outside[1:5], strict=True)
    )


def exactly_one(
    reader: Reader, kept: Sequence[Shape], others: Sequence[Shape], at: Subschema
) -> Shape:
    """Return what fits exactly one of some branches.

    `others` are the branches, `kept` the same with all that is known beside them.

    Raises:
        InexactError, TooManyError: see `without`.
    """
    simple = 0
    for bit in (NULL, TRUE, FALSE):
        if sum(1 for shape in kept if shape.simple & bit) == 1:
            simple |= bit
    arrays = [shape.arrays for shape in kept]
    if sum(1 for shape in others if shape.arrays) > 1:
        rivals = ArrayRivals(reader, [shape.arrays for shape in others], at)
        arrays = [rivals.outside_of(each, branch) for branch, each in enumerate(arrays)]
    objects = [shape.objects for shape in kept]
    if sum(1 for shape in others if shape.objects) > 1:
        enemies = ObjectRivals(reader, [shape.objects for shape in others], at)
        objects = [enemies.outside_of(each, branch) for branch, each in enumerate(objects)]
    return Shape(
        simple,
        _one_scalar([one.numbers for one in kept], NumberShape, meet_numbers, reader.emptiness),
        _one_scalar([one.strings for one in kept], StringShape, meet_strings, reader.emptiness),
        unite_all(arrays, ANY_ARRAYS),
        unite_all(objects, ANY_OBJECTS),
    )


def _one_scalar(
    branches: list[tuple[Scalar, ...]],
    kind: type[Scalar],
    meet: Callable[[Scalar, Scalar], Scalar],
    emptiness: Emptiness,
) -> tuple[Scalar, ...]:
    filled = [branch for branch in branches if branch]
    if len(filled) < 2:
        return filled[0] if filled else ()
    # Listed values are counted; what else there is are a few shapes to take out of each other.
    lists = [[one.values for one in branch if one.values and lists_only(one)] for branch in filled]
    shapes = [tuple(one for one in branch if not lists_only(one)) for branch in filled]
    counts = Counter(
        value for each in lists for value in {value for one in each for value in one.members}
    )
    if not any(shapes):
        members = tuple(value for value, count in counts.items() if count == 1)
        return (kind(values=lists[0][0]._replace(members=members)),) if members else ()
    emptiness.budget.spend(len(filled), sum(map(len, filled)))
    apart: dict[frozenset[int], bool] = {}

    def outside(shape: Scalar, others: list[Scalar]) -> Scalar:
        """Take others out of a shape, those with which it has something in common."""
        near = []
        for other in others:
            pair = frozenset((id(shape), id(other)))
            if pair not in apart:
                apart[pair] = emptiness.alternative(meet(shape, other))
            if not apart[pair]:
                near.append(other)
        return meet(shape, kind(excluded=tuple(near))) if near else shape

    found: list[Scalar] = []
    listed = [[kind(values=values) for values in each] for each in lists]
    for number, each in enumerate(lists):
        others = [one for k, more in enumerate(shapes) if k != number for one in more]
        beside = [one for k, more in enumerate(listed) if k != number for one in more]
        for values in each:
            once = tuple(value for value in values.members if counts[value] == 1)
            found.append(outside(kind(values=values._replace(members=once)), others))
        found += [outside(one, others + beside) for one in shapes[number]]
    return tuple(one for one in found if not emptiness.alternative(one))
