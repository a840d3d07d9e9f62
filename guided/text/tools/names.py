"""Which names a format can write, so that they are read back from a call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from guided.errors import SchemaError
from guided.text.tools.format import Template, ToolFormat
from guided.text.tools.tool import Tool

_PYTHON_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def check_names(tools: Sequence[Tool], form: ToolFormat) -> None:
    """Raise SchemaError if a format cannot write the name of a tool, or of one of its arguments."""
    stops = {text for template in form.call_begin for text in _after(template, "name")}
    key_stops = {text for template in form.parameter_begin for text in _after(template, "key")}
    for tool in tools:
        arguments = tool.parameters.get("properties", ())
        keys = list(arguments) if form.style in ("parameters", "python") else []
        if form.style == "python":
            wrong = [] if _PYTHON_NAME.fullmatch(tool.name) else [tool.name]
            wrong += [key for key in keys if not _PYTHON_NAME.fullmatch(key)]
        else:
            wrong = [tool.name] if _ends_early(tool.name, stops) else []
            wrong += [key for key in keys if not key or _ends_early(key, key_stops)]
        if wrong:
            raise SchemaError(
                f'the tool "{tool.name}": the tool format {form.name} cannot write the name'
                f' "{wrong[0]}"',
                pointer="/name" if wrong[0] == tool.name else f"/parameters/properties/{wrong[0]}",
                mend="choose another name, or another format",
            )


def _ends_early(name: str, stops: set[str]) -> bool:
    """Whether a name would be taken to end before it does."""
    return any((name + stop).find(stop) < len(name) for stop in stops)


def _after(template: Template, placeholder: str) -> list[str]:
    """Return the text that follows a placeholder, by which its value ends."""
    return [
        text for (name, is_name), (text, _) in pairwise(template) if is_name and name == placeholder
    ]
