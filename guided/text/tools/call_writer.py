"""Calls of tools as nodes, and the texts that open them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from guided.text.json_schema.strings.spelling import JsonSpelling
from guided.text.json_schema.values.layout import Layout
from guided.text.regex import compile_regex
from guided.text.tags import TaggedText
from guided.text.tags.markers import EMPTY
from guided.text.tags.writer import template_node
from guided.text.tools.format import Template, ToolFormat, head_of
from guided.text.tools.message import MessageWriter
from guided.text.tools.tool import Tool


class Opening(NamedTuple):
    """A way to begin calls.

    Attributes:
        trigger: the text with which it begins, which is never free text.
        head: the whole text before anything that may differ.
        node: what follows that.
    """

    trigger: str
    head: str
    node: int


class CallWriter:
    """Writes calls; `arguments` are the nodes of each tool's."""

    def __init__(
        self,
        text: TaggedText,
        form: ToolFormat,
        tools: Sequence[Tool],
        arguments: Sequence[int],
        layout: Layout,
    ) -> None:
        self.text = text
        self.form = form
        self._arena = text.arena
        self._tools = list(zip(tools, arguments, strict=True))
        self._layout = layout
        self._spelling = JsonSpelling()

    def openings(self, after: int, *, is_parallel: bool, is_free: bool) -> list[Opening]:
        """Return the ways to begin calls.

        Args:
            after: the node of what follows the last call.
            is_parallel: there may be several.
            is_free: free text follows them, so what divides them is a matter of that.
        """
        form, arena = self.form, self._arena
        if form.style == "message":
            return [self._message(after, is_parallel=is_parallel)]
        end = self._ends(form.end, after)
        more = end
        if is_parallel and (form.begin or not is_free):
            more = arena.rule("more calls")
        calls = self._calls(more)
        following = arena.choice([self.text.marker(each.head, each.node) for each in calls])
        if more != end:
            between = arena.choice([arena.literal(each) for each in form.between] or [EMPTY])
            arena.define(more, arena.choice([end, arena.sequence([between, following])]))
        heads = [head_of(template) for template in form.begin] or [""]
        opened = [Opening(head, head, following) for head in heads if head]
        if form.style == "python":
            # A bracket alone opens nothing.
            brackets = [head for head in heads if len(head) == 1]
            opened = [each for each in opened if each.head not in brackets]
            opened += [
                Opening(bracket + each.head, bracket + each.head, each.node)
                for bracket in brackets
                for each in calls
            ]
        elif "" in heads:
            opened += calls
        return with_triggers(opened)

    def _calls(self, more: int) -> list[Opening]:
        """Return the ways to write one call and what follows it."""
        form, arena = self.form, self._arena
        end = self._ends(form.call_end, more)
        if form.style == "python":
            return [
                Opening("", f"{tool.name}(", arena.sequence([node, arena.literal(")"), end]))
                for tool, node in self._tools
            ]
        if form.style == "object":
            if not form.call_begin:
                return [Opening("", f'{{"{form.name_key}"', arena.sequence([self._member(), end]))]
            body = arena.sequence([self._object(), end])
            return [Opening("", head_of(each), body) for each in form.call_begin]
        # Where texts differ in what stands before the name, they are told apart before it.
        return [
            Opening("", head_of(template), arena.sequence([self._named(template), end]))
            for template in form.call_begin
        ]

    def _named(self, template: Template) -> int:
        """Match what follows the head of a template: the name, the rest of it, the arguments."""
        rest = template[1:]
        ways = []
        for tool, node in self._tools:
            values = {
                "name": self._arena.literal(tool.name),
                "id": self._id(),
                "index": compile_regex(self._arena, "0|[1-9][0-9]{0,3}"),
            }
            ways.append(self._arena.sequence([template_node(self.text, rest, values), node]))
        return self._arena.choice(ways)

    def _object(self) -> int:
        """Match an object with name and arguments."""
        layout, arena = self._layout, self._arena
        key = arena.literal(f'"{self.form.name_key}"')
        brace = layout.brackets["{"]
        return arena.sequence([brace, layout.before_first, key, self._member()])

    def _member(self) -> int:
        """Match what follows the first key of an object."""
        layout, arena = self._layout, self._arena
        colon = [*layout.colon, layout.before_value]
        comma = [layout.after_value, *layout.comma]
        key = arena.literal(f'"{self.form.arguments_key}"')
        ways = []
        for tool, node in self._tools:
            name = self._spelling.string(arena, tool.name)
            ways.append(arena.sequence([name, *comma, key, *colon, node]))
        id_ = EMPTY
        if self.form.id is not None:
            quote = arena.literal('"')
            value = arena.sequence([quote, self._id(), quote])
            member = arena.sequence([*comma, arena.literal('"id"'), *colon, value])
            id_ = arena.repeat(member, 0, 1)
        close = [layout.after_value, layout.close["}"]]
        return arena.sequence([*colon, arena.choice(ways), id_, *close])

    def _message(self, after: int, *, is_parallel: bool) -> Opening:
        writer = MessageWriter(self._arena, self._id())
        node = writer.message(self._tools, is_parallel=is_parallel)
        return Opening('{"role"', '{"role"', self._arena.sequence([node, after]))

    def _id(self) -> int:
        return EMPTY if self.form.id is None else compile_regex(self._arena, self.form.id)

    def _ends(self, texts: Sequence[str], following: int) -> int:
        if not texts:
            return following
        ends = [self.text.marker(each, following, may_end=True) for each in texts]
        return self._arena.choice(ends)


def with_triggers(opened: Sequence[Opening]) -> list[Opening]:
    """Give each opening its trigger: the first line of what they have in common, or of its own."""
    common = _common([each.head for each in opened])
    # A bracket or a brace is too common in free text.
    if len(common) > 1 and common not in ('{"', "[{"):
        return [each._replace(trigger=first_line(common)) for each in opened]
    return [each._replace(trigger=first_line(each.head)) for each in opened]


def _common(texts: Sequence[str]) -> str:
    """Return what some texts begin with."""
    low, high = min(texts), max(texts)
    length = next(
        (place for place, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low)
    )
    return low[:length]


def first_line(text: str) -> str:
    """Return the first line of a text, without blanks at its end."""
    return text.split("\n")[0].rstrip() or text
