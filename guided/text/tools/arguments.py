"""The arguments of tools as nodes: as one JSON object, or each value by itself."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property

from guided._core import Arena
from guided.errors import UnsupportedError
from guided.text.json_schema.compiler import load_schema
from guided.text.json_schema.document.document import Document
from guided.text.json_schema.numbers.spelling import any_number
from guided.text.json_schema.reader import Reader
from guided.text.json_schema.shapes.shape import (
    ANY_STRINGS,
    ANYTHING,
    Child,
    ObjectShape,
    Shape,
    StringShape,
    is_nothing,
)
from guided.text.json_schema.strings.contents import Contents
from guided.text.json_schema.strings.plain_texts import PlainTexts
from guided.text.json_schema.strings.spelling import NEVER
from guided.text.json_schema.values.any_json import AnyJson
from guided.text.json_schema.writer import Writer
from guided.text.tools.python_values import PythonValues, SingleQuotes
from guided.text.tools.tool import Tool, about

PAGE = "docs/tools.md"


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool.

    Attributes:
        text: the node of its strings as they are, without quotes; None if there are none.
        other: the node of its other values as JSON; None if there are none.
        is_required: it must be given.
        owes: the arguments that must be given with it.
    """

    name: str
    text: int | None
    other: int | None
    is_required: bool
    owes: tuple[str, ...]


class Arguments:
    """Writes the arguments of one tool after the other into an arena.

    Attributes:
        any_json: the values that nothing constrains; its arena holds all that was written.
    """

    def __init__(self, any_json: AnyJson) -> None:
        self.any_json = copy.copy(any_json)

    @property
    def arena(self) -> Arena:
        """What was written so far; the next is written into a copy, in which numbers are valid."""
        return self.any_json.arena

    def object(self, tool: Tool) -> int:
        """Return the node of a tool's arguments as JSON.

        Raises:
            SchemaError, UnsupportedError, LimitError: its schema is at fault; the tool is named.
        """
        with about(tool.name):
            writer = self._writer(tool)
            node = writer.write((writer.reader.document.root,))
            self._keep(writer)
        return node

    def values(self, tool: Tool, *, is_raw: bool) -> list[Argument]:
        """Return a tool's arguments one by one, in their order.

        Args:
            tool: the tool.
            is_raw: strings are written without quotes.

        Raises:
            SchemaError, UnsupportedError, LimitError: its schema is at fault, or says more of the
                arguments than can be told of each by itself; the tool is named.
        """
        with about(tool.name):
            writer = self._writer(tool)
            arguments = writer.arguments(is_raw=is_raw)
            self._keep(writer)
        return arguments

    def _writer(self, tool: Tool) -> ValueWriter:
        document = Document(load_schema(tool.closed_parameters), registry=None)
        return ValueWriter(Reader(document, "refuse", formats="assert"), self.any_json)

    def _keep(self, writer: Writer) -> None:
        writer.reader.release()
        self.any_json = copy.copy(self.any_json)
        self.any_json.arena = writer.arena


class ValueWriter(Writer):
    """Writes the properties of an object, each by itself."""

    def arguments(self, *, is_raw: bool) -> list[Argument]:
        """Return the properties; see `Arguments.values`."""
        shape = self._only_object()
        group = shape.groups[0] if shape.groups else None
        properties = {} if group is None else dict(group.properties)
        undeclared = [name for name in shape.required if name not in properties]
        properties |= {name: group.additional if group else () for name in undeclared}
        found = []
        for name, child in properties.items():
            text, other = self._value(child, is_raw=is_raw)
            is_required = name in shape.required
            owes = tuple(second for first, second, _ in shape.owes if first == name)
            if text is not None or other is not None or is_required:
                found.append(Argument(name, text, other, is_required, owes))
        impossible = [each for each in found if each.text is None and each.other is None]
        # Whatever the reason, the message is that of the whole object.
        if impossible:
            self.write((self.reader.document.root,))
        self._finish()
        return found

    def _only_object(self) -> ObjectShape:
        root = self.reader.document.root
        shape = self.reader.shape(self.reader.resolve((root,)))
        objects = shape.objects
        if not objects:
            self.write((root,))  # says why nothing fits
        one = objects[0]
        is_plain = len(objects) == 1 and len(one.groups) <= 1
        has_patterns = bool(one.groups) and bool(one.groups[0].patterns)
        if not is_plain or has_patterns or one.minimum or one.maximum or one.keys or one.some:
            raise UnsupportedError(
                "its arguments are more than a list of properties, and this tool format writes"
                " each by itself",
                keyword="parameters",
                place="at /parameters",
                page=PAGE,
                mend="list them under properties, or choose a format that writes JSON",
            )
        return one

    def _value(self, child: Child, *, is_raw: bool) -> tuple[int | None, int | None]:
        """Return the nodes of strings and of all other values."""
        if not is_raw:
            node = self.value(child, 0)
            return None, None if node == NEVER else node
        shape = self.reader.shape(self.reader.resolve(child)) if child else ANYTHING
        text = self._texts(shape.strings) if shape.strings else None
        rest = shape._replace(strings=())
        if is_nothing(rest):
            return text, None
        other = self.value(child, 0) if not shape.strings else self._but_strings(child, rest)
        return (text if text is None else self._apart(text, rest)), other

    def _texts(self, alternatives: tuple[StringShape, ...]) -> int | None:
        nodes = [self._plain.content(each) for each in alternatives]
        node = self.arena.choice([each for each in nodes if not self._plain.is_void(each)])
        return None if node == NEVER else node

    def _but_strings(self, child: Child, rest: Shape) -> int | None:
        node = self._alternatives(child, rest, 0)
        return None if node == NEVER else node

    def _apart(self, text: int, rest: Shape) -> int:
        """Return the strings that are not taken for another value when they are read."""
        arena = self.arena
        words = [arena.literal(word) for word in ("null", "true", "false")]
        others = [any_number(arena), *words]
        anything = arena.any_text()
        brackets = ("[" if rest.arrays else "") + ("{" if rest.objects else "")
        others += [arena.sequence([arena.literal(each), anything]) for each in brackets]
        return arena.minus(text, arena.choice(others))

    def _finish(self) -> None:
        """Write the rules that are still open."""
        while self._queue:
            key, level, rule = self._queue.popleft()
            self._define(rule, self._alternatives(key[0], self.reader.shape(key[0]), level), key)

    def strings(self, alternatives: tuple[StringShape, ...]) -> list[int]:
        """Write strings, those of Python in single quotes too."""
        nodes = super().strings(alternatives)
        if not isinstance(self.any_json, PythonValues) or alternatives is ANY_STRINGS:
            return nodes
        quote = self.arena.literal("'")
        for each in alternatives:
            content = self._single.content(each)
            if not self._single.is_void(content):
                nodes.append(self.arena.sequence([quote, content, quote]))
        return nodes

    @cached_property
    def _single(self) -> Contents:
        return Contents(self.arena, SingleQuotes(), self.reader.refuse)

    @cached_property
    def _plain(self) -> Contents:
        return Contents(self.arena, PlainTexts(), self.reader.refuse)
