"""Arrays of a schema as nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guided.text.json_schema.arrays.records import ArrayDraft, counts, simplify
from guided.text.json_schema.arrays.unique_arrays import UniqueDraft
from guided.text.json_schema.shapes.children import is_false
from guided.text.json_schema.shapes.contradictions import contrary_counts, too_few_places
from guided.text.json_schema.shapes.shape import ArrayShape
from guided.text.json_schema.strings.spelling import NEVER
from guided.text.json_schema.values.layout import list_of, more_of
from guided.text.json_schema.values.obligations import TooManyError
from guided.text.json_schema.values.productivity import NOTHING, Written

if TYPE_CHECKING:
    from guided.text.json_schema.writer import Writer


def write_array(writer: Writer, shape: ArrayShape, level: int) -> Written:
    """Return the node for the arrays of a shape, and the nodes in doubt that each needs."""
    if shape.contains or shape.unique is not None:
        shape = simplify(shape)
    arena, layout = writer.arena, writer.any_json.layout(level)
    minimum = 0 if shape.minimum is None else shape.minimum.value
    maximum = None if shape.maximum is None else shape.maximum.value
    writer.reason = contrary_counts(shape.minimum, shape.maximum, "array", "items")
    if writer.reason is not None:
        return NOTHING
    if shape.contains or shape.unique is not None:
        return _record(writer, shape, level)
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


def _record(writer: Writer, shape: ArrayShape, level: int) -> Written:
    """Write an array of which some items are counted, or all must differ."""
    for contains in shape.contains:
        writer.reason = contrary_counts(*counts(contains, 0), "array", "items that fit contains")
        if writer.reason is not None:
            return NOTHING
    while True:
        try:
            draft = _draft(writer, shape, level)
            break
        except TooManyError as error:
            contains = shape.contains[error.index]
            writer.reader.refuse(
                contains.at, contains.keyword, f'"{contains.keyword}" {error.fact}'
            )
            kept = shape.contains[: error.index] + shape.contains[error.index + 1 :]
            shape = shape._replace(contains=kept)
    writer.reason = draft.failure()
    if writer.reason is not None:
        return NOTHING
    return draft.node(), draft.needs()


def _draft(writer: Writer, shape: ArrayShape, level: int) -> ArrayDraft:
    if shape.unique is None:
        draft = ArrayDraft(writer, shape, level)
        draft.write_items()
        return draft
    unique = UniqueDraft(writer, shape, level)
    unique.write_items()
    unique.tell_apart(shape.unique)
    return unique


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
    if is_false(shape.rest):
        writer.reason = None
        return prefix, NEVER, len(prefix)
    rest = writer.value(shape.rest, level + 1)
    return prefix, rest, len(prefix) if rest == NEVER else maximum
