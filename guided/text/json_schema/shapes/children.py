"""Children, the names of what parts must fit: joined, negated, joined as alternatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guided.text.json_schema.document.places import Json, Subschema
from guided.text.json_schema.shapes.shape import Child, Either, Negated

if TYPE_CHECKING:
    from guided.text.json_schema.reader import Reader


def one_schema(reader: Reader, schema: Subschema, keyword: str, content: Json) -> Child:
    """Return the child of a keyword that holds one schema; `true` and `{}` are none."""
    if content is True or content == {}:
        return ()
    return (reader.document.subschema(content, schema, (keyword,)),)


def join(a: Child, b: Child) -> Child:
    """Return the part that must fit both."""
    if not a or a == b:
        return b
    if not b:
        return a
    return a + tuple(term for term in b if term not in a)


def negated(child: Child, at: Subschema) -> Child:
    """Return the part that must not fit a child; `at` stands for what then allows nothing."""
    if not child:
        return (Subschema(False, at, ()),)
    if len(child) > 1:
        return (Either(tuple(negated((term,), at) for term in child)),)
    term = child[0]
    if isinstance(term, Negated):
        return (term.schema,)
    if isinstance(term, Either):
        parts: Child = ()
        for one in term.children:
            parts = join(parts, negated(one, at))
        return parts
    value = term.value
    if value is False:
        return ()
    if value is True or value == {}:
        return (Subschema(False, term, ()),)
    return (Negated(term),)


def either(children: tuple[Child, ...]) -> Child:
    """Return the part that must fit one of some children at least."""
    if () in children:
        return ()
    return children[0] if len(children) == 1 else (Either(children),)


def is_false(child: Child) -> bool:
    """Return True if a child holds the schema false, so that nothing fits it."""
    return any(type(term) is Subschema and term.value is False for term in child)


def place(child: Child) -> Subschema | None:
    """Return a schema that stands for a child in messages, None for the child without terms."""
    for term in child:
        if type(term) is Subschema:
            return term
        if type(term) is Negated:
            return term.schema
        if type(term) is Either:
            found = next(filter(None, map(place, term.children)), None)
            if found is not None:
                return found
    return None
