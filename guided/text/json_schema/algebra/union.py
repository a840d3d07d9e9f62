"""Union of shapes: the alternatives of all, each once, without those that others hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from guided.errors import LimitError
from guided.text.json_schema.shapes.shape import (
    ANY_ARRAYS,
    ANY_NUMBERS,
    ANY_OBJECTS,
    ANY_STRINGS,
    ANYTHING,
    Finite,
    NumberShape,
    ObjectShape,
    Shape,
    StringShape,
    is_nothing,
)

# Bounds a union itself: branches that differ a little may double at each level of nesting.
MAX_UNION = 30_000

# Alternatives that are compared with each other to leave out those that others hold.
_MAX_ABSORBED = 300

Alternative = TypeVar("Alternative")


def unite(shapes: Sequence[Shape]) -> Shape:
    """Return what at least one of them allows."""
    if any(shape is ANYTHING for shape in shapes):
        return ANYTHING
    simple = 0
    for shape in shapes:
        simple |= shape.simple
    united = Shape(
        simple,
        unite_all([shape.numbers for shape in shapes], ANY_NUMBERS),
        _gather_values(unite_all([shape.strings for shape in shapes], ANY_STRINGS)),
        unite_all([shape.arrays for shape in shapes], ANY_ARRAYS),
        unite_all([shape.objects for shape in shapes], ANY_OBJECTS),
    )
    if not is_nothing(united):
        return united
    return united._replace(reason=next((s.reason for s in shapes if s.reason is not None), None))


def unite_all(
    parts: Sequence[tuple[Alternative, ...]], anything: tuple[Alternative, ...]
) -> tuple[Alternative, ...]:
    """Join alternatives, each once; one that is not constrained swallows the others."""
    # By identity: branches that refer to one schema share it, and would double at each level.
    known = {id(alternative): alternative for part in parts for alternative in part}
    if id(anything[0]) in known and not any(getattr(one, "seen", None) for one in known.values()):
        return anything
    if len(known) > MAX_UNION:
        raise LimitError(
            "too many alternatives in one place", limit="alternatives of one type", value=MAX_UNION
        )
    return tuple(known.values())


def absorb(alternatives: list[Alternative]) -> list[Alternative]:
    """Leave out objects that ask for all that others ask for, and more."""
    if not 1 < len(alternatives) <= _MAX_ABSORBED:
        return alternatives
    marked = [(_demands(one), one) for one in alternatives if isinstance(one, ObjectShape)]
    if len(marked) < len(alternatives):
        return alternatives
    kept: list[tuple[frozenset[object], ObjectShape]] = []
    for demands, one in sorted(marked, key=lambda pair: len(pair[0])):
        if not any(wide <= demands and other.seen == one.seen for wide, other in kept):
            kept.append((demands, one))
    if len(kept) == len(alternatives):
        return alternatives
    left = {id(one) for _, one in kept}
    return [one for one in alternatives if id(one) in left]


def lists_only(shape: NumberShape | StringShape) -> bool:
    """Return True if a shape lists values and says nothing else."""
    return shape.values is not None and shape._replace(values=None) == type(shape)()


def _demands(shape: ObjectShape) -> frozenset[object]:
    """Return what an alternative asks for, as things that can be compared."""
    demands: set[object] = {*shape.required, *map(id, shape.groups), *map(id, shape.some)}
    demands.update(shape.keys)
    demands.update(shape.owes)
    if shape.minimum is not None:
        demands.add(("minimum", shape.minimum.value))
    if shape.maximum is not None:
        demands.add(("maximum", shape.maximum.value))
    return frozenset(demands)


def _gather_values(strings: tuple[StringShape, ...]) -> tuple[StringShape, ...]:
    """Make one alternative of all that only list values: many branches of a const are an enum."""
    if len(strings) < 2:
        return strings
    gathered: dict[str, None] = {}
    first: Finite[str] | None = None
    others: list[StringShape] = []
    for shape in strings:
        if shape.values is None or not lists_only(shape):
            others.append(shape)
        else:
            first = first or shape.values
            gathered.update(dict.fromkeys(shape.values.members))
    if first is not None:
        others.append(StringShape(values=first._replace(members=tuple(gathered))))
    return tuple(others)
