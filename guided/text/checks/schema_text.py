"""The text of a schema: where it is no JSON, with line and column, and keys that it has twice."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from guided.errors import GrammarError
from guided.text.checks.finding import Finding
from guided.text.json_schema.compiler import load_schema


def read_schema(text: str) -> tuple[Any, list[Finding]]:
    """Read a schema.

    Returns:
        the schema, and a warning for each key that an object in it has twice.

    Raises:
        GrammarError: it is no JSON; with the place.
        SchemaError, LimitError: it is no JSON that a schema may be.
    """
    twice: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in items:
            if key in found:
                twice.append(key)
            found[key] = value
        return found

    try:
        schema = json.loads(text, parse_float=Decimal, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise GrammarError(
            f"the schema is not JSON: {_lower(error.msg)}",
            text=text,
            index=min(error.pos, len(text)),
            mend="mend the text there",
        ) from None
    except (ValueError, ArithmeticError, RecursionError):
        schema = load_schema(text)  # which has the words for it
    fact = 'the key "{}" stands twice in one object, and the last one counts'
    return schema, [
        Finding("warning", "repeated-key", fact.format(key), mend="take one out") for key in twice
    ]


def _lower(message: str) -> str:
    """Put a message of Python's into the middle of a sentence."""
    return message[:1].lower() + message[1:]
