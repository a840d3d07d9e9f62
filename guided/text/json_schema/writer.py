"""Writes shapes as nodes of the core.

Each child is written once. Parts are written in place, so that most schemas need no rules; a rule
is made where a child leads back to itself, and where nesting would go too deep for Python's stack.
"""

from __future__ import annotations

from collections import deque

from guided._core import Arena
from guided.errors import SchemaError
from guided.text.json_schema.arrays import NOTHING, Written, write_array
from guided.text.json_schema.contradictions import nothing_fits, too_deep_to_indent
from guided.text.json_schema.objects import write_object
from guided.text.json_schema.prelude import INDENTED_LEVELS, Layout, Prelude
from guided.text.json_schema.productivity import Productivity
from guided.text.json_schema.reader import Reader
from guided.text.json_schema.scalars import Scalars
from guided.text.json_schema.shapes import (
    ANY_ARRAYS,
    ANY_NUMBERS,
    ANY_OBJECTS,
    ANY_STRINGS,
    ANYTHING,
    FALSE,
    NULL,
    TRUE,
    ArrayShape,
    Child,
    ObjectShape,
    Reason,
    Shape,
)
from guided.text.json_schema.strings import NEVER

# Containers written within each other before a rule is made.
MAX_INLINE = 6

# A child, and with an indentation its level: -1 without.
_Key = tuple[Child, int]


class Writer:
    """Writes the children of one document into one arena.

    Attributes:
        arena: a copy of the prelude's, and what was added.
        reason: why the value written last is `never`, when it is.
    """

    def __init__(self, reader: Reader, prelude: Prelude) -> None:
        self.reader = reader
        self.prelude = prelude
        self.arena: Arena = prelude.arena.clone()
        self.scalars = Scalars(reader, prelude, self.arena)
        self.productivity = Productivity()
        self.reason: Reason | None = None
        self._written: dict[_Key, int] = {}
        self._members: dict[tuple[int, int, int], int] = {}
        self._open: dict[_Key, int | None] = {}
        self._queue: deque[tuple[_Key, int, int]] = deque()
        self._reasons: dict[_Key, Reason | None] = {}

    def write(self, child: Child) -> int:
        """Return the node for a whole text that fits `child`.

        Raises:
            SchemaError: nothing fits.
        """
        start = self.value(child, 0)
        reason = None if start != NEVER else self.reason or nothing_fits(child[0])
        while self._queue:
            key, level, rule = self._queue.popleft()
            self._define(rule, self._alternatives(key[0], self.reader.shape(key[0]), level), key)
        reason = reason or self.productivity.failure(start)
        if reason is not None:
            raise SchemaError(
                reason.fact, pointer=reason.at.pointer(*reason.tokens), mend=reason.mend
            )
        return start

    def value(self, child: Child, level: int) -> int:
        """Return the node for a value that fits `child`; if it is `never`, `reason` says why."""
        if not child:
            return self.prelude.value(level)
        child = self.reader.resolve(child)
        key = (child, level if self.prelude.is_indented else -1)
        node = self._written.get(key)
        if node is None:
            if key in self._open:
                return self._rule_for(key)
            node = self._written[key] = self._write(key, level)
            if node == NEVER:
                self._reasons[key] = self.reason
        elif node == NEVER:
            self.reason = self._reasons[key]
        return node

    def member(self, value: int, layout: Layout) -> int:
        """Return a value of an object as it stands behind its colon."""
        key = (value, layout.before_value, layout.after_value)
        node = self._members.get(key)
        if node is None:
            node = self._members[key] = layout.member(self.arena, value)
        return node

    def item(self, value: int, layout: Layout) -> int:
        """Return an item of an array as it stands behind the blanks before it."""
        return self.arena.part(self.arena.sequence([value, layout.after_value]))

    def _write(self, key: _Key, level: int) -> int:
        shape = self.reader.shape(key[0])
        plain = self.prelude.plain.get(id(shape))
        if plain is not None:
            return plain
        if shape is ANYTHING:
            return self.prelude.value(level)
        arrays, objects = shape.arrays, shape.objects
        if (not arrays or arrays is ANY_ARRAYS) and (not objects or objects is ANY_OBJECTS):
            return self._alternatives(key[0], shape, level)
        if len(self._open) >= MAX_INLINE:
            rule = self._rule(key)
            self._queue.append((key, level, rule))
            return rule
        self._open[key] = None
        node = self._alternatives(key[0], shape, level)
        opened = self._open.pop(key)
        if opened is None:
            return node
        self._define(opened, node, key)
        return opened

    def _rule_for(self, key: _Key) -> int:
        """Return the rule for a child that is being written, and so leads back to itself."""
        rule = self._open[key]
        if rule is None:
            rule = self._open[key] = self._rule(key)
        return rule

    def _rule(self, key: _Key) -> int:
        rule = self.arena.rule("#" + key[0][0].short_pointer())
        self.productivity.expect(rule, key[0][0])
        return rule

    def _define(self, rule: int, body: int, key: _Key) -> None:
        self.arena.define(rule, body)
        if body == NEVER:
            self.productivity.refute(rule, self.reason)
        else:
            self.productivity.follow(rule, body)

    def _alternatives(self, child: Child, shape: Shape, level: int) -> int:
        """Write what a shape allows of each type; what needs a node in doubt is kept apart."""
        sure = self._scalars(shape)
        reason = self.reason
        doubtful: list[int] = []
        ways: list[frozenset[int]] = []
        if shape.arrays is ANY_ARRAYS:
            sure.append(self.prelude.array(level))
        if shape.objects is ANY_OBJECTS:
            sure.append(self.prelude.object(level))
        containers: tuple[ArrayShape | ObjectShape, ...] = (
            *(shape.arrays if shape.arrays is not ANY_ARRAYS else ()),
            *(shape.objects if shape.objects is not ANY_OBJECTS else ()),
        )
        for one in containers:
            node, needs = self._container(child, one, level)
            if node == NEVER:
                reason = reason or self.reason
            elif needs:
                doubtful.append(node)
                ways.append(needs)
            else:
                sure.append(node)
        nodes = sure + doubtful
        if not nodes:
            self.reason = reason
            return NEVER
        result = nodes[0] if len(nodes) == 1 else self.arena.choice(nodes)
        if not sure:
            self.productivity.depend(result, ways)
        return result

    def _scalars(self, shape: Shape) -> list[int]:
        """Write what is not a container; `reason` is why something is missing."""
        prelude, scalars = self.prelude, self.scalars
        nodes = []
        self.reason = shape.reason
        if shape.simple:
            simple = ((NULL, prelude.null), (TRUE, prelude.true), (FALSE, prelude.false))
            nodes += [node for bit, node in simple if shape.simple & bit]
        if shape.strings is ANY_STRINGS:
            nodes.append(prelude.string)
        elif shape.strings:
            nodes += map(scalars.string, shape.strings)
        if shape.numbers is ANY_NUMBERS:
            nodes.append(prelude.number)
        elif shape.numbers:
            nodes += map(scalars.number, shape.numbers)
        if NEVER in nodes:
            self.reason = self.reason or scalars.reason
            nodes = [node for node in nodes if node != NEVER]
        return nodes

    def _container(self, child: Child, shape: ArrayShape | ObjectShape, level: int) -> Written:
        if level >= INDENTED_LEVELS and self.prelude.is_indented:
            return self._empty(child, shape)
        if isinstance(shape, ArrayShape):
            return write_array(self, shape, level)
        return write_object(self, shape, level)

    def _empty(self, child: Child, shape: ArrayShape | ObjectShape) -> Written:
        """Write the empty container, the only one on a level that has no indentation."""
        self.reason = too_deep_to_indent(child[0], INDENTED_LEVELS)
        if isinstance(shape, ArrayShape):
            return NOTHING if shape.minimum else (self.arena.literal("[]"), frozenset())
        return NOTHING if shape.required else (self.arena.literal("{}"), frozenset())
