"""Documents that a schema refers to: the caller's registry, and the meta-schemas of the drafts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guided.text.json_schema.document.dialects import STANDARD, Dialect
from guided.text.json_schema.document.places import Json

if TYPE_CHECKING:
    from referencing import Registry, Resource

_SPECIFICATIONS = {"DRAFT4": 4, "DRAFT6": 6, "DRAFT7": 7, "DRAFT201909": 2019, "DRAFT202012": 2020}


class Library:
    """Where documents are looked up; nothing is fetched, unless the registry itself does it.

    Attributes:
        failures: what went wrong when the registry was to retrieve a document, by URI.
    """

    def __init__(self, registry: Registry[Any] | None) -> None:
        self.failures: dict[str, Exception] = {}
        self._registry = registry
        self._loaded: dict[str, tuple[Json, Dialect | None] | None] = {}

    def load(self, uri: str) -> tuple[Json, Dialect | None] | None:
        """Return the document with a URI, and the dialect that the registry knows it to be in."""
        if uri not in self._loaded:
            self._loaded[uri] = self._load(uri)
        return self._loaded[uri]

    def _load(self, uri: str) -> tuple[Json, Dialect | None] | None:
        if uri.startswith(("http://json-schema.org/", "https://json-schema.org/")):
            # Imported here: it reads all the meta-schemas, and few schemas refer to one.
            from jsonschema_specifications import REGISTRY

            metaschema = REGISTRY.get(uri)
            if metaschema is not None:
                return metaschema.contents, None
        if self._registry is None:
            return None
        from referencing.exceptions import NoSuchResource, Unretrievable

        try:
            retrieved = self._registry.get_or_retrieve(uri)
        except NoSuchResource:
            # A registry cannot be changed, so without this each miss would crawl it anew.
            self._registry = self._registry.crawl()
            return None
        except Unretrievable as error:
            cause = error.__cause__
            self.failures[uri] = cause if isinstance(cause, Exception) else error
            return None
        self._registry = retrieved.registry
        return retrieved.value.contents, _dialect(retrieved.value)


def _dialect(resource: Resource[Any]) -> Dialect | None:
    """Return the dialect that a resource was registered with, if it is that of a draft."""
    from referencing import jsonschema

    for name, draft in _SPECIFICATIONS.items():
        if getattr(jsonschema, name).create_resource(resource.contents) == resource:
            return STANDARD[draft]
    return None
