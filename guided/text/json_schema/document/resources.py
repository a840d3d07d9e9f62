"""Schema resources: what a URI names, and the identifiers in it.

A document is a resource, and so is each schema in it that has an `$id`. References are relative to
the resource they stand in. A resource is searched for identifiers when a reference first needs one;
most schemas refer to themselves by JSON pointers alone and are never searched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from guided.text.json_schema.document.dialects import KINDS, LIST, MAP, ONE, Dialect
from guided.text.json_schema.document.places import Json, Path, Subschema
from guided.text.json_schema.document.uris import join

# The name in `Contents.dynamic` of what `$recursiveAnchor` marks; no anchor has it.
RECURSIVE = ""

# The way down from the root of a resource: the way to the parent, and a token.
_Way = tuple[Any, str | int] | None


class Anchor(NamedTuple):
    """A schema that has a name, and the way to it from the root of its resource."""

    value: Json
    path: Path


class Contents(NamedTuple):
    """The identifiers of one resource.

    Attributes:
        anchors: the schemas named in it, `$dynamicAnchor` included.
        dynamic: which of the names are dynamic.
        doubled: names that were given to two schemas.
        inner: the resources that stand in it, but not in another of them, by `id` of the schema.
    """

    anchors: dict[str, Anchor]
    dynamic: set[str]
    doubled: set[str]
    inner: dict[int, Resource]


class Resource:
    """A schema with a URI: a document, or a part of one that has an `$id`.

    Attributes:
        value: the schema.
        uri: absolute as far as the document says, without a fragment.
        dialect: what the keywords mean in it.
        foreign: the `$schema` that names no dialect known here, "" otherwise.
        path: the way here from the top of the document.
        prefix: stands before JSON pointers into the document: "" if it is the one being compiled.
        contents: what a search found in it, None before.
        ways: the number of its scopes.
        is_detached: it stands where schemas do not belong, so its identifiers count in it alone.
    """

    __slots__ = (
        "contents",
        "dialect",
        "foreign",
        "is_detached",
        "path",
        "prefix",
        "uri",
        "value",
        "ways",
    )

    def __init__(
        self,
        value: Json,
        uri: str,
        dialect: Dialect,
        foreign: str = "",
        path: Path = (),
        prefix: str = "",
        is_detached: bool = False,
    ) -> None:
        self.value = value
        self.uri = uri
        self.dialect = dialect
        self.foreign = foreign
        self.path = path
        self.prefix = prefix
        self.contents: Contents | None = None
        self.is_detached = is_detached
        self.ways = 0


class Scope:
    """A resource together with the dynamic anchors that were met on the way to it.

    Attributes:
        resource: the resource.
        draft, silent: its dialect.
        dynamic: for each dynamic anchor the outermost resource that has it; None as long as that
            was not asked for, which is only so for the root of the document.
        root: the schema of the resource.
        known: the schemas in it that were asked for, by `id` of the value.
        targets: what its references lead to.
    """

    __slots__ = ("draft", "dynamic", "known", "resource", "root", "silent", "targets")

    def __init__(self, resource: Resource, dynamic: dict[str, Resource] | None) -> None:
        self.resource = resource
        self.draft, self.silent = resource.dialect
        self.dynamic = dynamic
        value = without(self.silent, resource.value)
        self.root = Subschema(value, None, resource.path, self)
        self.known: dict[int, Subschema] = {id(resource.value): self.root}
        self.targets: dict[str | tuple[str, str], Subschema] = {}

    def release(self) -> None:
        """Forget the schemas and what they allow, which names them."""
        for schema in self.known.values():
            schema.shape = None
        self.known.clear()
        self.targets.clear()
        del self.root


def without(silent: frozenset[str], value: Json) -> Json:
    """Return a schema without the keywords that say nothing in its dialect."""
    if not silent or not isinstance(value, dict) or silent.isdisjoint(value):
        return value
    return {keyword: value[keyword] for keyword in value if keyword not in silent}


class Identity(NamedTuple):
    """What a schema says of itself."""

    base: str
    anchor: str
    dialect: Dialect
    foreign: str


# Finds the dialect that a `$schema` names.
FindDialect = Callable[[str], Dialect | None]


def find_keys(value: Json, keys: frozenset[str]) -> frozenset[str]:
    """Return which of some keys the objects in a value have, at whatever depth."""
    found: set[str] = set()
    todo = [value] if isinstance(value, dict | list) else []
    seen: set[int] = set()
    while todo:
        value = todo.pop()
        # What is built in Python may hold one dict in many places.
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            if not keys.isdisjoint(value):
                found |= keys & value.keys()
            value = value.values()
        todo += [child for child in value if isinstance(child, dict | list)]
    return frozenset(found)


def has_identifier(value: dict[str, Json]) -> bool:
    """Return True if an object could be a resource: in `properties` an "id" is a schema."""
    if "$id" in value or "id" in value:
        return isinstance(value.get("$id"), str) or isinstance(value.get("id"), str)
    return False


def identify(value: dict[str, Json], dialect: Dialect, find: FindDialect) -> Identity:
    """Read `$id` and `$schema` of a schema; without a base it stays part of the resource around it.

    `dialect` is that of the schema around it: only a schema with a base may change it.
    """
    own, foreign = dialect, ""
    name = value.get("$schema")
    if isinstance(name, str):
        found = find(name)
        own, foreign = (dialect, name) if found is None else (found, "")
    identifier = value.get("id" if own.draft == 4 else "$id")
    if not isinstance(identifier, str) or ("$ref" in value and own.draft <= 7):
        # Up to draft 7 all that stands beside a reference is ignored.
        return Identity("", "", dialect, "")
    base, _, anchor = identifier.partition("#")
    if own.draft > 7 or anchor.startswith("/"):
        anchor = ""
    return Identity(base, anchor, own, foreign) if base else Identity("", anchor, dialect, "")


def explore(resource: Resource, find: FindDialect) -> Contents:
    """Search a resource for identifiers, where its dialect has schemas, in one walk."""
    contents = Contents({}, set(), set(), {})
    kinds = KINDS[resource.dialect.draft]
    root = resource.value
    todo: list[tuple[Json, _Way]] = [(root, None)] if isinstance(root, dict) else []
    seen = set()
    while todo:
        value, way = todo.pop()
        # What is built in Python may hold one dict in many places.
        if id(value) in seen:
            continue
        seen.add(id(value))
        if ("$id" in value or "id" in value) and _is_inner(contents, resource, value, way, find):
            continue
        if "$anchor" in value or "$dynamicAnchor" in value or "$recursiveAnchor" in value:
            _note_anchors(contents, resource, value, way)
        for keyword, content in value.items():
            kind = kinds.get(keyword)
            if kind is None:
                continue
            if isinstance(content, dict):
                if kind & MAP:
                    below = (way, keyword)
                    todo += [
                        (child, (below, name))
                        for name, child in content.items()
                        if isinstance(child, dict)
                    ]
                elif kind & ONE:
                    todo.append((content, (way, keyword)))
            elif kind & LIST and isinstance(content, list):
                below = (way, keyword)
                todo += [
                    (child, (below, index))
                    for index, child in enumerate(content)
                    if isinstance(child, dict)
                ]
    return contents


def _is_inner(
    contents: Contents, resource: Resource, value: dict[str, Json], way: _Way, find: FindDialect
) -> bool:
    """Note what a schema calls itself; return True if it is a resource of its own."""
    identity = identify(value, resource.dialect, find)
    if identity.base and way is not None:
        contents.inner[id(value)] = inner_resource(resource, value, identity, _path(way))
        return True
    if identity.anchor:
        _note(contents, identity.anchor, value, way)
    return False


def inner_resource(
    outer: Resource, value: Json, identity: Identity, path: Path, is_detached: bool = False
) -> Resource:
    """Make the resource that a schema inside another one is; `path` is the way between them."""
    return Resource(
        value,
        join(outer.uri, identity.base),
        identity.dialect,
        identity.foreign,
        outer.path + path,
        outer.prefix,
        is_detached or outer.is_detached,
    )


def _note_anchors(
    contents: Contents, resource: Resource, value: dict[str, Json], way: _Way
) -> None:
    draft = resource.dialect.draft
    if draft > 7 and isinstance(value.get("$anchor"), str):
        _note(contents, value["$anchor"], value, way)
    if draft == 2020 and isinstance(value.get("$dynamicAnchor"), str):
        _note(contents, value["$dynamicAnchor"], value, way)
        contents.dynamic.add(value["$dynamicAnchor"])
    if draft == 2019 and way is None and value.get("$recursiveAnchor") is True:
        contents.dynamic.add(RECURSIVE)


def _note(contents: Contents, name: str, value: Json, way: _Way) -> None:
    known = contents.anchors.setdefault(name, Anchor(value, _path(way)))
    if known.value is not value and known.value != value:
        contents.doubled.add(name)


def _path(way: _Way) -> Path:
    tokens: list[str | int] = []
    while way is not None:
        way, token = way
        tokens.append(token)
    return tuple(reversed(tokens))
