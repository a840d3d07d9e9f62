"""What a grammar is to the languages that may hold one: nodes in an arena of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from guided._core import Arena


class Nodes(Protocol):
    """Nodes of a grammar."""

    @property
    def arena(self) -> Arena:
        """Holds the nodes."""
        ...

    @property
    def start(self) -> int:
        """The node of whole texts."""
        ...

    @property
    def late(self) -> Mapping[int, Any]:
        """The rules that a vocabulary is to define."""
        ...


class GrammarValue:
    """Base of the class `Grammar`, by which a front end knows one among values that it reads."""

    __slots__ = ()

    @property
    def _nodes(self) -> Nodes:
        raise NotImplementedError


def without_grammars(schema: Any) -> Any:
    """Return a JSON Schema as others may read it: in the place of a grammar it says "string"."""
    if isinstance(schema, GrammarValue):
        return {"type": "string"}
    if isinstance(schema, list | tuple):
        return [without_grammars(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    plain = {key: without_grammars(value) for key, value in schema.items()}
    parts = schema.get("allOf")
    if isinstance(parts, list) and any(isinstance(part, GrammarValue) for part in parts):
        # What an annotated Python type comes to: its own schema and the grammar.
        kept = [without_grammars(part) for part in parts if not isinstance(part, GrammarValue)]
        if not kept or (len(kept) == 1 and not plain.keys() & kept[0].keys()):
            del plain["allOf"]
            return plain | (kept[0] if kept else {"type": "string"})
        plain["allOf"] = kept
    return plain


def nodes_of(value: GrammarValue) -> Nodes:
    """Return the nodes of a grammar.

    Raises:
        UnsupportedError, LimitError: it is a composition that cannot be written.
    """
    return value._nodes
