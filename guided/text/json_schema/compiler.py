"""From a JSON Schema to nodes: the way through this package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, NamedTuple

from guided._core import Arena
from guided.errors import LimitError, SchemaError
from guided.text.json_schema.document.document import Document
from guided.text.json_schema.document.places import Json
from guided.text.json_schema.options import (
    Escapes,
    Formats,
    PropertyOrder,
    Unsupported,
    Whitespace,
    check_options,
)
from guided.text.json_schema.python_types.types import (
    SchemaLike,
    is_python_type,
    type_adapter,
    type_schema,
)
from guided.text.json_schema.reader import Reader
from guided.text.json_schema.values.any_json import any_json
from guided.text.json_schema.writer import Writer

if TYPE_CHECKING:
    from referencing import Registry


class CompiledSchema(NamedTuple):
    """A schema as nodes.

    Attributes:
        arena: holds the nodes.
        start: the node for a whole JSON text that fits.
        not_enforced: JSON pointers to the keywords passed over, empty unless
            `unsupported="ignore"`.
        unknown: JSON pointers to the keywords that are not in the standard, and so say nothing.
    """

    arena: Arena
    start: int
    not_enforced: list[str]
    unknown: list[str]


def compile_schema(
    schema: SchemaLike,
    *,
    whitespace: Whitespace = "flexible",
    property_order: PropertyOrder = "schema",
    escapes: Escapes = "minimal",
    formats: Formats = "assert",
    unsupported: Unsupported = "refuse",
    registry: Registry[Any] | None = None,
) -> CompiledSchema:
    """Compile a JSON Schema to the texts of the JSON values that fit it.

    Args:
        schema: a dict or bool as from json.loads, JSON text (str or bytes), or a Python type.
        whitespace: "flexible" lets up to 40 blanks stand between two tokens, "compact" none; a
            number is the indent of json.dumps; another text is a pattern, as in `re`, of the
            blanks in each gap. There are none before or after the value.
        property_order: "schema" writes properties in the order of the schema; "any" in any.
        escapes: "minimal" spells characters as json.dumps does, with ensure_ascii or without;
            "any" also lets `\\u0061` stand for `a`, in declared keys too.
        formats: "assert" enforces `format`, "annotate" lets it pass.
        unsupported: "refuse" raises for what cannot be enforced exactly; "ignore" goes without it.
        registry: the documents that references may lead to beside this one.

    Raises:
        SchemaError: the schema is malformed, or nothing fits it.
        UnsupportedError: a keyword cannot be enforced exactly.
        LimitError: the schema is too large in some way.
        ValueError, TypeError: an option is none of its choices.
    """
    check_options(whitespace, property_order, escapes, formats, unsupported, registry)
    document = Document(load_schema(schema), registry=registry)
    reader = Reader(document, unsupported, formats=formats)
    writer = Writer(reader, any_json(whitespace, escapes), property_order=property_order)
    start = writer.write((document.root,))
    reader.release()
    return CompiledSchema(writer.arena, start, list(reader.not_enforced), list(reader.unknown))


def load_schema(schema: SchemaLike) -> Json:
    """Return a schema as a dict or bool, whatever form it was given in."""
    if isinstance(schema, (str, bytes, bytearray)):
        return _load_text(schema)
    if is_python_type(schema):
        return type_schema(type_adapter(schema))
    if isinstance(schema, Mapping) and not isinstance(schema, dict):
        return dict(schema)
    return schema  # the reader says which values are no schema


def _load_text(text: str | bytes | bytearray) -> Json:
    try:
        if not isinstance(text, str) or text.startswith(_BYTE_ORDER_MARK):
            return json.loads(text, parse_float=Decimal, parse_constant=_no_constant)
        if text.startswith("{") and text.endswith("}"):
            value, end = _DECODER.raw_decode(text)  # which looks for no blanks around it
            if end == len(text):
                return value
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise SchemaError(
            f"the schema is not JSON: {error.msg} in line {error.lineno}, column {error.colno}",
            pointer="",
            mend="mend the text there; a dict is taken too",
        ) from error
    except UnicodeDecodeError as error:
        raise SchemaError(
            f"the schema is not JSON: byte {error.start} is not UTF-8",
            pointer="",
            mend="give UTF-8 bytes or a str",
        ) from error
    except RecursionError as error:
        raise LimitError(
            "the schema text is nested too deeply", limit="levels", value=1_000
        ) from error
    except (InvalidOperation, ValueError) as error:
        raise LimitError(
            "a number in the schema text is too long", limit="digits", value=4_300
        ) from error


def _no_constant(name: str) -> None:
    raise SchemaError(
        f"the schema is not JSON: there is no {name}", pointer="", mend="write a number of digits"
    )


# What json.loads makes anew on each call, which takes longer than reading a small schema.
_DECODER = json.JSONDecoder(parse_float=Decimal, parse_constant=_no_constant)
_BYTE_ORDER_MARK = "\ufeff"
