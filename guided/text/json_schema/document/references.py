"""References as text: JSON pointers, and what to say of those that lead nowhere."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from guided.errors import LimitError, SchemaError, UnsupportedError
from guided.text.json_schema.document.places import Json, Subschema, describe, write_pointer

if TYPE_CHECKING:
    from guided.text.json_schema.document.resources import Contents, Resource

DOCUMENTATION = "docs/json-schema.md"

# What a pointer leads to that leads nowhere; no JSON value.
NOTHING = object()


def split_pointer(pointer: str) -> list[str]:
    """Return the tokens of a JSON pointer (RFC 6901), which is not empty."""
    tokens = pointer[1:].split("/")
    if "~" not in pointer:
        return tokens
    return [token.replace("~1", "/").replace("~0", "~") for token in tokens]


def child_of(value: Json, token: str) -> Json:
    """Return what one token of a JSON pointer leads to, or NOTHING."""
    if isinstance(value, dict):
        return value.get(token, NOTHING)
    # An index has no leading zeros (RFC 6901, section 4).
    if isinstance(value, list) and re.fullmatch(r"0|[1-9][0-9]{0,8}", token):
        index = int(token)
        return value[index] if index < len(value) else NOTHING
    return NOTHING


def not_a_string(schema: Subschema, keyword: str, reference: Json) -> SchemaError:
    """Return the error for a reference that is no text."""
    return SchemaError(
        f'"{keyword}" must be a string, found {describe(reference)}',
        pointer=schema.pointer(keyword),
        mend=f'make "{keyword}" a string, or take it out',
    )


def not_recursive(schema: Subschema, reference: str) -> SchemaError:
    """Return the error for a `$recursiveRef` with a value that the standard leaves undefined."""
    return SchemaError(
        f'"$recursiveRef" is always "#", found {describe(reference)}',
        pointer=schema.pointer("$recursiveRef"),
        mend='write "#", or use "$ref"',
    )


def no_such_child(
    schema: Subschema,
    keyword: str,
    resource: Resource,
    before: list[str],
    value: Json,
    token: str,
    root: Subschema,
) -> SchemaError:
    """Return the error for a pointer that ends at `value`, as `token` is not in it."""
    reference = schema.value[keyword]
    names = list(value) if isinstance(value, dict) else []
    close = difflib.get_close_matches(token, names, 1, 0.7)
    uri, _, pointer = reference.partition("#")
    if close:
        mend = f'did you mean "{uri}#{write_pointer([*before, *close])}"?'
    elif not uri and resource.path and _leads_somewhere(root.value, pointer):
        holder = f"{resource.prefix}{write_pointer(resource.path)}"
        identifier = "id" if resource.dialect.draft == 4 else "$id"
        mend = f'the "{identifier}" at {holder} makes "#" mean the schema there: take that out'
        if root.scope.resource.uri:
            mend += f', or write "{root.scope.resource.uri}#{pointer}"'
    else:
        mend = f'add "{token}" at {uri}#{write_pointer(before)}'
    return SchemaError(
        f'{keyword} "{reference}" points at nothing', pointer=schema.pointer(keyword), mend=mend
    )


def _leads_somewhere(value: Json, pointer: str) -> bool:
    for token in split_pointer(pointer):
        value = child_of(value, token)
    return value is not NOTHING


def no_such_anchor(
    schema: Subschema, keyword: str, name: str, contents: Contents, resource: Resource
) -> SchemaError:
    """Return the error for a name that no schema of the resource has."""
    reference = schema.value[keyword]
    uri = reference.partition("#")[0]
    close = difflib.get_close_matches(name, list(contents.anchors), 1, 0.7)
    draft = resource.dialect.draft
    definition = (
        f'"$anchor": "{name}"' if draft > 7 else f'"{"id" if draft == 4 else "$id"}": "#{name}"'
    )
    if close:
        mend = f'did you mean "{uri}#{close[0]}"?'
    elif _leads_somewhere(resource.value, f"/{name}"):
        mend = f'did you mean "{uri}#/{name}"?'
    else:
        mend = f"write {definition} in the schema that is meant, or refer to it by a JSON pointer"
    return SchemaError(
        f'{keyword} "{reference}" points at nothing', pointer=schema.pointer(keyword), mend=mend
    )


def ambiguous_name(schema: Subschema, keyword: str, name: str) -> SchemaError:
    """Return the error for a name that two different schemas have."""
    return SchemaError(
        f'{keyword} "{schema.value[keyword]}" may mean two schemas: both are named "{name}"',
        pointer=schema.pointer(keyword),
        mend="rename one of them",
    )


def ambiguous_uri(schema: Subschema, keyword: str, uri: str) -> SchemaError:
    """Return the error for a URI that two different schemas have."""
    return SchemaError(
        f'{keyword} "{schema.value[keyword]}" may mean two schemas: both have the URI "{uri}"',
        pointer=schema.pointer(keyword),
        mend="give one of them another $id",
    )


def too_many_ways(resource: Resource, limit: int) -> LimitError:
    """Return the error for dynamic references that may mean too many different things."""
    place = f"{resource.prefix}{write_pointer(resource.path)}" or "the top of the schema"
    return LimitError(
        f"dynamic references give the schema at {place} too many different meanings",
        limit="dynamic scopes of one schema resource",
        value=limit,
    )


def not_registered(
    schema: Subschema, keyword: str, uri: str, failure: Exception | None
) -> UnsupportedError:
    """Return the error for a document that is not to be had."""
    reference = schema.value[keyword]
    if failure is None:
        fact = f'{keyword} "{reference}" points at a remote document, and those are never fetched'
    else:
        fact = f'{keyword} "{reference}" points at a document that cannot be retrieved: {failure}'
    return UnsupportedError(
        fact,
        keyword=keyword,
        place=f"at {schema.pointer(keyword)}",
        page=DOCUMENTATION,
        mend=f'pass registry=, a referencing.Registry that holds "{uri}",'
        ' or copy the schema under "$defs"',
    )
