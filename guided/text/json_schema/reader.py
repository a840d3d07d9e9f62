"""Reads schemas into shapes, each when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from guided.errors import LimitError, SchemaError, UnsupportedError
from guided.text.json_schema.algebra import intersect, unite
from guided.text.json_schema.assertions import (
    ASSERTIONS,
    malformed,
)
from guided.text.json_schema.document import (
    DOCUMENTATION,
    Document,
    Json,
    Subschema,
    describe,
)
from guided.text.json_schema.facts import Facts
from guided.text.json_schema.finite import finite_shape
from guided.text.json_schema.keywords import ANNOTATIONS, COMPANIONS, REFUSED
from guided.text.json_schema.shapes import (
    ANYTHING,
    OF_TYPE,
    Child,
    Reason,
    Shape,
)

# Schemas that apply to one value within each other (allOf in anyOf in $ref ...); each takes some
# six frames of the stack of Python.
MAX_NESTING = 60

# Booleans in draft 4, where they say how the bound beside them is meant.
_FLAGS = ("exclusiveMinimum", "exclusiveMaximum")

# Stands for the shape of a schema that is being read: who meets it has come in a circle.
_READING = Shape()

_TYPE_ONLY = ANNOTATIONS | {"type"}
_REFERENCE_ONLY = ANNOTATIONS | {"$ref"}


class Reader:
    """Reads the subschemas of one document.

    Attributes:
        not_enforced: pointers to the keywords passed over by `unsupported="ignore"`.
        unknown: pointers to keywords that are not in the standard.
    """

    def __init__(self, document: Document, unsupported: Literal["refuse", "ignore"]) -> None:
        self.document = document
        self.is_lenient = unsupported == "ignore"
        self.not_enforced: dict[str, None] = {}
        self.unknown: dict[str, None] = {}
        self._nesting = 0
        if document.is_foreign:
            uri = describe(document.root.value["$schema"])
            self.refuse(document.root, "$schema", f"the dialect {uri} is not supported")

    def shape(self, child: Child) -> Shape:
        """Return what fits all the subschemas of a child."""
        if len(child) == 1:
            return self._shape(child[0])
        shape = ANYTHING
        for schema in child:
            shape = intersect(shape, self._shape(schema), schema, ())
        return shape

    def resolve(self, child: Child) -> Child:
        """Replace a reference without siblings by its target, so that both are one child."""
        schema = child[0]
        if len(child) > 1 or not isinstance(schema.value, dict) or "$ref" not in schema.value:
            return child
        seen = {schema}
        while (target := self._sole_target(schema)) is not None:
            if target in seen:
                raise _circular(target)
            seen.add(target)
            schema = target
        return (schema,)

    def refuse(self, schema: Subschema, keyword: str, fact: str | None = None) -> None:
        """Raise the error for a keyword that cannot be enforced, or note it down if lenient."""
        if self.is_lenient:
            self.not_enforced[schema.pointer(keyword)] = None
            return
        raise UnsupportedError(
            fact or f'the keyword "{keyword}" is not supported',
            keyword=keyword,
            place=f"at {schema.pointer(keyword)}",
            page=DOCUMENTATION,
            mend='take it out, or compile with unsupported="ignore" to go without it',
        )

    def _sole_target(self, schema: Subschema) -> Subschema | None:
        """Return the target of a schema that is nothing but a reference."""
        value = schema.value
        if not isinstance(value, dict) or "$ref" not in value:
            return None
        # Up to draft 7 a reference overrides all that stands beside it.
        if self.document.draft > 7 and value.keys() - _REFERENCE_ONLY:
            return None
        return self._target(schema)

    def _target(self, schema: Subschema) -> Subschema | None:
        reference = schema.value["$ref"]
        if not isinstance(reference, str):
            raise malformed(schema, "$ref", reference, "a string")
        try:
            return self.document.target(reference, schema)
        except UnsupportedError:
            if not self.is_lenient:
                raise
            self.not_enforced[schema.pointer("$ref")] = None
            return None

    def _shape(self, schema: Subschema) -> Shape:
        shape: Shape | None = schema.shape
        if shape is None:
            return self._read(schema)
        if shape is _READING:
            raise _circular(schema)
        return shape

    def _read(self, schema: Subschema) -> Shape:
        value = schema.value
        if value is True:
            return ANYTHING
        if value is False:
            return Shape(
                reason=Reason("the schema false allows nothing", schema, (), "take it out")
            )
        if not isinstance(value, dict):
            raise SchemaError(
                f"a schema is an object, true or false, found {describe(value)}",
                pointer=schema.pointer(),
                mend="write true for anything",
            )
        name = value.get("type")
        # Most schemas of a real document say a type and describe it.
        if type(name) is str and name in OF_TYPE and value.keys() <= _TYPE_ONLY:
            shape = schema.shape = OF_TYPE[name]
            return shape
        if self._nesting >= MAX_NESTING:
            raise LimitError(
                f"too many schemas apply to one value, one in another, at {schema.short_pointer()}",
                limit="nested schemas",
                value=MAX_NESTING,
            )
        schema.shape = _READING
        self._nesting += 1
        shape = schema.shape = self._read_keywords(schema, value)
        self._nesting -= 1
        return shape

    def _read_keywords(self, schema: Subschema, value: dict[str, Json]) -> Shape:
        if "$ref" in value and self.document.draft <= 7:
            target = self._target(schema)
            return ANYTHING if target is None else self._shape(target)
        facts = Facts()
        later = []
        for keyword, content in value.items():
            handler = ASSERTIONS.get(keyword)
            if handler is not None:
                if not (
                    isinstance(content, bool) and keyword in _FLAGS and self.document.draft == 4
                ):
                    handler(facts, schema, keyword, content)
            elif keyword in _PARTS:
                _PARTS[keyword](self, facts, schema, content)
            elif keyword in _COMBINATIONS:
                later.append(keyword)
            elif keyword not in ANNOTATIONS:
                self._pass_over(schema, keyword, content)
        if self.document.draft == 4:
            facts.obey_flags(value)
        shape = facts.shape()
        for keyword in later:
            other = _COMBINATIONS[keyword](self, schema, value[keyword])
            shape = intersect(shape, other, schema, (keyword,))
        return shape

    def _pass_over(self, schema: Subschema, keyword: str, content: Json) -> None:
        """Treat a keyword that is not enforced: refused, without effect here, or unknown."""
        if keyword == "format":
            self.refuse(schema, keyword, f"the format {describe(content)} is not supported")
        elif keyword in REFUSED:
            self.refuse(schema, keyword)
        elif keyword == "uniqueItems":
            if content is not False:
                self.refuse(schema, keyword)
        elif keyword in COMPANIONS:
            if any(other in schema.value for other in COMPANIONS[keyword]):
                self.refuse(schema, keyword)
        elif keyword != "additionalItems" or self.document.draft >= 2020:
            self.unknown[schema.pointer(keyword)] = None

    # ---- keywords that hold schemas of parts ----

    def _properties(self, facts: Facts, schema: Subschema, content: Json) -> None:
        if not isinstance(content, dict):
            raise malformed(schema, "properties", content, "an object of schemas")
        if set(map(type, content)) - {str} and not all(isinstance(name, str) for name in content):
            raise malformed(schema, "properties", content, "an object whose keys are strings")
        subschema = self.document.subschema
        facts.properties = {
            name: (subschema(value, schema, ("properties", name)),)
            for name, value in content.items()
        }

    def _additional_properties(self, facts: Facts, schema: Subschema, content: Json) -> None:
        if content is not True:
            facts.additional = (
                self.document.subschema(content, schema, ("additionalProperties",)),
            )

    def _prefix_items(self, facts: Facts, schema: Subschema, content: Json) -> None:
        facts.prefix = self._schemas(schema, "prefixItems", content)

    def _items(self, facts: Facts, schema: Subschema, content: Json) -> None:
        if isinstance(content, list):
            if self.document.draft >= 2020:
                raise SchemaError(
                    '"items" must be one schema, found an array',
                    pointer=schema.pointer("items"),
                    mend='rename it to "prefixItems", or name an older draft in "$schema"',
                )
            facts.prefix = self._schemas(schema, "items", content)
            rest, keyword = schema.value.get("additionalItems", True), "additionalItems"
        else:
            rest, keyword = content, "items"
        if rest is not True:
            facts.rest = (self.document.subschema(rest, schema, (keyword,)),)

    def _schemas(self, schema: Subschema, keyword: str, content: Json) -> tuple[Child, ...]:
        if not isinstance(content, list):
            raise malformed(schema, keyword, content, "an array of schemas")
        subschema = self.document.subschema
        return tuple(
            (subschema(value, schema, (keyword, index)),) for index, value in enumerate(content)
        )

    # ---- keywords that apply other schemas to the value itself, or list values ----

    def _reference(self, schema: Subschema, content: Json) -> Shape:
        target = self._target(schema)
        return ANYTHING if target is None else self.shape(self.resolve((target,)))

    def _all_of(self, schema: Subschema, content: Json) -> Shape:
        shape = ANYTHING
        for index, child in enumerate(self._branches(schema, "allOf", content)):
            shape = intersect(shape, self.shape(child), schema, ("allOf", index))
        return shape

    def _any_of(self, schema: Subschema, content: Json) -> Shape:
        return unite([self.shape(child) for child in self._branches(schema, "anyOf", content)])

    def _not(self, schema: Subschema, content: Json) -> Shape:
        """Read the negation of a boolean or an empty schema: {"not": {}} often says false."""
        if content is False:
            return ANYTHING
        if content is True or content == {}:
            mend = "take it out; anything fits the schema in it"
            return Shape(reason=Reason("not of anything allows nothing", schema, ("not",), mend))
        self.refuse(schema, "not")
        return ANYTHING

    def _branches(self, schema: Subschema, keyword: str, content: Json) -> list[Child]:
        if content == []:
            raise malformed(schema, keyword, content, "an array of at least one schema")
        return [self.resolve(child) for child in self._schemas(schema, keyword, content)]

    def _const(self, schema: Subschema, content: Json) -> Shape:
        return finite_shape(self.document, schema, "const", [content])

    def _enum(self, schema: Subschema, content: Json) -> Shape:
        if not isinstance(content, list):
            raise malformed(schema, "enum", content, "an array of values")
        if not content:
            reason = Reason(
                "enum is empty, so nothing fits", schema, ("enum",), "list at least one value"
            )
            return Shape(reason=reason)
        return finite_shape(self.document, schema, "enum", content)


def _circular(schema: Subschema) -> SchemaError:
    place = schema.pointer() or "the schema"
    return SchemaError(
        f"circular reference: {place} refers to itself without a property or an item between",
        pointer=schema.pointer(*(("$ref",) if "$ref" in schema.value else ())),
        mend="let it refer to itself below properties or items only",
    )


_PARTS: dict[str, Callable[[Reader, Facts, Subschema, Json], None]] = {
    "properties": Reader._properties,
    "additionalProperties": Reader._additional_properties,
    "prefixItems": Reader._prefix_items,
    "items": Reader._items,
}

_COMBINATIONS: dict[str, Callable[[Reader, Subschema, Json], Shape]] = {
    "$ref": Reader._reference,
    "allOf": Reader._all_of,
    "anyOf": Reader._any_of,
    "not": Reader._not,
    "const": Reader._const,
    "enum": Reader._enum,
}
