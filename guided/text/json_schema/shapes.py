"""The normal form of a schema: for each JSON type, the alternatives that it allows.

A `Shape` is a union. A value fits if it fits one of the alternatives under its own type. Within an
alternative all constraints hold together. The schemas of parts (properties, items) are not read
with the whole: a `Child` names the subschemas that the part must all fit, so recursion is no matter
here, and intersection of objects and arrays is the joining of such names.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Generic, NamedTuple, TypeVar

from guided.text.json_schema.document import Subschema

# All of these subschemas must hold; () is anything.
Child = tuple[Subschema, ...]

Value = TypeVar("Value")

NULL, TRUE, FALSE = 1, 2, 4


class Reason(NamedTuple):
    """Why nothing can fit: an error to be, whose pointer is only made if it is raised."""

    fact: str
    at: Subschema
    tokens: tuple[str | int, ...]
    mend: str


class Count(NamedTuple):
    """A bound on a length, and the keyword that sets it."""

    value: int
    at: Subschema
    keyword: str


class Bound(NamedTuple):
    """A bound on a number, and the keyword that sets it; `is_open`: the number itself is out."""

    value: Decimal
    is_open: bool
    at: Subschema
    keyword: str


class Finite(NamedTuple, Generic[Value]):
    """The values of an enum or a const, in the order given."""

    members: tuple[Value, ...]
    at: Subschema
    keyword: str


class Pattern(NamedTuple):
    """A regular expression that the string must match somewhere."""

    text: str
    at: Subschema


class NumberShape(NamedTuple):
    """Numbers."""

    is_integer: bool = False
    low: Bound | None = None
    high: Bound | None = None
    values: Finite[Decimal] | None = None


class StringShape(NamedTuple):
    """Strings; lengths are in code points."""

    minimum: Count | None = None
    maximum: Count | None = None
    patterns: tuple[Pattern, ...] = ()
    values: Finite[str] | None = None


class ArrayShape(NamedTuple):
    """Arrays: the first items by position, then the rest."""

    prefix: tuple[Child, ...] = ()
    rest: Child = ()
    minimum: Count | None = None
    maximum: Count | None = None


class ObjectShape(NamedTuple):
    """Objects: declared properties in the order of the schema, then additional ones.

    `required` gives for each name the schema that requires it.
    """

    properties: dict[str, Child]
    required: dict[str, Subschema]
    additional: Child = ()


class Shape(NamedTuple):
    """What a schema allows.

    Attributes:
        simple: which of NULL, TRUE, FALSE.
        numbers, strings, arrays, objects: the alternatives of each type.
        reason: why nothing is allowed, if that is already known.
    """

    simple: int = 0
    numbers: tuple[NumberShape, ...] = ()
    strings: tuple[StringShape, ...] = ()
    arrays: tuple[ArrayShape, ...] = ()
    objects: tuple[ObjectShape, ...] = ()
    reason: Reason | None = None


# Compared by identity: what is not constrained costs nothing to intersect and to write.
ANY_NUMBERS = (NumberShape(),)
ANY_INTEGERS = (NumberShape(is_integer=True),)
ANY_STRINGS = (StringShape(),)
ANY_ARRAYS = (ArrayShape(),)
ANY_OBJECTS = (ObjectShape({}, {}),)
ANYTHING = Shape(NULL | TRUE | FALSE, ANY_NUMBERS, ANY_STRINGS, ANY_ARRAYS, ANY_OBJECTS)

OF_TYPE = {
    "null": Shape(NULL),
    "boolean": Shape(TRUE | FALSE),
    "integer": Shape(numbers=ANY_INTEGERS),
    "number": Shape(numbers=ANY_NUMBERS),
    "string": Shape(strings=ANY_STRINGS),
    "array": Shape(arrays=ANY_ARRAYS),
    "object": Shape(objects=ANY_OBJECTS),
}


def is_nothing(shape: Shape) -> bool:
    """Return True if no type is left; a shape may be void for other reasons too."""
    return not (shape.simple or shape.numbers or shape.strings or shape.arrays or shape.objects)


def type_names(shape: Shape) -> str:
    """List the types that a shape allows, for messages."""
    names = []
    if shape.simple & NULL:
        names.append("null")
    if shape.simple & (TRUE | FALSE):
        names.append("boolean")
    if shape.numbers:
        names.append("integer" if all(n.is_integer for n in shape.numbers) else "number")
    for name, alternatives in (
        ("string", shape.strings),
        ("array", shape.arrays),
        ("object", shape.objects),
    ):
        if alternatives:
            names.append(name)
    return " or ".join(names) or "nothing"
