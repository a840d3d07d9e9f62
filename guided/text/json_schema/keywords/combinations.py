"""The keywords that apply other schemas to the value itself and give unions.

They come after all others that apply to the value, wherever those stand: what is known already
leaves fewer alternatives, and lets branches be told apart (a property that tells them apart is
often required beside the oneOf only). One that cannot be exact raises InexactError or TooManyError,
and the reader refuses the keyword.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, TypeVar

from guided.text.json_schema.algebra.budget import MAX_ALTERNATIVES, TooManyError
from guided.text.json_schema.algebra.exclusion import exactly_one
from guided.text.json_schema.algebra.intersection import meet_arrays, meet_objects
from guided.text.json_schema.algebra.negation import InexactError
from guided.text.json_schema.algebra.union import unite
from guided.text.json_schema.document.places import Json, Subschema
from guided.text.json_schema.keywords.assertions import is_names, malformed
from guided.text.json_schema.keywords.child_schemas import schemas
from guided.text.json_schema.keywords.enumerations import finite_shape
from guided.text.json_schema.shapes.evaluated import adds_items, adds_keys
from guided.text.json_schema.shapes.shape import (
    ANY_OBJECTS,
    ANYTHING,
    ArrayShape,
    Child,
    ObjectShape,
    Reason,
    Shape,
    is_nothing,
)

if TYPE_CHECKING:
    from guided.text.json_schema.reader import Reader

# Takes the reader, the schema, the keyword's value, whether to note what is seen, and what is known
# so far; returns that together with what the keyword allows.
Handler = Callable[["Reader", Subschema, Json, bool, Shape], Shape]
Container = TypeVar("Container", ArrayShape, ObjectShape)

_ONLY_OBJECTS = Shape(objects=ANY_OBJECTS)


def combine_any_of(
    reader: Reader, schema: Subschema, content: Json, tracks: bool, known: Shape
) -> Shape:
    """`anyOf`."""
    children = branches(reader, schema, "anyOf", content)
    shapes = [reader.in_place(child, tracks) for child in children]
    shape = unite(shapes)
    if tracks:
        is_void = reader.emptiness.alternative
        arrays, objects = [one.arrays for one in shapes], [one.objects for one in shapes]
        shape = shape._replace(
            arrays=_together(arrays, meet_arrays, _more_items, is_void),
            objects=_together(objects, meet_objects, _more_keys, is_void),
        )
    return reader.meet(known, shape, schema, ("anyOf",))


def combine_one_of(
    reader: Reader, schema: Subschema, content: Json, tracks: bool, known: Shape
) -> Shape:
    """`oneOf`."""
    children = branches(reader, schema, "oneOf", content)
    shapes = [reader.in_place(child, tracks) for child in children]
    others = [reader.shape(child) for child in children] if tracks else shapes
    kept = [reader.meet(known, shape, schema, ("oneOf", k)) for k, shape in enumerate(shapes)]
    try:
        shape = exactly_one(reader, kept, others, schema)
    except (InexactError, TooManyError) as error:
        # If passed over, let it be one at least.
        reader.refuse_combination(schema, "oneOf", error)
        return unite(kept)
    if not is_nothing(shape):
        return shape
    reason = next(filter(None, (one.reason for one in kept)), None)
    if any(not is_nothing(one) for one in kept):
        fact = "no value fits exactly one schema of oneOf"
        mend = "let the schemas exclude each other, or use anyOf"
        reason = Reason(fact, schema, ("oneOf",), mend)
    return Shape(reason=reason)


def combine_not(
    reader: Reader, schema: Subschema, content: Json, tracks: bool, known: Shape
) -> Shape:
    """`not`; it evaluates nothing."""
    inner = reader.document.subschema(content, schema, ("not",))
    shape = reader.without(known, inner)
    if not is_nothing(shape) or is_nothing(known):
        return shape
    mend = "take it out; anything fits the schema in it"
    fact = "not of anything allows nothing"
    if known is not ANYTHING and reader.shape((inner,)) is not ANYTHING:
        fact = "all that fits the rest of the schema fits the schema in not"
        mend = "take it out, or let it say less"
    return Shape(reason=Reason(fact, schema, ("not",), mend))


def combine_if(
    reader: Reader, schema: Subschema, content: Json, tracks: bool, known: Shape
) -> Shape:
    """`if`, `then` and `else`."""
    value = schema.value
    if "then" not in value and "else" not in value and not tracks:
        return known
    condition = reader.document.subschema(content, schema, ("if",))
    shape = reader.in_place(reader.resolve((condition,)), tracks)
    if not tracks and "else" not in value:
        branch = reader.document.subschema(value["then"], schema, ("then",))
        owes = _owes(known, shape, reader.shape(reader.resolve((branch,))), schema)
        if owes is not None:
            return reader.meet(known, ANYTHING._replace(objects=(owes,)), schema, ("then",))
    fits = reader.meet(known, shape, schema, ("if",))
    fails = reader.without(known, condition)
    for keyword in ("then", "else"):
        if keyword in value:
            branch = reader.document.subschema(value[keyword], schema, (keyword,))
            shape = reader.in_place(reader.resolve((branch,)), tracks)
            if keyword == "then":
                fits = reader.meet(fits, shape, schema, ("then",))
            else:
                fails = reader.meet(fails, shape, schema, ("else",))
    return unite([fits, fails])


def combine_dependent_schemas(
    reader: Reader, schema: Subschema, content: Json, tracks: bool, known: Shape
) -> Shape:
    """`dependentSchemas`."""
    if not isinstance(content, dict):
        raise malformed(schema, "dependentSchemas", content, "an object of schemas")
    return _dependent(reader, schema, "dependentSchemas", content, tracks, known)


def combine_dependencies(
    reader: Reader, schema: Subschema, content: Json, tracks: bool, known: Shape
) -> Shape:
    """`dependencies`: schemas, or lists of names."""
    wanted = "an object of schemas or of arrays of property names"
    if not isinstance(content, dict):
        raise malformed(schema, "dependencies", content, wanted)
    owes = []
    for name, value in content.items():
        if isinstance(value, list):
            if not is_names(value):
                raise malformed(schema, "dependencies", value, wanted)
            owes += [(name, owed, schema) for owed in value]
    others = {name: value for name, value in content.items() if not isinstance(value, list)}
    if owes:
        owing = ANYTHING._replace(objects=(ObjectShape(owes=tuple(owes)),))
        known = reader.meet(known, owing, schema, ("dependencies",))
    return _dependent(reader, schema, "dependencies", others, tracks, known)


def values_of(reader: Reader, schema: Subschema, keyword: str, content: Json) -> Shape:
    """`enum` and `const`."""
    if keyword == "const":
        return finite_shape(reader.document, schema, "const", [content])
    if not isinstance(content, list):
        raise malformed(schema, "enum", content, "an array of values")
    if not content:
        reason = Reason(
            "enum is empty, so nothing fits", schema, ("enum",), "list at least one value"
        )
        return Shape(reason=reason)
    return finite_shape(reader.document, schema, "enum", content)


def branches(reader: Reader, schema: Subschema, keyword: str, content: Json) -> list[Child]:
    """Return the children of `allOf`, `anyOf` or `oneOf`."""
    if content == []:
        raise malformed(schema, keyword, content, "an array of at least one schema")
    return [reader.resolve(child) for child in schemas(reader, schema, keyword, content)]


def _dependent(
    reader: Reader,
    schema: Subschema,
    keyword: str,
    content: dict[str, Json],
    tracks: bool,
    known: Shape,
) -> Shape:
    """For each name: it is not there, or the object fits a schema."""
    for name, value in content.items():
        child = reader.resolve((reader.document.subschema(value, schema, (keyword, name)),))
        objects = reader.in_place(child, tracks).objects
        if objects is not ANY_OBJECTS:
            one = ANYTHING._replace(objects=_absent_or(reader, name, objects, schema))
            known = reader.meet(known, one, schema, (keyword, name))
    return known


def _absent_or(
    reader: Reader, name: str, objects: tuple[ObjectShape, ...], at: Subschema
) -> tuple[ObjectShape, ...]:
    if len(objects) == 1 and objects[0] == ObjectShape(required=objects[0].required):
        return (ObjectShape(owes=tuple((name, owed, at) for owed in objects[0].required)),)
    present = ObjectShape(required={name: at})
    return (reader.failures.absent(name, at), *(meet_objects(present, one) for one in objects))


def _owes(known: Shape, condition: Shape, branch: Shape, at: Subschema) -> ObjectShape | None:
    """Return what `if` and `then` say if that is that a name, if there, asks for others.

    Many such rules would multiply as alternatives.
    """
    asking, asked = _names_required(condition), _names_required(branch)
    if asking is None or asked is None or len(asking) != 1:
        return None
    if known[:-2] != _ONLY_OBJECTS[:-2] and not condition[:-2] == branch[:-2] == ANYTHING[:-2]:
        return None
    return ObjectShape(owes=tuple((name, owed, at) for name in asking for owed in asked))


def _names_required(shape: Shape) -> Collection[str] | None:
    """Return the names that a shape requires of objects if it says nothing else of them."""
    if len(shape.objects) != 1:
        return None
    one = shape.objects[0]
    return one.required if one == ObjectShape(required=one.required, seen=one.seen) else None


def _together(
    branches: Sequence[tuple[Container, ...]],
    meet: Callable[[Container, Container], Container],
    adds: Callable[[Container, Container], bool],
    is_void: Callable[[Container], bool],
) -> tuple[Container, ...]:
    """Unite branches, with what fits several of them where together these have seen more."""
    found: dict[int, Container] = {}
    for branch in branches:
        new: list[Container] = list(branch)
        for a in found.values():
            more = (meet(a, b) for b in branch if a is not b and adds(a, b) and adds(b, a))
            new += [one for one in more if not is_void(one)]
        if len(found) + len(new) > MAX_ALTERNATIVES:
            raise TooManyError(len(found), len(branch))
        found.update({id(one): one for one in new})
    return tuple(found.values())


def _more_items(a: ArrayShape, b: ArrayShape) -> bool:
    return adds_items(a.seen, b.seen)


def _more_keys(a: ObjectShape, b: ObjectShape) -> bool:
    return adds_keys(a.seen, b.seen)


COMBINATIONS: dict[str, Handler] = {
    "anyOf": combine_any_of,
    "oneOf": combine_one_of,
    "not": combine_not,
    "if": combine_if,
    "dependentSchemas": combine_dependent_schemas,
    "dependencies": combine_dependencies,
}
