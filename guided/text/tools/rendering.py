"""Calls as a model would write them: for prompts, and for what came before in a conversation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from guided.text.tools.format import Template, ToolFormat

# name, arguments, id
Written = tuple[str, Mapping[str, Any], str | None]


def render_calls(calls: Sequence[Written], form: ToolFormat) -> str:
    """Write calls in a format, as its models write them most."""
    if form.style == "message":
        return _message(calls)
    written = [_call(call, index, form) for index, call in enumerate(calls)]
    divider = form.between[0] if form.between else ""
    begin = _fill(form.begin[0], {}) if form.begin and form.end else ""
    return begin + divider.join(written) + (form.end[0] if form.end else "")


def _call(call: Written, index: int, form: ToolFormat) -> str:
    name, arguments, id_ = call
    if form.style == "python":
        values = ", ".join(f"{key}={_python(value)}" for key, value in arguments.items())
        return f"{name}({values})"
    template: Template = ()
    if form.call_begin:
        # The first that has a place for the id, if and only if there is one.
        fitting = [each for each in form.call_begin if (("id", True) in each) == (id_ is not None)]
        template = (fitting or form.call_begin)[0]
    begin = _fill(template, {"name": name, "index": str(index), "id": id_ or ""})
    end = form.call_end[0] if form.call_end else ""
    if form.style == "parameters":
        return begin + "".join(_parameter(*each, form) for each in arguments.items()) + end
    body: Any = arguments
    if form.style == "object":
        body = {form.name_key: name, form.arguments_key: arguments}
        if id_ is not None:
            body["id"] = id_
    return begin + json.dumps(body, ensure_ascii=False) + end


def _parameter(key: str, value: Any, form: ToolFormat) -> str:
    is_text = isinstance(value, str)
    values = {"key": key, "is_string": "true" if is_text else "false"}
    text = value if is_text else json.dumps(value, ensure_ascii=False)
    after = form.parameter_after[0] if form.parameter_after else ""
    return _fill(form.parameter_begin[0], values) + text + form.parameter_end + after


def _fill(template: Template, values: Mapping[str, str]) -> str:
    return "".join(values[part] if is_name else part for part, is_name in template)


def _python(value: Any) -> str:
    """Write a value as Python does, strings as JSON does."""
    if isinstance(value, dict):
        members = (
            f"{json.dumps(key, ensure_ascii=False)}: {_python(v)}" for key, v in value.items()
        )
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_python, value)) + "]"
    if value is None or isinstance(value, bool):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def _message(calls: Sequence[Written]) -> str:
    written = [
        {
            "id": id_ or f"call_{index}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
        }
        for index, (name, arguments, id_) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": written}
    return json.dumps(message, ensure_ascii=False)
