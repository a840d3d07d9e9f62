"""The nodes of objects, once it is known what may stand in them.

Most are records of the core, which remembers the keys that were written, so that no key comes
twice, and keeps counts. Where the keys are names in the order of the schema, nothing needs to be
remembered, and the object is a row of nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from guided.text.json_schema.strings.spelling import NEVER

if TYPE_CHECKING:
    from guided.text.json_schema.writer import Writer

# The ways to write a value: (bits of the counts it adds to, node).
Values = Sequence[tuple[int, int]]


class Bounds(NamedTuple):
    """What holds for an object as a whole.

    Attributes:
        minimum, maximum: of the number of members.
        owes: names that must be there if one is.
        counts: bounds of the counts.
    """

    minimum: int = 0
    maximum: int | None = None
    owes: Mapping[str, Sequence[str]] | None = None
    counts: Sequence[tuple[int, int | None]] = ()


UNBOUNDED = Bounds()


def write_row(writer: Writer, names: dict[str, int], required: Collection[str], level: int) -> int:
    """Write an object of these names, each with the node of its value, in this order.

    From back to front, `keys` is what may come where a key must come (the beginning, or after a
    comma), and `rest` what may come after a value. Each name adds a few nodes to those of the next,
    so the whole is linear in their number whatever is optional.
    """
    arena, layout = writer.arena, writer.any_json.layout(level)
    sequence, choice = arena.sequence, arena.choice
    comma = layout.comma
    keys, rest = NEVER, layout.close["}"]
    close = rest
    may_close = True
    for name, value in reversed(names.items()):
        pair = sequence([writer.key(name), writer.member(value, layout), rest])
        if name in required:
            keys = pair
            rest = sequence([*comma, keys])
            may_close = False
        else:
            keys = pair if keys == NEVER else choice([pair, keys])
            rest = sequence([*comma, keys])
            if may_close:
                rest = choice([rest, close])
    return layout.enclose(arena, "{}", keys, may_close)


def write_record(
    writer: Writer,
    names: Mapping[str, Values],
    required: Collection[str],
    others: Sequence[tuple[int, Values]],
    forbidden: Sequence[str],
    level: int,
    bounds: Bounds = UNBOUNDED,
) -> int:
    """Write an object of names, and of other keys, each set of them with the node that spells it.

    The other keys are none of `names` and of `forbidden`, and with an order they come last.
    """
    layout, member = writer.any_json.layout(level), writer.member
    owes = bounds.owes
    slots: list[tuple[bool, bool, Sequence[int]]]
    if owes:
        place = {name: slot for slot, name in enumerate(names)}
        slots = [
            (name in required, False, [place[other] for other in owes.get(name, ())])
            for name in names
        ]
    else:
        slots = [(name in required, False, ()) for name in names]
    members: list[tuple[int, int, str | None, bool, Values]] = [
        (slot, writer.key(name), name, False, [(bits, member(node, layout)) for bits, node in ways])
        for slot, (name, ways) in enumerate(names.items())
    ]
    if others:
        members += [
            (len(slots), key, None, True, [(bits, member(node, layout)) for bits, node in ways])
            for key, ways in others
        ]
        slots.append((False, True, ()))
    return writer.arena.record(
        writer.frame("{}", level),
        slots,
        members,
        "any" if writer.is_any_order else "later",
        bounds.minimum,
        bounds.maximum,
        bounds.counts,
        forbidden if others else (),
    )
