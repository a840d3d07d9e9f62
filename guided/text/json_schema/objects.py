"""Objects of a schema as nodes: properties in the order of the schema, then the additional ones.

From back to front, `keys` is what may come where a key must come (the beginning, or after a comma),
and `rest` what may come after a value. Each property adds a few nodes to those of the next, so the
whole is linear in their number whatever is optional.

That no additional key is written twice is not held here: what was written would have to be
remembered.
"""

from __future__ import annotations

from json.encoder import encode_basestring, encode_basestring_ascii
from typing import TYPE_CHECKING

from guided.text.json_schema.arrays import NOTHING, Written
from guided.text.json_schema.contradictions import forbidden_property
from guided.text.json_schema.prelude import Layout, list_of, more_of
from guided.text.json_schema.shapes import Child, ObjectShape
from guided.text.json_schema.strings import NEVER, is_spellable

if TYPE_CHECKING:
    from guided.text.json_schema.writer import Writer


def write_object(writer: Writer, shape: ObjectShape, level: int) -> Written:
    """Return the node for the objects of a shape, and the nodes in doubt that each needs."""
    arena, layout = writer.arena, writer.prelude.layout(level)
    required = shape.required
    properties = shape.properties
    if not required.keys() <= properties.keys():
        properties = _declare_required(writer, shape)
    values: list[tuple[str, int]] = []
    for name, child in properties.items():
        value = writer.value(child, level + 1) if is_spellable(name) else NEVER
        if value != NEVER:
            values.append((name, value))
        elif name in required:
            if not is_spellable(name) or any(schema.value is False for schema in child):
                writer.reason = forbidden_property(name, shape)
            return NOTHING
    sequence, choice = arena.sequence, arena.choice
    colon, comma = layout.colon, layout.comma
    close = layout.close["}"]
    keys, rest = _additional(writer, shape, layout, level)
    may_close = True
    for name, value in reversed(values):
        pair = sequence([_key(writer, name), *colon, writer.member(value, layout), rest])
        if name in required:
            keys = pair
            rest = sequence([*comma, keys])
            may_close = False
        else:
            keys = pair if keys == NEVER else choice([pair, keys])
            rest = sequence([*comma, keys])
            if may_close:
                rest = choice([rest, close])
    node = layout.enclose(arena, "{}", keys, may_close)
    needs = writer.productivity.doubtful(value for name, value in values if name in required)
    return node, needs


def _declare_required(writer: Writer, shape: ObjectShape) -> dict[str, Child]:
    """Treat required properties that are not declared as declared ones, after those that are."""
    undeclared = {name: shape.additional for name in shape.required if name not in shape.properties}
    return {**shape.properties, **undeclared}


def _additional(writer: Writer, shape: ObjectShape, layout: Layout, level: int) -> tuple[int, int]:
    """Return `keys` and `rest` as they are when all declared properties are through."""
    arena, close = writer.arena, layout.close["}"]
    additional = shape.additional
    if len(additional) == 1 and additional[0].value is False:
        return NEVER, close
    value = writer.value(additional, level + 1)
    if value == NEVER:
        return NEVER, close
    key = writer.scalars.key(frozenset(shape.properties).union(shape.required))
    pair = arena.sequence([key, *layout.colon, writer.member(value, layout)])
    more = more_of(arena, layout, pair, 0, None)
    return list_of(arena, layout, pair, 1, None, "}"), arena.sequence([more, close])


def _key(writer: Writer, name: str) -> int:
    literal = writer.arena.literal
    if name.isascii():
        return literal(encode_basestring(name))
    # json.dumps escapes what is beyond ASCII unless told otherwise.
    return writer.arena.choice(
        [literal(encode_basestring(name)), literal(encode_basestring_ascii(name))]
    )
