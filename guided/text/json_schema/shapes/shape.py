"""The normal form of a schema: for each JSON type, the alternatives that it allows.

A `Shape` is a union. A value fits if it fits one of the alternatives under its own type. Within an
alternative all constraints hold together. The schemas of parts (properties, items) are not read
with the whole: a `Child` names what the part must all fit, so recursion is no matter here, and
intersection of objects and arrays is the joining of such names.

Shapes are closed under intersection, union and complement (package `algebra`). What a complement
says of some part, "not every property fits", stands in `ObjectShape.some` and
`ArrayShape.contains`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Generic, NamedTuple, TypeVar, Union

from guided.text.json_schema.document.places import Subschema
from guided.text.nodes import GrammarValue

Value = TypeVar("Value")


class Negated(NamedTuple):
    """What does not fit a schema."""

    schema: Subschema


class Either(NamedTuple):
    """What fits at least one of some children."""

    children: tuple[Child, ...]


Term = Union[Subschema, Negated, Either]  # noqa: UP007  (of classes that refer to each other)

# All of these must hold; () is anything.
Child = tuple[Term, ...]

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


class Multiple(NamedTuple):
    """A number, above 0, that the number must be a whole multiple of."""

    value: Decimal
    at: Subschema


class Finite(NamedTuple, Generic[Value]):
    """The values of an enum or a const, in the order given."""

    members: tuple[Value, ...]
    at: Subschema
    keyword: str


class Pattern(NamedTuple):
    """A regular expression that the string must match somewhere."""

    text: str
    at: Subschema


class Format(NamedTuple):
    """The name of a format that the string must have."""

    name: str
    at: Subschema


class Fitting(NamedTuple):
    """A grammar that the string must fit, as it stands for a schema."""

    value: GrammarValue
    at: Subschema


class NumberShape(NamedTuple):
    """Numbers; `excluded` are those that fit one of some other shapes."""

    is_integer: bool = False
    low: Bound | None = None
    high: Bound | None = None
    values: Finite[Decimal] | None = None
    multiples: tuple[Multiple, ...] = ()
    excluded: tuple[NumberShape, ...] = ()


class StringShape(NamedTuple):
    """Strings; lengths are in code points. `excluded` are those that fit one of some others."""

    minimum: Count | None = None
    maximum: Count | None = None
    patterns: tuple[Pattern, ...] = ()
    values: Finite[str] | None = None
    formats: tuple[Format, ...] = ()
    grammars: tuple[Fitting, ...] = ()
    excluded: tuple[StringShape, ...] = ()


class Contains(NamedTuple):
    """How many items fit a child, counted from the position `start` on; the maximum may be None."""

    child: Child
    minimum: int
    maximum: int | None
    at: Subschema
    keyword: str
    start: int = 0


class ArrayShape(NamedTuple):
    """Arrays: the first items by position, then the rest.

    `unique` is the schema that asks for no two equal items. `seen` (only kept where the document
    has `unevaluatedItems`): how many first items were evaluated, None for all of them, and children
    whose items count as evaluated (`contains`).
    """

    prefix: tuple[Child, ...] = ()
    rest: Child = ()
    minimum: Count | None = None
    maximum: Count | None = None
    contains: tuple[Contains, ...] = ()
    unique: Subschema | None = None
    seen: SeenItems | None = None


class SeenItems(NamedTuple):
    """Which items have been evaluated: so many first ones, None for all, and those that fit."""

    number: int | None = 0
    fitting: tuple[Child, ...] = ()


class Group(NamedTuple):
    """`properties`, `patternProperties` and `additionalProperties` as they stand side by side.

    The value of a key must fit `properties[key]` if it is there, the child of each pattern that the
    key matches, and `additional` if neither is the case.
    """

    properties: dict[str, Child]
    patterns: tuple[tuple[Pattern, Child], ...] = ()
    additional: Child = ()


class Some(NamedTuple):
    """At least one key out of a set has a value that fits a child, or one of `others` holds.

    The key must be `name` if that is set, match all of `matching`, none of `avoiding`, be none of
    `names`, and fit `key`. The others have no others.
    """

    child: Child
    at: Subschema
    matching: tuple[Pattern, ...] = ()
    avoiding: tuple[Pattern, ...] = ()
    names: frozenset[str] = frozenset()
    key: Child = ()
    name: str | None = None
    others: tuple[Some, ...] = ()


class SeenKeys(NamedTuple):
    """Which properties the keywords of a schema have evaluated; `all_keys`: every one."""

    all_keys: bool = False
    names: frozenset[str] = frozenset()
    patterns: tuple[Pattern, ...] = ()


class ObjectShape(NamedTuple):
    """Objects.

    Attributes:
        groups: all must hold; the first mention of a name decides on its place in the order.
        required: for each name that must be there the schema that requires it.
        keys: what every key must fit, as a string (`propertyNames`).
        minimum, maximum: of the number of properties.
        owes: where the first name is there, the second must be too (`dependentRequired`).
        some: obligations, each to be met by one property at least.
        seen: only kept where the document has `unevaluatedProperties`.
    """

    groups: tuple[Group, ...] = ()
    required: dict[str, Subschema] = {}  # noqa: RUF012  (never changed)
    keys: Child = ()
    minimum: Count | None = None
    maximum: Count | None = None
    owes: tuple[tuple[str, str, Subschema], ...] = ()
    some: tuple[Some, ...] = ()
    seen: SeenKeys | None = None


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
ANY_OBJECTS = (ObjectShape(),)
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
