"""How a family of models writes tool calls: read from the files in `formats/`.

A file says what stands around calls, around one call and around each argument. Where several texts
are listed, any of them may stand there, the first one being what the models write most. In them
`$name` is the name of the tool, `$key` that of an argument, `$id` the call's own, `$index` its
number, and `$is_string` tells raw text from JSON.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

from guided.errors import GuidedError

DEFAULT = "hermes"

# object: {"name": ..., "arguments": {...}}. arguments: the name in the marker, then {...}.
# parameters: a pair of markers around each argument. python: name(key=value).
# message: a whole message of the OpenAI API.
Style = Literal["object", "arguments", "parameters", "python", "message"]
# A text cut at its placeholders: (text, whether it is the name of a placeholder).
Template = tuple[tuple[str, bool], ...]

_PLACEHOLDER = re.compile(r"\$(name|key|id|index|is_string)")


@dataclass(frozen=True, slots=True)
class Messages:
    """The messages that an output is made of, where they have headers.

    Attributes:
        before: beginning and end of those that may come before the last.
        begin, ends: those of a last message that is no call.
    """

    before: tuple[tuple[str, str], ...]
    begin: str
    ends: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolFormat:
    """A wire format.

    Attributes:
        name: what it is called.
        models: who writes it.
        style: how name and arguments of a call are put.
        begin, end: what stands around all calls that follow each other; () for nothing.
        call_begin, call_end: what stands around one.
        between: what divides two.
        name_key, arguments_key: the keys of an object.
        id: a pattern for the ids of calls; None if they have none.
        parameter_begin, parameter_end, parameter_after: around one argument, and after that.
        is_text_after: free text may follow calls, and further calls that; else the turn is over.
        is_parallel: there may be several calls in one turn.
        reasoning: the markers around what the model thinks first.
        messages: where the output is made of messages with headers.
        signs: groups of texts; a chat template that has all of one group knows the format.
    """

    name: str
    models: str
    style: Style
    begin: tuple[Template, ...]
    end: tuple[str, ...]
    call_begin: tuple[Template, ...]
    call_end: tuple[str, ...]
    between: tuple[str, ...]
    name_key: str
    arguments_key: str
    id: str | None
    parameter_begin: tuple[Template, ...]
    parameter_end: str
    parameter_after: tuple[str, ...]
    is_text_after: bool
    is_parallel: bool
    reasoning: tuple[str, str]
    messages: Messages | None
    signs: tuple[tuple[str, ...], ...]


def tool_formats() -> list[str]:
    """Return the names of all formats."""
    return sorted(each.name.removesuffix(".json") for each in _folder().iterdir())


@lru_cache(maxsize=64)
def find_format(name: str) -> ToolFormat:
    """Return a format by its name.

    Raises:
        GuidedError: there is none of that name.
    """
    known = tool_formats()
    if name not in known:
        close = difflib.get_close_matches(name, known, 1)
        raise GuidedError(
            f'there is no tool format "{name}"',
            mend=f'did you mean "{close[0]}"?' if close else f"those known are {', '.join(known)}",
        )
    text = (_folder() / f"{name}.json").read_text(encoding="utf-8")
    return _format(json.loads(text))


def template_of(text: str) -> Template:
    """Cut a text at its placeholders."""
    parts = _PLACEHOLDER.split(text)
    return tuple((part, place % 2 == 1) for place, part in enumerate(parts) if part)


def head_of(template: Template) -> str:
    """Return the text before the first placeholder."""
    return "" if not template or template[0][1] else template[0][0]


def _folder() -> Any:
    return files(__package__) / "formats"


def _format(fields: Mapping[str, Any]) -> ToolFormat:
    messages = fields.get("messages")

    def templates(key: str) -> tuple[Template, ...]:
        return tuple(map(template_of, fields.get(key, [])))

    return ToolFormat(
        name=fields["name"],
        models=fields["models"],
        style=fields["style"],
        begin=templates("begin"),
        end=tuple(fields.get("end", [])),
        call_begin=templates("call_begin"),
        call_end=tuple(fields.get("call_end", [])),
        between=tuple(fields.get("between", [])),
        name_key=fields.get("name_key", "name"),
        arguments_key=fields.get("arguments_key", "arguments"),
        id=fields.get("id"),
        parameter_begin=templates("parameter_begin"),
        parameter_end=fields.get("parameter_end", ""),
        parameter_after=tuple(fields.get("parameter_after", [])),
        is_text_after=fields["after"] == "text",
        is_parallel=fields.get("parallel", True),
        reasoning=tuple(fields.get("reasoning", ["<think>", "</think>"])),
        messages=None if messages is None else _messages(messages),
        signs=tuple(map(tuple, fields["signs"])),
    )


def _messages(fields: Mapping[str, Any]) -> Messages:
    begin, ends = fields["final"]
    return Messages(tuple(map(tuple, fields["before"])), begin, tuple(ends))
