"""What the keywords of one schema said, before it becomes a shape."""

from __future__ import annotations

from guided.text.json_schema.document import Json, Subschema
from guided.text.json_schema.shapes import (
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
    Count,
    NumberShape,
    ObjectShape,
    Shape,
    StringShape,
)


class Facts:
    """The facts of one schema; those not set are the class's, which makes a new one cheap."""

    types: list[str] | None = None
    string = StringShape()
    array_minimum: Count | None = None
    array_maximum: Count | None = None
    low: Bound | None = None
    high: Bound | None = None
    properties: dict[str, Child] | None = None
    required: dict[str, Subschema] | None = None
    additional: Child = ()
    prefix: tuple[Child, ...] = ()
    rest: Child = ()

    def obey_flags(self, schema: dict[str, Json]) -> None:
        """Let the bounds obey the boolean exclusiveMinimum and exclusiveMaximum of draft 4."""
        if self.low is not None and schema.get("exclusiveMinimum") is True:
            self.low = self.low._replace(is_open=True)
        if self.high is not None and schema.get("exclusiveMaximum") is True:
            self.high = self.high._replace(is_open=True)

    def shape(self) -> Shape:
        """Make a shape of them, each type for itself."""
        if self.low is None and self.high is None:
            numbers, integers = ANY_NUMBERS, ANY_INTEGERS
        else:
            numbers = (NumberShape(False, self.low, self.high),)
            integers = (NumberShape(True, self.low, self.high),)
        # An untouched fact is still that of the class.
        strings = ANY_STRINGS if self.string is Facts.string else (self.string,)
        if self.prefix or self.rest or self.array_minimum or self.array_maximum:
            arrays: tuple[ArrayShape, ...] = (
                ArrayShape(self.prefix, self.rest, self.array_minimum, self.array_maximum),
            )
        else:
            arrays = ANY_ARRAYS
        if self.properties or self.required or self.additional:
            objects: tuple[ObjectShape, ...] = (
                ObjectShape(self.properties or {}, self.required or {}, self.additional),
            )
        else:
            objects = ANY_OBJECTS
        types = self.types
        if types is None:
            if (
                numbers is ANY_NUMBERS
                and strings is ANY_STRINGS
                and arrays is ANY_ARRAYS
                and objects is ANY_OBJECTS
            ):
                return ANYTHING
            return Shape(NULL | TRUE | FALSE, numbers, strings, arrays, objects)
        return Shape(
            (NULL if "null" in types else 0) | (TRUE | FALSE if "boolean" in types else 0),
            numbers if "number" in types else integers if "integer" in types else (),
            strings if "string" in types else (),
            arrays if "array" in types else (),
            objects if "object" in types else (),
        )
