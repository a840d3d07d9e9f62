"""A schema document: its subschemas, and what references in it lead to.

What the reader of keywords needs:

- `document.root`, and `document.subschema(value, parent, path)` for each schema inside another one;
- `document.target(schema, keyword)`: what `$ref`, `$dynamicRef` or `$recursiveRef` of a schema
  leads to;
- `schema.draft`: the draft that says what the keywords of this schema mean. It differs from
  `document.draft` where an embedded or remote resource names another one. `$dynamicRef` is a
  keyword in 2020 alone, `$recursiveRef` in 2019 alone; up to draft 7 a `$ref` overrides all that
  stands beside it;
- `document.refuse`, to be set by the reader: what to do about a dialect that is not known.

A reference that is a plain pointer is followed at once. Whatever else it may be, it is looked up
among the identifiers of its resource, of the document, and of the registry, in this order.

Dynamic references: a schema is read within a `Scope`, its resource together with the dynamic
anchors of the resources that led there. Each scope has its own subschemas, so the target of a
dynamic reference is a function of the subschema as that of any other. Without dynamic anchors there
is one scope a resource.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from guided.errors import UnsupportedError
from guided.text.json_schema.document.places import Json, Path, Subschema, describe
from guided.text.json_schema.document.references import (
    DOCUMENTATION,
    NOTHING,
    ambiguous_name,
    child_of,
    no_such_anchor,
    no_such_child,
    not_a_string,
    not_recursive,
    split_pointer,
    too_many_ways,
)
from guided.text.json_schema.document.resource_collection import Collection
from guided.text.json_schema.document.resources import (
    RECURSIVE,
    Resource,
    Scope,
    find_keys,
    has_identifier,
    without,
)

if TYPE_CHECKING:
    from referencing import Registry

# Dynamic anchors of which each may have been met first in one resource or another: what they lead
# to is a matter of the way here, and such ways are as many as there are combinations.
MAX_WAYS = 1_000

# Where none of these is in a document, it is no matter which resource a schema in it belongs to.
_NEED_RESOURCES = frozenset(["$ref", "$dynamicRef", "$recursiveRef", "$schema"])
_DYNAMIC_ANCHORS = frozenset(["$dynamicAnchor", "$recursiveAnchor"])

_ScopeKey = tuple[Resource, frozenset[tuple[str, Resource]]]


class Document:
    """The schema as a whole.

    Attributes:
        root: the outermost schema.
        draft: 4, 6, 7, 2019 or 2020, by its `$schema`; the latest if there is none.
        is_foreign: `$schema` names something else, which may give keywords another meaning.
        refuse: is called with a schema, "$schema" and a fact when a resource inside the document,
            or one that it refers to, is in a dialect that is not known; it raises or returns.
    """

    def __init__(self, schema: Json, *, registry: Registry[Any] | None = None) -> None:
        self.refuse: Callable[[Subschema, str, str], None] = _refuse
        self._collection = Collection(registry)
        self._scopes: dict[_ScopeKey, Scope] = {}
        top = self._collection.add(schema)
        self.root = Scope(top, None).root
        self.draft = top.dialect.draft
        self.is_foreign = bool(top.foreign)

    def subschema(self, value: Json, parent: Subschema, path: Path) -> Subschema:
        """Return the one Subschema for this value, which `path` leads to from `parent`."""
        scope = parent.scope
        if not isinstance(value, dict):
            return Subschema(value, parent, path, scope)
        key = id(value)
        known = scope.known.get(key)
        if known is None:
            if "$id" in value or "id" in value or scope.silent:
                known = self._special(value, parent, path)
            else:
                known = Subschema(value, parent, path, scope)
            scope.known[key] = known
        return known

    def target(self, schema: Subschema, keyword: str = "$ref") -> Subschema:
        """Return what the reference under `keyword` of a schema leads to.

        Raises:
            SchemaError: it leads to nothing.
            UnsupportedError: it leads to a document that is not in the registry.
        """
        reference = schema.value[keyword]
        if not isinstance(reference, str):
            raise not_a_string(schema, keyword, reference)
        targets = schema.scope.targets
        key = reference if keyword == "$ref" else (keyword, reference)
        found = targets.get(key)
        if found is None:
            found = targets[key] = self._resolve(schema, keyword, reference)
        return found

    def release(self) -> None:
        """Let go of the subschemas, which refer to each other; it is of no use after that."""
        self.refuse = _refuse
        for scope in {self.root.scope, *self._scopes.values()}:
            scope.release()

    # ---- references ----

    def _resolve(self, schema: Subschema, keyword: str, reference: str) -> Subschema:
        scope = schema.scope
        uri, _, fragment = reference.partition("#")
        resource = self._collection.find(schema, keyword, uri) if uri else scope.resource
        if "%" in fragment:
            fragment = unquote(fragment)
        if keyword != "$ref":
            if keyword == "$recursiveRef" and reference != "#":
                raise not_recursive(schema, reference)
            resource = self._outermost(keyword, resource, fragment, scope)
        if not fragment:
            return self._enter(resource, scope).root
        if fragment.startswith("/"):
            return self._follow(schema, keyword, resource, fragment)
        contents = self._collection.contents(resource)
        anchor = contents.anchors.get(fragment)
        if anchor is None:
            raise no_such_anchor(schema, keyword, fragment, contents, resource)
        if fragment in contents.doubled:
            raise ambiguous_name(schema, keyword, fragment)
        root = self._enter(resource, scope).root
        return self.subschema(anchor.value, root, anchor.path) if anchor.path else root

    def _outermost(self, keyword: str, resource: Resource, name: str, scope: Scope) -> Resource:
        """Return the resource that a dynamic reference means, if at first it means `resource`."""
        if keyword == "$recursiveRef":
            name = RECURSIVE
        elif not name:
            return resource
        if name not in self._collection.contents(resource).dynamic:
            return resource
        return self._dynamic(scope).get(name, resource)

    def _follow(
        self, schema: Subschema, keyword: str, resource: Resource, pointer: str
    ) -> Subschema:
        """Walk a JSON pointer from the root of a resource, through resources that stand in it."""
        tokens = split_pointer(pointer)
        top, value, start, last = resource, resource.value, 0, len(tokens) - 1
        for index, token in enumerate(tokens):
            before = value
            value = child_of(value, token)
            if value is NOTHING:
                raise no_such_child(schema, keyword, top, tokens[:index], before, token, self.root)
            if index < last and isinstance(value, dict) and has_identifier(value):
                inner = self._collection.contents(resource).inner.get(id(value))
                if inner is not None:
                    resource, start = inner, index + 1
        path = tuple(tokens[start:])
        scope = schema.scope
        if resource is not scope.resource:
            # The resources passed through are not part of the dynamic scope, as nothing is held
            # against them; so if the target is a resource, only that one is entered.
            found = self._collection.inner(resource, value, resource.path + path)
            if found is not None:
                return self._enter(found, scope).root
            scope = self._enter(resource, scope)
        return self.subschema(value, scope.root, path)

    # ---- scopes ----

    def _special(self, value: dict[str, Json], parent: Subschema, path: Path) -> Subschema:
        """Make the Subschema of what may be a resource, or holds keywords that say nothing."""
        scope = parent.scope
        if not scope.resource.prefix and self._words.isdisjoint(_NEED_RESOURCES):
            return Subschema(without(scope.silent, value), parent, path, scope)
        inner = self._collection.inner(scope.resource, value, parent.tokens(*path))
        if inner is not None:
            return self._enter(inner, scope).root
        return Subschema(without(scope.silent, value), parent, path, scope)

    def _dynamic(self, scope: Scope) -> dict[str, Resource]:
        """Return the outermost resource of each dynamic anchor in a scope."""
        if scope.dynamic is None:
            names = self._dynamic_names(scope.resource)
            scope.dynamic = dict.fromkeys(names, scope.resource)
            self._scopes[scope.resource, frozenset(scope.dynamic.items())] = scope
        return scope.dynamic

    def _dynamic_names(self, resource: Resource) -> set[str]:
        """Return the dynamic anchors of a resource."""
        if not resource.prefix and self._words.isdisjoint(_DYNAMIC_ANCHORS):
            return set()
        return self._collection.contents(resource).dynamic

    @cached_property
    def _words(self) -> frozenset[str]:
        """Which of those keywords stand anywhere in the document, but for its own `$schema`."""
        top = self.root.value
        if isinstance(top, dict) and "$schema" in top:
            top = {keyword: top[keyword] for keyword in top if keyword != "$schema"}
        return find_keys(top, _NEED_RESOURCES | _DYNAMIC_ANCHORS)

    def _enter(self, resource: Resource, scope: Scope) -> Scope:
        """Return the scope of a resource that a schema in `scope` leads to."""
        if resource is scope.resource:
            return scope
        dynamic = dict.fromkeys(self._dynamic_names(resource), resource) | self._dynamic(scope)
        key = (resource, frozenset(dynamic.items()))
        found = self._scopes.get(key)
        if found is None:
            resource.ways += 1
            if resource.ways > MAX_WAYS:
                raise too_many_ways(resource, MAX_WAYS)
            found = self._scopes[key] = Scope(resource, dynamic)
            if resource.foreign:
                fact = f"the dialect {describe(resource.foreign)} is not supported"
                self.refuse(found.root, "$schema", fact)
        return found


def _refuse(schema: Subschema, keyword: str, fact: str) -> None:
    raise UnsupportedError(
        fact, keyword=keyword, place=f"at {schema.pointer(keyword)}", page=DOCUMENTATION
    )
