"""Arrays of a schema as nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guided.text.json_schema.contradictions import contrary_counts, too_few_places
from guided.text.json_schema.prelude import list_of, more_of
from guided.text.json_schema.shapes import ArrayShape
from guided.text.json_schema.strings import NEVER

if TYPE_CHECKING:
    from guided.text.json_schema.writer import Writer

Written = tuple[int, frozenset[int]]
NOTHING: Written = (NEVER, frozenset())


def write_array(writer: Writer, shape: ArrayShape, level: int) -> Written:
    """Return the node for the arrays of a shape, and the nodes in doubt that each needs."""
    arena, layout = writer.arena, writer.prelude.layout(level)
    minimum = 0 if shape.minimum is None else shape.minimum.value
    maximum = None if shape.maximum is None else shape.maximum.value
    writer.reason = contrary_counts(shape.minimum, shape.maximum, "array", "items")
    if writer.reason is not None:
        return NOTHING
    prefix, rest, maximum = _items(writer, shape, level, maximum)
    if maximum is not None and maximum < minimum:
        if shape.minimum is not None and maximum == len(prefix):
            writer.reason = writer.reason or too_few_places(shape.minimum, maximum)
        return NOTHING
    needed = prefix[:minimum] + ([rest] if minimum > len(prefix) else [])
    needs = writer.productivity.doubtful(needed)
    close = layout.close["]"]
    prefix = [writer.item(node, layout) for node in prefix]
    rest = writer.item(rest, layout)
    if not prefix:
        content = (
            NEVER if maximum == 0 else list_of(arena, layout, rest, max(minimum, 1), maximum, "]")
        )
        return layout.enclose(arena, "[]", content, minimum == 0), needs
    count = len(prefix)
    tail = close
    if maximum is None or maximum > count:
        most = None if maximum is None else maximum - count
        tail = arena.sequence([more_of(arena, layout, rest, max(minimum - count, 0), most), close])
    for written in range(count - 1, 0, -1):
        tail = arena.sequence([*layout.comma, prefix[written], tail])
        if written >= minimum:
            tail = arena.choice([tail, close])
    content = arena.sequence([prefix[0], tail])
    return layout.enclose(arena, "[]", content, minimum == 0), needs


def _items(
    writer: Writer, shape: ArrayShape, level: int, maximum: int | None
) -> tuple[list[int], int, int | None]:
    """Write the items; an item that nothing fits ends the array, so it lowers the maximum.

    Returns the nodes by position, that of the rest, and the maximum; `reason` is why it was
    lowered, if it was lowered by something else than the schema false.
    """
    writer.reason = None
    prefix: list[int] = []
    for child in shape.prefix if maximum is None else shape.prefix[:maximum]:
        node = writer.value(child, level + 1)
        if node == NEVER:
            return prefix, NEVER, len(prefix)
        prefix.append(node)
    if maximum is not None and maximum <= len(prefix):
        return prefix, NEVER, maximum
    if any(schema.value is False for schema in shape.rest):
        writer.reason = None
        return prefix, NEVER, len(prefix)
    rest = writer.value(shape.rest, level + 1)
    return prefix, rest, len(prefix) if rest == NEVER else maximum
