"""Python functions and types as tools: the schema of their arguments, through pydantic."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from guided.errors import GuidedError, SchemaError
from guided.text.json_schema import read_value, type_adapter
from guided.text.json_schema.python_types.types import type_schema
from guided.text.tools.docstrings import read_docstring

# Name, description, schema of the arguments, and what reads them.
Read = tuple[str, str, dict[str, Any], Callable[[str], Any]]

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def is_function(value: object) -> bool:
    """Whether a value is a function, a method, or the like."""
    return isinstance(value, FunctionType | MethodType | BuiltinFunctionType | partial)


def read_function(function: Any) -> Read:
    """Return what a function's signature and docstring say of it as a tool.

    Raises:
        SchemaError: it has arguments that cannot be named in advance, or of a type that JSON does
            not have.
        GuidedError: pydantic is not installed.
    """
    name = _name_of(function)
    summary, described = read_docstring(inspect.getdoc(function) or "")
    fields: dict[str, tuple[Any, Any, str | None]] = {}
    for argument, (python_type, default) in _arguments(function, name).items():
        fields[argument] = (python_type, default, described.get(argument))
    model = _model(name, fields)
    adapter = type_adapter(model)
    schema = _without_titles(type_schema(adapter))

    def validate(text: str) -> dict[str, Any]:
        read = read_value(adapter, text)
        return {argument: getattr(read, _safe(argument)) for argument in fields}

    return name, summary, schema, validate


def read_model(python_type: type) -> Read:
    """Return what a pydantic model, or another class with fields, says of itself as a tool."""
    adapter = type_adapter(python_type)
    schema = _without_titles(type_schema(adapter))
    description = schema.pop("description", "") or ""
    return python_type.__name__, description, schema, partial(read_value, adapter)


def _name_of(function: Any) -> str:
    if isinstance(function, partial):
        return _name_of(function.func)
    name = str(function.__name__)
    if name == "<lambda>":
        raise SchemaError(
            "a lambda has no name that a model could call it by",
            pointer="/name",
            mend="define it by def",
        )
    return name


def _arguments(function: Any, name: str) -> dict[str, tuple[Any, Any]]:
    """Return type and default of each argument."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        raise SchemaError(
            f'the tool "{name}": Python does not know its signature',
            pointer="/parameters",
            mend="write a function around it",
        ) from None
    hints = _hints(function, name)
    arguments = {}
    for argument, parameter in signature.parameters.items():
        if parameter.kind in _VARIADIC:
            raise SchemaError(
                f'the tool "{name}": what goes into {parameter} has no names and no types',
                pointer=f"/parameters/{argument}",
                mend="give each argument a name, or make it a list",
            )
        arguments[argument] = (hints.get(argument, Any), parameter.default)
    return arguments


def _hints(function: Any, name: str) -> dict[str, Any]:
    inner = function.func if isinstance(function, partial) else function
    try:
        return typing.get_type_hints(inner, include_extras=True)
    except NameError as error:
        raise SchemaError(
            f'the tool "{name}": the type {error.name} of an argument is not known',
            pointer="/parameters",
            mend="define it before the function is given",
        ) from error
    except TypeError:  # a built-in function
        return {}


def _without_titles(schema: Any) -> dict[str, Any]:
    """Return a schema without what pydantic makes of the names in it, which a model knows."""
    plain = {key: value for key, value in schema.items() if key != "title"}
    if isinstance(properties := plain.get("properties"), dict):
        plain["properties"] = {
            name: {key: value for key, value in each.items() if key != "title"}
            for name, each in properties.items()
        }
    return plain


def _safe(argument: str) -> str:
    """Return a name that pydantic lets a field have."""
    return f"argument_{argument}"


def _model(name: str, fields: dict[str, tuple[Any, Any, str | None]]) -> Any:
    """Make a model of the arguments; each is written by its own name, whatever that is."""
    try:
        from pydantic import ConfigDict, Field, create_model
    except ImportError:
        raise GuidedError(
            f'the tool "{name}" is a Python function, and to read its types takes pydantic',
            mend="pip install 'guided-decoding[pydantic]', or give the tool as a dictionary",
        ) from None
    from pydantic.errors import PydanticUserError

    made: dict[str, Any] = {}
    for argument, (python_type, default, description) in fields.items():
        given = ... if default is inspect.Parameter.empty else default
        field = Field(given, alias=argument, description=description)
        made[_safe(argument)] = (python_type, field)
    try:
        return create_model(
            name,
            __config__=ConfigDict(extra="forbid"),
            **made,
        )
    except PydanticUserError as error:
        said = str(error).partition("\n")[0]
        raise SchemaError(
            f'the tool "{name}": pydantic has no schema for an argument: {said}',
            pointer="/parameters",
            mend="give it a type that JSON can write",
        ) from error
