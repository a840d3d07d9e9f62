"""Objects of a schema as nodes.

Most schemas say what some names and what all other keys are for, and that is written here. What
else can be said of objects is written by `constrained`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.objects.constrained import write_constrained
from guided.text.json_schema.objects.nodes import write_record, write_row
from guided.text.json_schema.shapes.children import is_false
from guided.text.json_schema.shapes.contradictions import forbidden_property
from guided.text.json_schema.shapes.shape import Child, Group, ObjectShape
from guided.text.json_schema.strings.spelling import NEVER, is_spellable
from guided.text.json_schema.values.productivity import NOTHING, Written

if TYPE_CHECKING:
    from guided.text.json_schema.writer import Writer

_NO_GROUP = Group({})


def write_object(writer: Writer, shape: ObjectShape, level: int) -> Written:
    """Return the node for the objects of a shape, and the nodes in doubt that each needs."""
    groups = shape.groups
    group = groups[0] if groups else _NO_GROUP
    if (
        len(groups) > 1
        or group.patterns
        or shape.minimum
        or shape.maximum
        or shape.keys
        or shape.owes
        or shape.some
    ):
        return write_constrained(writer, shape, level)
    required = shape.required
    properties = group.properties
    if not required.keys() <= properties.keys():
        properties = _declare(group, required)
    names: dict[str, int] = {}
    forbidden = []
    for name, child in properties.items():
        can_be_spelled = is_spellable(name)
        value = writer.value(child, level + 1) if can_be_spelled else NEVER
        if value != NEVER:
            names[name] = value
        elif name in required:
            if not can_be_spelled or is_false(child):
                writer.reason = forbidden_property(name, required[name])
            return NOTHING
        elif can_be_spelled:
            forbidden.append(name)
    needs = writer.productivity.doubtful(names[name] for name in required)
    other = NEVER if is_false(group.additional) else writer.value(group.additional, level + 1)
    if other == NEVER and (not writer.is_any_order or len(names) < 2):
        return write_row(writer, names, required, level), needs
    others = [] if other == NEVER else [(writer.any_json.string, [(0, other)])]
    ways = {name: [(0, value)] for name, value in names.items()}
    return write_record(writer, ways, required, others, forbidden, level), needs


def _declare(group: Group, required: dict[str, Subschema]) -> dict[str, Child]:
    """Treat required properties that are not declared as declared ones, after those that are."""
    undeclared = {name: group.additional for name in required if name not in group.properties}
    return {**group.properties, **undeclared}
