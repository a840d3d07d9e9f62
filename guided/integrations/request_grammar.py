"""The grammar of a request to a server, as a request can carry it: strings, numbers, JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from guided.grammar import Grammar

KINDS = ("schema", "regex", "choices", "lark", "gbnf")
OPTIONS = {
    "schema": {"whitespace", "property_order"},
    "regex": set[str](),
    "choices": set[str](),
    "lark": {"start"},
    "gbnf": {"start"},
}


def read_grammar(value: object) -> Grammar:
    """Make the grammar that a request asks for.

    Args:
        value: a mapping, or its JSON text, with one of the keys `schema` (a JSON Schema, or its
            text), `regex`, `choices`, `lark` and `gbnf`; beside a schema also `whitespace` and
            `property_order`, beside a grammar also `start`.

    Raises:
        ValueError: it is something else.
        GuidedError: the grammar is at fault, or cannot be enforced exactly.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError as error:
            raise ValueError(f"the constraint of a request is no JSON text: {error}") from None
    if not isinstance(value, Mapping):
        raise ValueError(
            "the constraint of a request is an object with one of the keys "
            f"{', '.join(KINDS)}; found {type(value).__name__}"
        )
    given = [kind for kind in KINDS if kind in value]
    if len(given) != 1:
        raise ValueError(
            f"the constraint of a request has one of the keys {', '.join(KINDS)};"
            f" found {', '.join(map(repr, value)) or 'none'}"
        )
    kind = given[0]
    options = {name: option for name, option in value.items() if name != kind}
    if unknown := set(options) - OPTIONS[kind]:
        raise ValueError(f"{kind!r} has no option {sorted(unknown)[0]!r}")
    try:
        return make(kind, value[kind], options)
    except TypeError as error:
        raise ValueError(str(error)) from None


def make(kind: str, source: Any, options: Mapping[str, Any]) -> Grammar:
    """Make a grammar of one of the `KINDS`."""
    if kind == "schema":
        return Grammar.from_json_schema(source, **options)
    if kind == "regex":
        return Grammar.from_regex(source)
    if kind == "choices":
        return Grammar.from_choices(source)
    if kind == "lark":
        return Grammar.from_lark(source, **options)
    return Grammar.from_gbnf(source, **options)
