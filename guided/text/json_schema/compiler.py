"""From a JSON Schema to nodes: the way through this package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

from guided._core import Arena
from guided.errors import LimitError, SchemaError
from guided.text.json_schema.document import Document, Json, describe
from guided.text.json_schema.prelude import Whitespace, prelude
from guided.text.json_schema.reader import Reader
from guided.text.json_schema.writer import Writer

MAX_INDENT = 16


@dataclass(frozen=True, slots=True)
class CompiledSchema:
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
    schema: Json,
    *,
    whitespace: Whitespace = "flexible",
    unsupported: Literal["refuse", "ignore"] = "refuse",
) -> CompiledSchema:
    """Compile a JSON Schema to the texts of the JSON values that fit it.

    Args:
        schema: a dict or bool as from json.loads, JSON text (str or bytes), or a pydantic class.
        whitespace: "flexible" lets up to 40 blanks stand between two tokens, "compact" none; a
            number is the indent of json.dumps. There is none before or after the value.
        unsupported: what to do about keywords that cannot be enforced.

    Raises:
        SchemaError: the schema is malformed, or nothing fits it.
        UnsupportedError: a keyword cannot be enforced exactly.
        LimitError: the schema is too large in some way.
    """
    _check_options(whitespace, unsupported)
    document = Document(load_schema(schema))
    reader = Reader(document, unsupported)
    writer = Writer(reader, prelude(whitespace))
    start = writer.write((document.root,))
    return CompiledSchema(writer.arena, start, list(reader.not_enforced), list(reader.unknown))


def load_schema(schema: Json) -> Json:
    """Return a schema as a dict or bool, whatever form it was given in."""
    if isinstance(schema, type) and hasattr(schema, "model_json_schema"):
        return schema.model_json_schema()
    if not isinstance(schema, str | bytes | bytearray):
        return _check_kind(schema)
    try:
        return json.loads(schema, parse_float=Decimal, parse_constant=_no_constant)
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


def _check_kind(schema: Json) -> Json:
    """Return a schema that is no text; refuse what is no JSON at all, such as `list[int]`."""
    if schema is None or isinstance(schema, dict | bool | list | int | float | Decimal):
        return schema  # the reader says which of these is no schema
    if isinstance(schema, Mapping):
        return dict(schema)
    raise SchemaError(
        f"a schema is an object, true or false, found {describe(schema)}",
        pointer="",
        mend="give a dict, JSON text or a pydantic class; for another type,"
        " pydantic.TypeAdapter(type).json_schema()",
    )


def _no_constant(name: str) -> None:
    raise SchemaError(
        f"the schema is not JSON: there is no {name}", pointer="", mend="write a number of digits"
    )


def _check_options(whitespace: Whitespace, unsupported: str) -> None:
    if isinstance(whitespace, bool) or not (
        whitespace in ("flexible", "compact")
        or (isinstance(whitespace, int) and 0 <= whitespace <= MAX_INDENT)
    ):
        raise ValueError(
            f'whitespace must be "flexible", "compact" or an indent from 0 to {MAX_INDENT},'
            f" not {whitespace!r}"
        )
    if unsupported not in ("refuse", "ignore"):
        raise ValueError(f'unsupported must be "refuse" or "ignore", not {unsupported!r}')
