"""The resources that references may lead to: of the document, of the registry, of the standard."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from guided.errors import SchemaError
from guided.text.json_schema.document.dialects import (
    LATEST,
    STANDARD,
    Dialect,
    standard_dialect,
    with_vocabularies,
)
from guided.text.json_schema.document.places import Json, Path, Subschema, describe
from guided.text.json_schema.document.references import ambiguous_uri, not_registered
from guided.text.json_schema.document.remote_documents import Library
from guided.text.json_schema.document.resources import (
    Contents,
    Resource,
    explore,
    identify,
    inner_resource,
)
from guided.text.json_schema.document.uris import join

if TYPE_CHECKING:
    from referencing import Registry


class Collection:
    """The resources that are known so far, and the library that has more."""

    def __init__(self, registry: Registry[Any] | None) -> None:
        self._registry = registry
        self._dialects: dict[str, Dialect | None] = {}
        self._by_uri: dict[str, Resource] = {}
        self._doubled: set[str] = set()
        self._unexplored: list[Resource] = []

    @cached_property
    def _library(self) -> Library:
        return Library(self._registry)

    def find(self, schema: Subschema, keyword: str, reference: str) -> Resource:
        """Return the resource that a URI reference without a fragment names."""
        here = schema.scope.resource
        uri = join(here.uri, reference)
        if uri == here.uri:
            return here
        found = self._by_uri.get(uri)
        if found is None or found.path:
            while self._unexplored:
                self.contents(self._unexplored.pop())
            found = self._by_uri.get(uri)
            if uri in self._doubled:
                raise ambiguous_uri(schema, keyword, uri)
        if found is None:
            loaded = self._library.load(uri)
            if loaded is None:
                raise not_registered(schema, keyword, uri, self._library.failures.get(uri))
            value, dialect = loaded
            found = self.add(value, uri, f"{uri}#", dialect or here.dialect)
        return found

    def add(
        self, value: Json, uri: str = "", prefix: str = "", dialect: Dialect = STANDARD[LATEST]
    ) -> Resource:
        """Make the resource of a whole document."""
        foreign = identifier = ""
        if isinstance(value, dict):
            name = value.get("$schema", "")
            if not isinstance(name, str):
                raise SchemaError(
                    f"$schema is a URI, found {describe(name)}",
                    pointer=f"{prefix}/$schema",
                    mend='write "https://json-schema.org/draft/2020-12/schema", or leave it out',
                )
            if name:
                known = self._dialect(name)
                dialect, foreign = (known, "") if known else (STANDARD[LATEST], name)
            identifier = value.get("id" if dialect.draft == 4 else "$id", "")
        base = identifier.partition("#")[0] if isinstance(identifier, str) else ""
        resource = Resource(value, join(uri, base) if base else uri, dialect, foreign, (), prefix)
        same = self._by_uri.setdefault(resource.uri, resource)
        if same is not resource and same.value is value:
            resource = same
        else:
            self._unexplored.append(resource)
        self._by_uri[uri] = resource
        return resource

    def contents(self, resource: Resource) -> Contents:
        """Return the identifiers in a resource; it is searched the first time."""
        contents = resource.contents
        if contents is None:
            contents = resource.contents = explore(resource, self._dialect)
            if not resource.is_detached:
                for inner in contents.inner.values():
                    known = self._by_uri.setdefault(inner.uri, inner)
                    if known is not inner and known.path and known.value != inner.value:
                        self._doubled.add(inner.uri)
                    self._unexplored.append(inner)
        return contents

    def inner(self, resource: Resource, value: Json, path: Path) -> Resource | None:
        """Return the resource that a schema inside `resource` is, if it is one of its own."""
        if not isinstance(value, dict) or not ("$id" in value or "id" in value):
            return None
        identity = identify(value, resource.dialect, self._dialect)
        if not identity.base:
            return None
        found = self.contents(resource).inner.get(id(value))
        if found is None:
            # It was referred to where no schema is looked for, as in a keyword nobody knows.
            path = path[len(resource.path) :]
            found = inner_resource(resource, value, identity, path, is_detached=True)
            self.contents(resource).inner[id(value)] = found
        return found

    def _dialect(self, uri: str) -> Dialect | None:
        """Return the dialect that a `$schema` names: a draft, or a meta-schema in the registry."""
        found = standard_dialect(uri)
        if found is not None or uri in self._dialects:
            return found or self._dialects[uri]
        self._dialects[uri] = None  # should it name itself
        loaded = self._library.load(uri.partition("#")[0])
        if loaded is not None and isinstance(loaded[0], dict):
            name = loaded[0].get("$schema")
            base = self._dialect(name) if isinstance(name, str) else loaded[1]
            if base is not None:
                found = with_vocabularies(base, loaded[0].get("$vocabulary"))
        self._dialects[uri] = found
        return found
