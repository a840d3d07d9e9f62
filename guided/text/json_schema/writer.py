"""Writes shapes as nodes of the core.

Each child is written once. Parts are written in place, so that most schemas need no rules; a rule
is made where a child leads back to itself, and where nesting would go too deep for Python's stack.
"""

from __future__ import annotations

from collections import deque
from functools import cached_property
from typing import Literal

from guided._core import Arena
from guided.errors import SchemaError
from guided.text.json_schema.arrays.unique_items import ItemSplitter
from guided.text.json_schema.arrays.writer import write_array
from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.objects.writer import write_object
from guided.text.json_schema.reader import Reader
from guided.text.json_schema.shapes.children import place
from guided.text.json_schema.shapes.contradictions import nothing_fits, too_deep_to_indent
from guided.text.json_schema.shapes.shape import (
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
    NumberShape,
    ObjectShape,
    Reason,
    Shape,
    StringShape,
)
from guided.text.json_schema.strings.spelling import NEVER
from guided.text.json_schema.values.any_json import AnyJson
from guided.text.json_schema.values.layout import INDENTED_LEVELS, Layout
from guided.text.json_schema.values.productivity import NOTHING, Productivity, Written
from guided.text.json_schema.values.scalars import Scalars

# Containers written within each other before a rule is made.
MAX_INLINE = 6

# What `Arena.record` calls the layout.
Frame = tuple[int, int, int, int, int]

# A child, and with an indentation its level: -1 without.
_Key = tuple[Child, int]


class Writer:
    """Writes the children of one document into one arena.

    Attributes:
        arena: a copy of the any_json's, and what was added.
        is_any_order: properties may come in any order.
        reason: why the value written last is `never`, when it is.
    """

    def __init__(
        self,
        reader: Reader,
        any_json: AnyJson,
        *,
        property_order: Literal["schema", "any"] = "schema",
    ) -> None:
        self.reader = reader
        self.is_any_order = property_order == "any"
        self.any_json = any_json
        self.arena: Arena = any_json.arena.clone()
        self.scalars = Scalars(reader, any_json, self.arena)
        self.productivity = Productivity()
        self.reason: Reason | None = None
        self._written: dict[_Key, int] = {}
        self._members: dict[tuple[int, int, int], int] = {}
        self._names: dict[str, int] = {}
        self._frames: dict[tuple[int, str], Frame] = {}
        self._open: dict[_Key, int | None] = {}
        self._queue: deque[tuple[_Key, int, int]] = deque()
        self._reasons: dict[_Key, Reason | None] = {}

    def write(self, child: Child) -> int:
        """Return the node for a whole text that fits `child`.

        Raises:
            SchemaError: nothing fits.
        """
        start = self.value(child, 0)
        reason = None if start != NEVER else self.reason or nothing_fits(self.place(child))
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
            return self.any_json.value(level)
        if len(child) == 1 and type(child[0]) is Subschema:
            plain = self.any_json.plain.get(id(self.reader.glance(child[0])))
            if plain is not None:
                return plain
            child = self.reader.resolve(child)
        else:
            child = self.reader.sharing.child(child)
        key = (child, level if self.any_json.is_indented else -1)
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

    @cached_property
    def items(self) -> ItemSplitter:
        """What splits items that must differ by their types."""
        return ItemSplitter(self)

    def place(self, child: Child) -> Subschema:
        """Return a schema to name in a message about `child`."""
        return place(child) or self.reader.document.root

    def frame(self, brackets: str, level: int) -> Frame:
        """Return the nodes around the members of a record between these brackets."""
        key = (level if self.any_json.is_indented else 0, brackets)
        frame = self._frames.get(key)
        if frame is None:
            layout = self.any_json.layout(level)
            opening, closing = layout.brackets[brackets[0]], layout.brackets[brackets[1]]
            if layout.is_blank_shared:
                empty = self.arena.sequence([layout.before_first, closing])
            else:
                empty = closing
            comma = self.arena.sequence(layout.comma)
            close = layout.close[brackets[1]]
            frame = self._frames[key] = (opening, layout.before_first, comma, close, empty)
        return frame

    def key(self, name: str) -> int:
        """Return a name as it is spelled as a key."""
        node = self._names.get(name)
        if node is None:
            node = self._names[name] = self.scalars.spelling.string(self.arena, name)
        return node

    def member(self, value: int, layout: Layout) -> int:
        """Return a value of an object as it stands behind its key."""
        key = (value, layout.before_value, layout.after_value)
        node = self._members.get(key)
        if node is None:
            part = layout.member(self.arena, value)
            node = self._members[key] = self.arena.sequence([*layout.colon, part])
        return node

    def item(self, value: int, layout: Layout) -> int:
        """Return an item of an array as it stands behind the blanks before it."""
        return self.arena.part(self.arena.sequence([value, layout.after_value]))

    def _write(self, key: _Key, level: int) -> int:
        shape = self.reader.shape(key[0])
        plain = self.any_json.plain.get(id(shape))
        if plain is not None:
            return plain
        if shape is ANYTHING:
            return self.any_json.value(level)
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
        schema = self.place(key[0])
        rule = self.arena.rule("#" + schema.short_pointer())
        self.productivity.expect(rule, schema)
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
            sure.append(self.any_json.array(level))
        if shape.objects is ANY_OBJECTS:
            sure.append(self.any_json.object(level))
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
        self.reason = shape.reason
        nodes = self.simple(shape.simple) if shape.simple else []
        if shape.strings:
            nodes += self.strings(shape.strings)
        if shape.numbers:
            nodes += self.numbers(shape.numbers)
        return nodes

    def simple(self, simple: int) -> list[int]:
        """Write those of NULL, TRUE and FALSE that are in `simple`."""
        any_json = self.any_json
        literals = ((NULL, any_json.null), (TRUE, any_json.true), (FALSE, any_json.false))
        return [node for bit, node in literals if simple & bit]

    def strings(self, alternatives: tuple[StringShape, ...]) -> list[int]:
        """Write strings; `reason` is why some are missing."""
        if alternatives is ANY_STRINGS:
            return [self.any_json.text]
        return self._without_never(list(map(self.scalars.string, alternatives)))

    def numbers(self, alternatives: tuple[NumberShape, ...]) -> list[int]:
        """Write numbers; `reason` is why some are missing."""
        if alternatives is ANY_NUMBERS:
            return [self.any_json.number]
        return self._without_never(list(map(self.scalars.number, alternatives)))

    def _without_never(self, nodes: list[int]) -> list[int]:
        if NEVER in nodes:
            self.reason = self.reason or self.scalars.reason
            return [node for node in nodes if node != NEVER]
        return nodes

    def _container(self, child: Child, shape: ArrayShape | ObjectShape, level: int) -> Written:
        if level >= INDENTED_LEVELS and self.any_json.is_indented:
            return self._empty(child, shape)
        if isinstance(shape, ArrayShape):
            return write_array(self, shape, level)
        return write_object(self, shape, level)

    def _empty(self, child: Child, shape: ArrayShape | ObjectShape) -> Written:
        """Write the empty container, the only one on a level that has no indentation."""
        self.reason = too_deep_to_indent(self.place(child), INDENTED_LEVELS)
        if isinstance(shape, ArrayShape):
            owes_more = any(each.minimum for each in shape.contains)
            empty = self.arena.literal("[]")
        else:
            owes_more = bool(shape.required or shape.some)
            empty = self.arena.literal("{}")
        if owes_more or (shape.minimum is not None and shape.minimum.value > 0):
            return NOTHING
        return empty, frozenset()
