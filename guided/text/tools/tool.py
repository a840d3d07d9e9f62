"""Tools as callers give them, brought into one form."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from guided.errors import LimitError, SchemaError, UnsupportedError
from guided.text.json_schema import is_python_type
from guided.text.nodes import without_grammars
from guided.text.tools.functions import is_function, read_function, read_model

# What says which arguments there may be besides `properties`.
_OPEN = {
    "additionalProperties",
    "patternProperties",
    "unevaluatedProperties",
    "propertyNames",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "$ref",
    "$dynamicRef",
}
NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """A tool that a model may call.

    Attributes:
        name: what it is called by.
        description: what it does, for the model to read.
        parameters: the JSON Schema of its arguments, an object.
        function: what a call runs, if it was given as a function.
        validate: from the JSON text of arguments to what the Python type makes of them; None for a
            tool that was given as a schema.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[..., Any] | None = None
    validate: Callable[[str], Any] | None = None

    @property
    def declaration(self) -> dict[str, Any]:
        """The tool as chat templates and the OpenAI API take it; grammars in it are strings."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": without_grammars(self.parameters),
        }
        return {"type": "function", "function": function}

    def run(self, arguments: Mapping[str, Any]) -> Any:
        """Call the function; arguments that it takes by position only are given so."""
        assert self.function is not None
        given = dict(arguments)
        by_position = [
            given.pop(name)
            for name, parameter in inspect.signature(self.function).parameters.items()
            if parameter.kind is inspect.Parameter.POSITIONAL_ONLY
        ]
        return self.function(*by_position, **given)

    @property
    def closed_parameters(self) -> dict[str, Any]:
        """The schema, with no arguments but those that it declares or opens itself for."""
        schema = dict(self.parameters)
        if "properties" in schema and not schema.keys() & _OPEN:
            schema["additionalProperties"] = False
        schema.setdefault("type", "object")
        return schema


def read_tools(tools: Sequence[Any]) -> list[Tool]:
    """Bring tools into one form.

    Args:
        tools: functions, pydantic models and other Python types, dictionaries as the OpenAI API
            has them (with or without `"type": "function"` around them), or `Tool`.

    Raises:
        TypeError: something is none of these.
        SchemaError: a tool has no name, or two have the same; or its arguments are at fault.
        GuidedError: pydantic is needed and not installed.
    """
    if isinstance(tools, str | Mapping | Tool) or not isinstance(tools, Sequence):
        raise TypeError(f"tools is a list of tools, found {tools!r:.60}")
    read = [read_tool(tool, place) for place, tool in enumerate(tools)]
    known: set[str] = set()
    for tool in read:
        if tool.name in known:
            raise SchemaError(
                f'two tools are called "{tool.name}"', pointer="", mend="give one another name"
            )
        known.add(tool.name)
    return read


def read_tool(tool: Any, place: int = 0) -> Tool:
    """Bring one tool into the form of all; `place`: where it stands in the list, for messages."""
    if isinstance(tool, Tool):
        return tool
    if isinstance(tool, Mapping):
        return _from_mapping(tool, place)
    if is_function(tool):
        name, description, parameters, validate = read_function(tool)
        return _checked(Tool(name, description, parameters, tool, validate), place)
    if inspect.isclass(tool) and is_python_type(tool):
        name, description, parameters, validate = read_model(tool)
        return _checked(Tool(name, description, parameters, None, validate), place)
    raise TypeError(
        f"tool {place} must be a function, a pydantic model or a dictionary, found {tool!r:.60}"
    )


@contextmanager
def about(name: str) -> Iterator[None]:
    """Let errors about the schema of a tool name the tool."""
    try:
        yield
    except (SchemaError, UnsupportedError, LimitError) as error:
        error.fact = f'the tool "{name}": {error.fact}'
        error.args = (error.fact,)
        raise


def _from_mapping(given: Mapping[str, Any], place: int) -> Tool:
    kind = given.get("type", "function")
    inner: Any = given.get("function", given)
    if kind != "function" or not isinstance(inner, Mapping):
        raise SchemaError(
            f"tool {place} is of the type {json.dumps(kind, default=repr)}",
            pointer="/type",
            mend='give {"type": "function", "function": {"name": ..., "parameters": {...}}}',
        )
    description = inner.get("description") or ""
    parameters = inner.get("parameters", inner.get("input_schema"))
    name = inner.get("name")
    tool = Tool(name, description, NO_ARGUMENTS if parameters is None else parameters)  # type: ignore[arg-type]
    return _checked(tool, place)


def _checked(tool: Tool, place: int) -> Tool:
    """Return the tool if its name and its schema can be those of one."""
    name: Any = tool.name
    if not isinstance(name, str) or not name:
        raise SchemaError(
            f"tool {place} has no name", pointer="/name", mend="give it a name, which is a text"
        )
    if any("\ud800" <= character <= "\udfff" for character in name):
        raise SchemaError(
            f"the name {name!r} of tool {place} has a surrogate, which UTF-8 cannot write",
            pointer="/name",
            mend="write the character itself",
        )
    if not isinstance(tool.description, str):
        raise SchemaError(f'the tool "{name}": its description is no text', pointer="/description")
    parameters: Any = tool.parameters
    if not isinstance(parameters, Mapping):
        raise SchemaError(
            f'the tool "{name}": its parameters are no schema of an object',
            pointer="/parameters",
            mend='give {"type": "object", "properties": {...}}',
        )
    if parameters.get("type", "object") not in ("object", ["object"]):
        raise SchemaError(
            f'the tool "{name}": its arguments are an object, found the type'
            f" {json.dumps(parameters['type'], default=repr)}",
            pointer="/parameters/type",
            mend='write "type": "object" and give each argument as a property',
        )
    return tool


def check_name(name: str, pattern: str, format_name: str) -> None:
    """Raise if a format cannot write a name: a call would not be read back."""
    if not re.fullmatch(pattern, name, re.DOTALL):
        raise SchemaError(
            f'the tool format {format_name} cannot write the name "{name}"',
            pointer="/name",
            mend="give the tool another name, or choose another format",
        )
