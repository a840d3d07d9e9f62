"""Python types as schemas: pydantic says what their JSON looks like, and reads it.

Pydantic is an extra: it is imported when the first type comes.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from guided.errors import GuidedError, SchemaError, ValueRejected
from guided.text.json_schema.document.places import Json, escape_token
from guided.text.nodes import GrammarValue

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

# What a schema may be given as: a JSON Schema as a value or as text, or a Python type. Types such
# as Literal["a"] are of no class that an annotation could name.
SchemaLike = Any

# Text, what json.loads gives, and other mappings, which take the longest to tell.
_JSON_KINDS = (str, dict, bool, bytes, bytearray, list, tuple, int, float, Decimal, Mapping)
# Pydantic takes the arguments of a function for a type, and would call it to read a text.
_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, partial)

# Making an adapter takes a millisecond, and the classes that are asked for are few.
_KEPT = 256


def is_python_type(schema: object) -> bool:
    """Return True for what is no JSON Schema in any form, and so can only be a Python type."""
    return schema is not None and not isinstance(schema, (*_JSON_KINDS, GrammarValue))


def type_adapter(python_type: object) -> TypeAdapter[Any]:
    """Return pydantic's adapter of a type, the same one for the same type while it is kept.

    Args:
        python_type: a model class, dataclass, TypedDict, NamedTuple, Enum, another class or form of
            `typing` that pydantic knows, or a TypeAdapter.

    Raises:
        SchemaError: pydantic does not know what this is.
        GuidedError: pydantic is not installed.
    """
    try:
        from pydantic import TypeAdapter
    except ImportError:
        raise GuidedError(
            f"the schema {_name(python_type)} is a Python type, and to read it takes pydantic",
            mend="pip install 'guided-decoding[pydantic]', or give a JSON Schema",
        ) from None
    if isinstance(python_type, TypeAdapter):
        return python_type
    # Unions and Literals are equal in any order, but not one and the same: where a value fits two
    # members of a union the first is taken.
    order = "" if isinstance(python_type, type) else repr(python_type)
    try:
        return _kept_adapter(python_type, order)
    except TypeError:  # metadata without a hash
        return _adapter(python_type)


def type_schema(adapter: TypeAdapter[Any]) -> Json:
    """Return the JSON Schema of a type, with the names that are read (aliases).

    Raises:
        SchemaError: it has a part that JSON cannot write, such as a function.
    """
    from pydantic.errors import PydanticUserError

    from guided.text.json_schema.python_types.schemas import PythonSchemas

    try:
        return adapter.json_schema(mode="validation", by_alias=True, schema_generator=PythonSchemas)
    except PydanticUserError as error:
        raise _no_schema(adapter, error) from error


def read_value(adapter: TypeAdapter[Any], text: str) -> Any:
    """Return the object that a text of a type's schema stands for.

    Raises:
        ValueRejected: the text fits the schema, and something beyond the schema refuses it.
    """
    from pydantic import ValidationError

    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        raise _rejected(text, error) from error


@lru_cache(maxsize=_KEPT)
def _kept_adapter(python_type: Any, order: str) -> TypeAdapter[Any]:
    return _adapter(python_type)


def _adapter(python_type: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError

    if isinstance(python_type, _FUNCTIONS):
        raise SchemaError(
            f"a schema is a JSON Schema or a Python type, found the function {_name(python_type)}",
            pointer="",
            mend="give the type of its arguments, such as a TypedDict",
        )
    try:
        return TypeAdapter(python_type)
    except (PydanticUserError, PydanticUndefinedAnnotation) as error:
        raise _no_schema(python_type, error) from error


def _no_schema(python_type: object, error: Exception) -> SchemaError:
    said = str(error).partition("\n")[0].rstrip(".")
    return SchemaError(
        f"pydantic has no schema for {_name(python_type)}: {said}",
        pointer="",
        mend="give a model, dataclass, TypedDict, Enum, Literal or another type that it knows,"
        " a pydantic.TypeAdapter made where all names are known, or a JSON Schema",
    )


def _rejected(text: str, error: ValidationError) -> ValueRejected:
    first, *others = error.errors(include_url=False, include_context=False, include_input=False)
    more = f" (and {len(others)} more)" if others else ""
    return ValueRejected(
        text,
        f"{error.title}: {first['msg']}{more}",
        pointer="".join(f"/{escape_token(token)}" for token in first["loc"]),
    )


def _name(python_type: object) -> str:
    # `list[int]` has the name of `list`.
    is_named = isinstance(python_type, (type, *_FUNCTIONS))
    name = getattr(python_type, "__qualname__", None) if is_named else None
    text = repr(python_type) if name is None else str(name)
    return text if len(text) <= 60 else f"{text[:57]}..."
