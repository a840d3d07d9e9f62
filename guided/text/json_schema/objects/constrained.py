"""Objects of which more is said than what some names and all other keys are for.

That is: several groups of `properties`, patterns, what keys must fit, the number of members, names
that ask for others, and obligations (`ObjectShape.some`), each of which some member must meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.objects.forced_members import force_members
from guided.text.json_schema.objects.nodes import Bounds, write_record, write_row
from guided.text.json_schema.objects.redundant_obligations import drop_redundant
from guided.text.json_schema.objects.sorted_keys import ObjectParts, sort_keys
from guided.text.json_schema.shapes.children import is_false
from guided.text.json_schema.shapes.contradictions import (
    contrary_counts,
    forbidden_property,
    nothing_unfit,
    too_few_names,
    too_many_required,
)
from guided.text.json_schema.shapes.shape import Child, ObjectShape, Some
from guided.text.json_schema.strings.spelling import is_spellable
from guided.text.json_schema.values.obligations import (
    Obligation,
    TooManyError,
    Way,
    check_number,
    ways_of,
)
from guided.text.json_schema.values.productivity import NOTHING, Written

if TYPE_CHECKING:
    from guided.text.json_schema.writer import Writer


def write_constrained(writer: Writer, shape: ObjectShape, level: int) -> Written:
    """Return the node for the objects of a shape, and the nodes in doubt that each needs."""
    writer.reason = contrary_counts(shape.minimum, shape.maximum, "object", "properties")
    if writer.reason is not None:
        return NOTHING
    while True:
        parts = sort_keys(writer, shape)
        if shape.some:
            shape, parts = _with_few_obligations(writer, shape, parts)
        try:
            return _write(_Draft(writer, shape, parts, level))
        except TooManyError as error:
            some = shape.some[error.index]
            keyword = _keyword(some)
            writer.reader.refuse(some.at, keyword, f'the negation of "{keyword}" {error.fact}')
            shape = shape._replace(
                some=shape.some[: error.index] + shape.some[error.index + 1 :],
            )


def _with_few_obligations(
    writer: Writer, shape: ObjectShape, parts: ObjectParts
) -> tuple[ObjectShape, ObjectParts]:
    """Leave out the obligations that need not be counted."""
    for _ in range(2):
        fewer = drop_redundant(writer.reader, shape, parts)
        if fewer is not shape:
            shape, parts = fewer, sort_keys(writer, fewer)
        forced = force_members(writer, shape, parts)
        if forced is shape:
            break
        shape, parts = forced, sort_keys(writer, forced)
    return shape, parts


def _write(draft: _Draft) -> Written:
    if draft.write_members() and draft.settle_debts() and draft.count() and draft.is_meetable():
        return draft.node(), draft.needs()
    return NOTHING


def _keyword(some: Some) -> str:
    """Return the keyword whose negation an obligation is."""
    if some.key:
        return "propertyNames"
    return "patternProperties" if some.matching else "additionalProperties"


class _Draft:
    """An object on its way to a node. Each step returns False if no object fits.

    Attributes:
        required: the schema that asks for each name that must be there.
        names: by name the ways to write its value.
        others: sets of other keys, each as the node that spells them, with the ways for the values.
        forbidden: names that no other key may be.
        owes: names that must be there if one is.
        minimum, maximum: of the number of members, where that says anything.
    """

    def __init__(self, writer: Writer, shape: ObjectShape, parts: ObjectParts, level: int) -> None:
        self.required = _required(shape)
        self.names: dict[str, list[Way]] = {}
        self.others: list[tuple[int, list[Way]]] = []
        self.forbidden: list[str] = []
        self.owes: dict[str, list[str]] = {}
        self.minimum = 0
        self.maximum: int | None = None
        self._writer = writer
        self._shape = shape
        self._parts = parts
        self._level = level
        # As many obligations as are to be counted; each can be met in several ways.
        self._obligations = [
            Obligation(1 << bit, one.child)
            for bit, some in enumerate(shape.some)
            for one in (some, *some.others)
        ]
        check_number(len(shape.some))

    def write_members(self) -> bool:
        """Write the values of all keys that may occur."""
        writer, parts, required = self._writer, self._parts, self.required
        names = parts.names
        most = self._shape.maximum
        is_full = most is not None and most.value <= len(required)
        if is_full:
            names = {name: child for name, child in names.items() if name in required}
        for name in required:
            if name not in names:
                writer.reason = forbidden_property(name, required[name])
                return False
        for name, child in names.items():
            can_be_spelled = is_spellable(name)
            ways = self._ways(child, parts.meets.get(name, 0)) if can_be_spelled else []
            if ways:
                self.names[name] = ways
            elif name in required:
                if not can_be_spelled or is_false(child):
                    writer.reason = forbidden_property(name, required[name])
                return False
        if not is_full:
            for other in parts.others:
                ways = self._ways(other.child, other.meets)
                if ways:
                    self.others.append((other.key, ways))
        self.forbidden = [*parts.forbidden, *(name for name in names if name not in self.names)]
        return True

    def _ways(self, child: Child, meets: int) -> list[Way]:
        if is_false(child):
            return []
        obligations = []
        while meets:
            last = meets & -meets
            obligations.append(self._obligations[last.bit_length() - 1])
            meets -= last
        return ways_of(self._writer, child, obligations, self._level + 1)

    def settle_debts(self) -> bool:
        """Find who owes whom; forbid the names that owe what may not occur."""
        creditors: dict[str, list[str]] = {}
        bankrupt = []
        for owing, owed, _ in self._shape.owes:
            if owing not in self.names:
                continue
            creditors.setdefault(owed, []).append(owing)
            if owed not in self.names:
                bankrupt.append(owing)
        while bankrupt:
            name = bankrupt.pop()
            if self.names.pop(name, None) is not None:
                self.forbidden.append(name)
                bankrupt += creditors.get(name, ())
        for owing, owed, _ in self._shape.owes:
            if owing in self.names and owed not in self.required:
                self.owes.setdefault(owing, []).append(owed)
        return True

    def count(self) -> bool:
        """Keep the bounds of the number of members that say anything."""
        shape, count = self._shape, len(self.names)
        if shape.maximum is not None:
            if shape.maximum.value < len(self.required):
                self._writer.reason = too_many_required(shape.maximum, len(self.required))
                return False
            if self.others or shape.maximum.value < count:
                self.maximum = shape.maximum.value
        if shape.minimum is not None:
            if not self.others and shape.minimum.value > count:
                self._writer.reason = too_few_names(shape.minimum, count)
                return False
            if shape.minimum.value > len(self.required):
                self.minimum = shape.minimum.value
        return True

    def is_meetable(self) -> bool:
        """Return True if for each obligation some member can meet it."""
        met = 0
        for way in self._all_ways():
            met |= way.bits
        for bit, some in enumerate(self._shape.some):
            if not met >> bit & 1:
                self._writer.reason = nothing_unfit(some.at)
                return False
        return True

    def node(self) -> int:
        """Write the object."""
        writer, level = self._writer, self._level
        if not (
            self.others
            or self.owes
            or self.minimum
            or self.maximum is not None
            or self._obligations
            or (writer.is_any_order and len(self.names) > 1)
        ):
            values = {name: ways[0].node for name, ways in self.names.items()}
            return write_row(writer, values, self.required, level)
        bounds = Bounds(self.minimum, self.maximum, self.owes, [(1, None)] * len(self._shape.some))
        return write_record(
            writer,
            {name: [(way.bits, way.node) for way in ways] for name, ways in self.names.items()},
            self.required,
            [(key, [(way.bits, way.node) for way in ways]) for key, ways in self.others],
            list(filter(is_spellable, self.forbidden)),
            level,
            bounds,
        )

    def needs(self) -> frozenset[int]:
        """Return the nodes in doubt that are needed for sure; there may be more."""
        ways = [self.names[name] for name in self.required]
        for bit in range(len(self._shape.some)):
            ways.append([way for way in self._all_ways() if way.bits >> bit & 1])
        return self._writer.productivity.doubtful(each[0].node for each in ways if len(each) == 1)

    def _all_ways(self) -> list[Way]:
        ways = [way for each in self.names.values() for way in each]
        return ways + [way for _, each in self.others for way in each]


def _required(shape: ObjectShape) -> dict[str, Subschema]:
    """Return what must be there: what is required, and what that asks for in turn."""
    if not shape.owes:
        return shape.required
    asked: dict[str, list[tuple[str, Subschema]]] = {}
    for owing, owed, at in shape.owes:
        asked.setdefault(owing, []).append((owed, at))
    required = dict(shape.required)
    todo = list(required)
    while todo:
        for owed, at in asked.get(todo.pop(), ()):
            if owed not in required:
                required[owed] = at
                todo.append(owed)
    return required
