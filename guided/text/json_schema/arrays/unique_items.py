"""The values of items that must differ (`uniqueItems`): their types, and where they are few.

Values run out: of a set of few values there can be no more items than it has values, and an item of
few values may find them all taken by those before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.numbers.sets import number_set
from guided.text.json_schema.shapes.children import join
from guided.text.json_schema.shapes.shape import (
    ANY_ARRAYS,
    ANY_NUMBERS,
    ANY_OBJECTS,
    ANYTHING,
    FALSE,
    NULL,
    OF_TYPE,
    TRUE,
    Child,
    Finite,
    NumberShape,
    Shape,
    StringShape,
)
from guided.text.json_schema.strings.byte_walk import ByteWalk
from guided.text.json_schema.strings.contents import Contents
from guided.text.json_schema.strings.partition import is_plainly_endless

if TYPE_CHECKING:
    from guided.text.json_schema.writer import Writer

# A set with more values has room for whatever is written.
MANY_VALUES = 1_000

# A value, with its type, for 1 is no true.
Scalar = tuple[str, object]


class UniqueItem(NamedTuple):
    """What a child allows, split: the nodes of its strings and other scalars.

    `containers` is the child for its arrays and objects, None if it allows none.
    """

    strings: int
    others: int
    containers: Child | None


class ItemSplitter:
    """Splits children by the types of values, for one writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        root = writer.reader.document.root
        self._strings = _restriction(OF_TYPE["string"], root)
        self._others = _restriction(Shape(NULL | TRUE | FALSE, ANY_NUMBERS), root)
        self._containers = _restriction(Shape(arrays=ANY_ARRAYS, objects=ANY_OBJECTS), root)

    def split(self, child: Child, level: int) -> UniqueItem:
        """Split what a child allows."""
        writer = self._writer
        containers = join(child, self._containers)
        return UniqueItem(
            writer.value(join(child, self._strings), level),
            writer.value(join(child, self._others), level),
            None if writer.reader.is_void(containers) else containers,
        )

    def values(self, child: Child, *, counts_texts: bool) -> list[Scalar] | None:
        """Return the values of a child, None if they are many, or unknown.

        `counts_texts`: find out how many strings there are, if they are not listed.
        """
        reader = self._writer.reader
        shape = reader.shape(reader.resolve(child)) if child else ANYTHING
        if shape.arrays or shape.objects:
            return None
        names = ((NULL, "null"), (TRUE, "true"), (FALSE, "false"))
        found: dict[Scalar, None] = {
            ("literal", name): None for bit, name in names if shape.simple & bit
        }
        for strings in shape.strings:
            if strings.values is None and not counts_texts:
                return None
            texts = _texts_of(strings, reader.texts.contents)
            if texts is None:
                return None
            found.update((("string", text), None) for text in texts)
        for numbers in shape.numbers:
            values = _numbers_of(numbers)
            if values is None:
                return None
            found.update((("number", value), None) for value in values)
        return list(found) if len(found) <= MANY_VALUES else None

    def node(self, value: Scalar) -> int:
        """Write one value."""
        kind, content = value
        scalars = self._writer.scalars
        if isinstance(content, Fraction):
            one = Finite((_decimal(content),), self._writer.reader.document.root, "const")
            return scalars.number(NumberShape(values=one))
        assert isinstance(content, str)
        if kind == "string":
            return scalars.spelling.string(self._writer.arena, content)
        return self._writer.arena.literal(content)


def _restriction(shape: Shape, root: Subschema) -> Child:
    """Return a child that allows some types only."""
    schema = Subschema({}, root, ())
    schema.shape = shape
    return (schema,)


def room(places: Sequence[list[Scalar] | None], rest: list[Scalar] | None, minimum: int) -> int:
    """Return `minimum` if so many items can be found, whatever the first of them are; else fewer.

    Args:
        places: the values of each of the first items, None for many.
        rest: the same for all items after those.

    Raises:
        MayRunOutError: it depends on what the items before are.
    """
    sets = [None if values is None else frozenset(values) for values in places]
    for place, values in enumerate(sets[:minimum]):
        if values is None:
            continue
        rivals = [other for other in sets[:place] if other is None or other & values]
        if len(values) > len(rivals):
            continue
        if None in rivals or len(values.union(*filter(None, rivals))) > len(rivals):
            raise MayRunOutError
        return place
    if rest is None or minimum <= len(places):
        return minimum
    last = frozenset(rest)
    rivals = [other for other in sets if other is None or other & last]
    count = len(places) + len(rest) - len(rivals)
    if minimum <= count:
        return minimum
    if any(values is None or not values <= last for values in rivals):
        raise MayRunOutError
    return count


class MayRunOutError(Exception):
    """An item may find all its values taken, or not."""


def _texts_of(shape: StringShape, contents: Contents) -> list[str] | None:
    """Return the strings of a shape, None if they are many."""
    if shape.values is not None:
        return contents.fitting(shape)
    node = contents.content(shape)
    if is_plainly_endless(contents.arena, node):
        return None
    texts = ByteWalk(contents.arena, node).texts(MANY_VALUES)
    return None if texts is None else [text.decode() for text in texts]


def _numbers_of(shape: NumberShape) -> list[Fraction] | None:
    """Return the numbers of a shape, None if there are many."""
    numbers = number_set(shape)
    if numbers.values is not None:
        return sorted(value for value in numbers.values if value in numbers)
    low, high, step = numbers.low, numbers.high, numbers.step
    if low is None or high is None:
        return None
    if low.value == high.value:
        return [low.value] if low.value in numbers else []
    if step is None or (high.value - low.value) / step > MANY_VALUES:
        return None
    multiples = range(ceil(low.value / step), floor(high.value / step) + 1)
    return [value for value in (step * k for k in multiples) if value in numbers]


def _decimal(value: Fraction) -> Decimal:
    """Return the decimal that a fraction is."""
    digits = len(str(value.numerator)) + 4 * len(str(value.denominator))
    return Context(prec=digits).divide(Decimal(value.numerator), Decimal(value.denominator))
