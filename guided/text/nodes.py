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


def nodes_of(value: GrammarValue) -> Nodes:
    """Return the nodes of a grammar.

    Raises:
        UnsupportedError, LimitError: it is a composition that cannot be written.
    """
    return value._nodes
