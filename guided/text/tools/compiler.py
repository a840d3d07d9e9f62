"""Tools to one node: the public door of this package for grammars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from guided._core import Arena
from guided.text.json_schema.values.any_json import any_json
from guided.text.tags import LateNodes, TaggedText, transplant
from guided.text.tools.argument_lists import write_parameters, write_python
from guided.text.tools.arguments import Arguments
from guided.text.tools.call_writer import CallWriter
from guided.text.tools.format import ToolFormat
from guided.text.tools.names import check_names
from guided.text.tools.python_values import python_values
from guided.text.tools.tool import Tool, about
from guided.text.tools.turn import Turn, TurnWriter

# What an output without calls must fit: an arena, a node, the rules that a vocabulary defines.
Answer = tuple[Arena, int, Mapping[int, Any]]


@dataclass(frozen=True, slots=True)
class CompiledTools:
    """Calls as nodes; `late`: the rules that a vocabulary is to define."""

    arena: Arena
    start: int
    late: LateNodes


def compile_tools(
    tools: Sequence[Tool], form: ToolFormat, turn: Turn, answer: Answer | None = None
) -> CompiledTools:
    """Write the texts of a turn into an arena of its own.

    Args:
        tools: those that may be called, at least one.
        form: how calls are written.
        turn: what may come.
        answer: what an output without calls must fit; None: free text.

    Raises:
        SchemaError, UnsupportedError, LimitError: a tool is at fault, or the format cannot write
            its name or its arguments; the tool is named.

    Cost: some 0.5 ms for each tool.
    """
    check_names(tools, form)
    text, nodes = _arguments(tools, form, turn)
    calls = CallWriter(text, form, tools, nodes, any_json(_whitespace(form, turn)).layout(0))
    start = None
    if answer is not None:
        source, node, late = answer
        start, moved = transplant(source, node, text.arena, late)
        text.late |= moved
    node = TurnWriter(calls, turn).write(start)
    return CompiledTools(text.arena, node, text.late)


def _whitespace(form: ToolFormat, turn: Turn) -> Any:
    # A line break between tokens would have to be escaped, which nobody does.
    return " ?" if form.style == "message" and turn.whitespace == "flexible" else turn.whitespace


def _arguments(tools: Sequence[Tool], form: ToolFormat, turn: Turn) -> tuple[TaggedText, list[int]]:
    """Return a writer into an arena that holds the arguments of all tools, and their nodes."""
    whitespace = _whitespace(form, turn)
    base = python_values(whitespace) if form.style == "python" else any_json(whitespace)
    arguments = Arguments(base)
    if form.style not in ("parameters", "python"):
        nodes = [arguments.object(tool) for tool in tools]
        return TaggedText(arguments.arena.clone()), nodes
    is_raw = form.style == "parameters"
    lists = [arguments.values(tool, is_raw=is_raw) for tool in tools]
    text = TaggedText(arguments.arena.clone())
    gap = base.layout(0).before_value
    nodes = []
    for tool, each in zip(tools, lists, strict=True):
        with about(tool.name):
            written = (
                write_parameters(text, form, each) if is_raw else write_python(text, each, gap)
            )
            nodes.append(written)
    return text, nodes
