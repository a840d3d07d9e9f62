"""Obligations that one property only can meet: that property must be there, and must meet them.

To say so keeps the ways to write a member few, for of several obligations each may be met or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from guided.text.json_schema.objects.sorted_keys import ObjectParts
from guided.text.json_schema.shapes.children import either, is_false, join
from guided.text.json_schema.shapes.shape import Child, Group, ObjectShape, Some
from guided.text.json_schema.strings.spelling import is_spellable

if TYPE_CHECKING:
    from guided.text.json_schema.writer import Writer


def force_members(writer: Writer, shape: ObjectShape, parts: ObjectParts) -> ObjectShape:
    """Make requirements of the obligations that one name only can meet.

    Returns the shape itself if there are none.
    """
    kept: list[Some] = []
    required = dict(shape.required)
    groups = list(shape.groups)
    first = 0
    for some in shape.some:
        alternatives = [some.child, *(other.child for other in some.others)]
        holder = _sole_holder(writer, parts, first, alternatives)
        first += len(alternatives)
        if holder is None:
            kept.append(some)
            continue
        name, children = holder
        required.setdefault(name, some.at)
        groups.append(Group({name: either(children)}))
    if len(kept) == len(shape.some):
        return shape
    return shape._replace(groups=tuple(groups), required=required, some=tuple(kept))


def _sole_holder(
    writer: Writer, parts: ObjectParts, first: int, alternatives: list[Child]
) -> tuple[str, tuple[Child, ...]] | None:
    """Return the one name that can meet an obligation, and the alternatives that it can meet.

    The bits of the alternatives begin with `first`.
    """

    def can_meet(child: Child, meets: int) -> tuple[Child, ...]:
        bits = meets >> first
        if not bits & ((1 << len(alternatives)) - 1) or is_false(child):
            return ()
        return tuple(
            other
            for bit, other in enumerate(alternatives)
            if bits >> bit & 1 and not writer.reader.is_void(join(child, other))
        )

    if any(can_meet(other.child, other.meets) for other in parts.others):
        return None
    found = None
    for name, child in parts.names.items():
        children = can_meet(child, parts.meets[name]) if is_spellable(name) else ()
        if children:
            if found is not None:
                return None
            found = name, children
    return found
