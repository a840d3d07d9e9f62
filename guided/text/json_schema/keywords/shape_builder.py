"""Gathers what the keywords of one schema say, and makes a shape of it."""

from __future__ import annotations

from guided.text.json_schema.document.places import Json, Subschema
from guided.text.json_schema.shapes.shape import (
    ANY_ARRAYS,
    ANY_INTEGERS,
    ANY_NUMBERS,
    ANY_OBJECTS,
    ANY_STRINGS,
    ANYTHING,
    FALSE,
    NULL,
    TRUE,
    ArrayShape,
    Bound,
    Child,
    Contains,
    Count,
    Group,
    Multiple,
    NumberShape,
    ObjectShape,
    Pattern,
    Shape,
    StringShape,
)


class ShapeBuilder:
    """The facts of one schema; those not set are the class's, which makes a new one cheap."""

    types: list[str] | None = None
    string = StringShape()
    array_minimum: Count | None = None
    array_maximum: Count | None = None
    contains: Contains | None = None
    unique: Subschema | None = None
    low: Bound | None = None
    high: Bound | None = None
    multiple: Multiple | None = None
    properties: dict[str, Child] | None = None
    patterns: tuple[tuple[Pattern, Child], ...] = ()
    required: dict[str, Subschema] | None = None
    additional: Child = ()
    keys: Child = ()
    object_minimum: Count | None = None
    object_maximum: Count | None = None
    owes: tuple[tuple[str, str, Subschema], ...] = ()
    prefix: tuple[Child, ...] = ()
    rest: Child = ()
    unevaluated: tuple[str, ...] = ()
    # Said by keywords that few schemas have: looked at only if so.
    has_rare = False

    def obey_flags(self, schema: dict[str, Json]) -> None:
        """Let the bounds obey the boolean exclusiveMinimum and exclusiveMaximum of draft 4."""
        if self.low is not None and schema.get("exclusiveMinimum") is True:
            self.low = self.low._replace(is_open=True)
        if self.high is not None and schema.get("exclusiveMaximum") is True:
            self.high = self.high._replace(is_open=True)

    def shape(self) -> Shape:
        """Make a shape of them, each type for itself."""
        types = self.types
        if types is not None and len(types) == 1:
            return self._of_type(types[0])
        strings = self._strings()
        if types is not None:
            numbers: tuple[NumberShape, ...] = ()
            if "number" in types or "integer" in types:
                numbers = self._numbers(is_integer="number" not in types)
            return Shape(
                (NULL if "null" in types else 0) | (TRUE | FALSE if "boolean" in types else 0),
                numbers,
                strings if "string" in types else (),
                self._arrays() if "array" in types else (),
                self._objects() if "object" in types else (),
            )
        numbers, arrays, objects = self._numbers(), self._arrays(), self._objects()
        if (
            numbers is ANY_NUMBERS
            and strings is ANY_STRINGS
            and arrays is ANY_ARRAYS
            and objects is ANY_OBJECTS
        ):
            return ANYTHING
        return Shape(NULL | TRUE | FALSE, numbers, strings, arrays, objects)

    def _of_type(self, name: str) -> Shape:
        """Make a shape of one type."""
        if name == "object":
            return Shape(objects=self._objects())
        if name == "string":
            return Shape(strings=self._strings())
        if name == "array":
            return Shape(arrays=self._arrays())
        if name == "number" or name == "integer":
            return Shape(numbers=self._numbers(is_integer=name == "integer"))
        return Shape(NULL if name == "null" else TRUE | FALSE)

    def _strings(self) -> tuple[StringShape, ...]:
        # An untouched fact is still that of the class.
        return ANY_STRINGS if self.string is ShapeBuilder.string else (self.string,)

    def _numbers(self, *, is_integer: bool = False) -> tuple[NumberShape, ...]:
        if self.low is None and self.high is None and self.multiple is None:
            return ANY_INTEGERS if is_integer else ANY_NUMBERS
        multiples = () if self.multiple is None else (self.multiple,)
        return (NumberShape(is_integer, self.low, self.high, None, multiples),)

    def _arrays(self) -> tuple[ArrayShape, ...]:
        minimum, maximum = self.array_minimum, self.array_maximum
        if self.has_rare and (self.contains is not None or self.unique is not None):
            contains = () if self.contains is None else (self.contains,)
            return (ArrayShape(self.prefix, self.rest, minimum, maximum, contains, self.unique),)
        if self.prefix or self.rest or minimum is not None or maximum is not None:
            return (ArrayShape(self.prefix, self.rest, minimum, maximum),)
        return ANY_ARRAYS

    def _objects(self) -> tuple[ObjectShape, ...]:
        groups: tuple[Group, ...] = ()
        if self.properties or self.additional or self.patterns:
            groups = (Group(self.properties or {}, self.patterns, self.additional),)
        required = self.required or {}
        minimum, maximum = self.object_minimum, self.object_maximum
        if self.has_rare and (self.keys or self.owes or minimum is not None or maximum is not None):
            return (ObjectShape(groups, required, self.keys, minimum, maximum, self.owes),)
        return (ObjectShape(groups, required),) if groups or required else ANY_OBJECTS
