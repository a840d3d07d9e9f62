"""Reads the keywords of a schema, but for those that give unions: that is to open it.

A schema beside `$ref` or within `allOf` is only opened, so that the keywords that give unions
(`combinations`) are combined when all else is known of the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from guided.errors import GuidedError, LimitError, SchemaError
from guided.text.json_schema.algebra.budget import TooManyError
from guided.text.json_schema.algebra.emptiness import CircularError
from guided.text.json_schema.algebra.intersection import meet_arrays
from guided.text.json_schema.document.places import Json, Subschema, describe
from guided.text.json_schema.keywords.assertions import ASSERTIONS
from guided.text.json_schema.keywords.child_schemas import PARTS
from guided.text.json_schema.keywords.combinations import COMBINATIONS, branches, values_of
from guided.text.json_schema.keywords.known import (
    ANNOTATION,
    ANNOTATIONS,
    ASSERTION,
    CONJUNCTION,
    DRAFTS,
    PART,
    UNION,
    kinds_of,
)
from guided.text.json_schema.keywords.shape_builder import ShapeBuilder
from guided.text.json_schema.shapes.children import one_schema
from guided.text.json_schema.shapes.evaluated import (
    constrain_items,
    constrain_properties,
    mark,
    unmark,
)
from guided.text.json_schema.shapes.shape import (
    ANYTHING,
    OF_TYPE,
    Child,
    Fitting,
    Reason,
    Shape,
    StringShape,
)
from guided.text.nodes import GrammarValue

if TYPE_CHECKING:
    from guided.text.json_schema.reader import Reader

# Schemas that apply to one value within each other (allOf in anyOf in $ref ...); each takes some
# ten frames of the stack of Python.
MAX_NESTING = 60

# Stands for the shape of a schema that is being read: who meets it has come in a circle.
READING = Shape()

_KINDS = {draft: kinds_of(draft, ASSERTIONS, PARTS, COMBINATIONS) for draft in DRAFTS}
_TYPE_ONLY = ANNOTATIONS | {"type"}

# One of several schemas: of a single one, all.
_BRANCHING = ("anyOf", "oneOf")


class Split(NamedTuple):
    """A keyword that gives a union, not yet combined with what else is known of the value."""

    schema: Subschema
    keyword: str
    tracks: bool


# What a schema allows but for the keywords that give unions, and those.
Open = tuple[Shape, tuple[Split, ...]]


class KeywordReader:
    """Opens the schemas of one document; `tracks` asks for what they have evaluated, too."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._nesting = 0
        self._opened: tuple[dict[Subschema, Open], dict[Subschema, Open]] = ({}, {})
        self._tracked: dict[Subschema, Shape] = {}

    def known(self, schema: Subschema, tracks: bool) -> Shape | None:
        """Return what a schema allows in all, if it is known; READING while it is being read."""
        shape: Shape | None = self._tracked.get(schema) if tracks else schema.shape
        return shape

    def keep(self, schema: Subschema, shape: Shape | None, tracks: bool) -> None:
        """Remember what a schema allows in all, or forget it."""
        if not tracks:
            schema.shape = shape
        elif shape is None:
            self._tracked.pop(schema, None)
        else:
            self._tracked[schema] = shape

    def enter(self, schema: Subschema, tracks: bool) -> None:
        """Begin to read a schema, within those being read."""
        if self._nesting >= MAX_NESTING:
            raise LimitError(
                f"too many schemas apply to one value, one in another, at {schema.short_pointer()}",
                limit="nested schemas",
                value=MAX_NESTING,
            )
        self._nesting += 1
        if tracks:
            self._tracked[schema] = READING
        else:
            schema.shape = READING

    def leave(self) -> None:
        """End what `enter` began."""
        self._nesting -= 1

    def open(self, schema: Subschema, tracks: bool) -> Open:
        """Read a schema, but for the keywords that give unions."""
        known = self._tracked.get(schema) if tracks else schema.shape
        if known is READING:
            raise circular(schema)
        opened = self._opened[tracks].get(schema)
        if opened is not None:
            return opened
        return self._read(schema, tracks) if known is None else (known, ())

    def _read(self, schema: Subschema, tracks: bool) -> Open:
        value = schema.value
        if value is True:
            return ANYTHING, ()
        if value is False:
            fact, mend = "the schema false allows nothing", "take it out"
            return Shape(reason=Reason(fact, schema, (), mend)), ()
        if isinstance(value, GrammarValue):
            return Shape(strings=(StringShape(grammars=(Fitting(value, schema),)),)), ()
        if not isinstance(value, dict):
            raise SchemaError(
                f"a schema is an object, true or false, found {describe(value)}",
                pointer=schema.pointer(),
                mend="write true for anything",
            )
        plain = type_alone(value)
        if plain is not None:
            schema.shape = plain
            return plain, ()
        self.enter(schema, tracks)
        try:
            shape, splits = self._read_keywords(schema, value, tracks)
        except GuidedError:
            self.keep(schema, None, tracks)
            raise
        finally:
            self._nesting -= 1
        if splits:
            self.keep(schema, None, tracks)
            opened = self._opened[tracks][schema] = (shape, tuple(splits))
            return opened
        if tracks:
            self._tracked[schema] = shape
        else:
            schema.shape = shape
        return shape, ()

    def _read_keywords(
        self, schema: Subschema, value: dict[str, Json], tracks: bool
    ) -> tuple[Shape, Sequence[Split]]:
        draft = schema.draft
        if "$ref" in value and draft <= 7:
            target = self._reader.target(schema)
            return (ANYTHING, ()) if target is None else self.open(target, tracks)
        kinds = _KINDS[draft]
        builder = ShapeBuilder()
        later: list[str] = []
        unions: list[str] = []
        for keyword, content in value.items():
            kind = kinds.get(keyword)
            if kind == ANNOTATION:
                continue
            if kind == ASSERTION:
                ASSERTIONS[keyword](builder, schema, keyword, content)
            elif kind == PART:
                PARTS[keyword](self._reader, builder, schema, content)
            elif kind == CONJUNCTION:
                later.append(keyword)
            elif kind == UNION:
                unions.append(keyword)
            else:
                self._reader.unknown[schema.pointer(keyword)] = None
        if draft == 4:
            builder.obey_flags(value)
        shape = builder.shape()
        if not (later or unions or tracks or builder.unevaluated):
            return shape, ()
        must_track = tracks or bool(builder.unevaluated)
        if must_track:
            shape = mark(self._reader, shape, schema)
        splits: list[Split] = []
        for keyword in later:
            if keyword == "enum" or keyword == "const":
                values = values_of(self._reader, schema, keyword, value[keyword])
                shape = self._meet(shape, values, schema, keyword)
            else:
                shape = self._conjoin(shape, splits, schema, keyword, must_track)
        for keyword in unions:
            content = value[keyword]
            if keyword in _BRANCHING and isinstance(content, list) and len(content) == 1:
                shape = self._conjoin(shape, splits, schema, keyword, must_track)
            else:
                splits.append(Split(schema, keyword, must_track))
        if not builder.unevaluated:
            return shape, splits
        shape = self._reader.combine(shape, splits)
        for keyword in builder.unevaluated:
            shape = self._constrain_unevaluated(shape, schema, keyword, value[keyword])
        return shape if tracks else unmark(shape), ()

    def _conjoin(
        self, shape: Shape, splits: list[Split], schema: Subschema, keyword: str, tracks: bool
    ) -> Shape:
        """Add a keyword whose schemas must all fit."""
        content = schema.value[keyword]
        if keyword == "allOf" or keyword in _BRANCHING:
            for index, child in enumerate(branches(self._reader, schema, keyword, content)):
                other, more = self.open(only_schema(child), tracks)
                splits += more
                shape = self._meet(shape, other, schema, keyword, index)
        elif (target := self._reader.target(schema, keyword)) is not None:
            other, more = self.open(only_schema(self._reader.resolve((target,))), tracks)
            splits += more
            shape = self._meet(shape, other, schema, keyword)
        return shape

    def _meet(self, shape: Shape, other: Shape, schema: Subschema, *tokens: str | int) -> Shape:
        try:
            return self._reader.meet(shape, other, schema, tokens)
        except TooManyError as error:
            self._reader.refuse_combination(schema, str(tokens[0]), error)
            return shape

    def _constrain_unevaluated(
        self, shape: Shape, schema: Subschema, keyword: str, content: Json
    ) -> Shape:
        child = one_schema(self._reader, schema, keyword, content)
        if keyword == "unevaluatedProperties":
            return shape._replace(objects=constrain_properties(shape.objects, child))
        return shape._replace(arrays=constrain_items(shape.arrays, child, meet_arrays))


def type_alone(value: Json) -> Shape | None:
    """Return what a schema allows that says a type and describes it, as most of a document do."""
    if type(value) is dict:
        name = value.get("type")
        if type(name) is str and name in OF_TYPE and value.keys() <= _TYPE_ONLY:
            return OF_TYPE[name]
    return None


def only_schema(child: Child) -> Subschema:
    """Return the schema of a child that is one schema."""
    (schema,) = child
    assert type(schema) is Subschema
    return schema


def circular(schema: Subschema) -> CircularError:
    """Return the error for a schema that applies to a value because it applies to it."""
    place = schema.pointer() or "the schema"
    return CircularError(
        f"circular reference: {place} refers to itself without a property or an item between",
        pointer=schema.pointer(*(("$ref",) if "$ref" in schema.value else ())),
        mend="let it refer to itself below properties or items only",
    )
