"""Obligations of which one must be met, and whether they imply others."""

from __future__ import annotations

from collections.abc import Sequence

from guided.text.json_schema.shapes.shape import Child, Some


class Choices:
    """Obligations of which one must be met, to be compared with others for any object."""

    def __init__(self, obligations: Sequence[Some]) -> None:
        self._all = obligations
        self._known = set(map(id, obligations))
        self._names: dict[str, list[Child]] = {}
        for some in obligations:
            if some.name is not None:
                self._names.setdefault(some.name, []).append(some.child)

    def imply(self, others: Choices) -> bool:
        """Return True if it is plain that one of `others` is met when one of these is."""
        return all(
            id(some) in others._known
            or (
                some.name is not None
                and any(set(child) <= set(some.child) for child in others._names.get(some.name, ()))
            )
            for some in self._all
        )
