"""The constraint of a call: a grammar, and how its texts are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from guided.grammar import Grammar


@dataclass(frozen=True, slots=True)
class Constraint:
    """What the output must fit, and the way from its text to its value."""

    grammar: Grammar | None
    read: Callable[[str], Any]


def choose_constraint(
    schema: type | Mapping[str, Any] | bool | str | None,
    regex: str | None,
    choices: Sequence[str] | None,
    grammar: Grammar | None,
) -> Constraint:
    """Make the constraint from the one argument that is given; free text if none is.

    Raises:
        TypeError: several are given, or one is not what it should be.
    """
    offered = {"schema": schema, "regex": regex, "choices": choices, "grammar": grammar}
    given = [name for name, value in offered.items() if value is not None]
    if len(given) > 1:
        raise TypeError(f"at most one constraint can be given, found {' and '.join(given)}")
    if schema is not None:
        return Constraint(Grammar.from_json_schema(schema), value_reader(schema))
    if regex is not None:
        return Constraint(Grammar.from_regex(regex), str)
    if choices is not None:
        return Constraint(Grammar.from_choices(choices), str)
    if grammar is not None and not isinstance(grammar, Grammar):
        raise TypeError(
            f"grammar must be a guided.Grammar, found {type(grammar).__name__};"
            " make one by Grammar.from_regex, from_json_schema or from_choices"
        )
    is_json = grammar is not None and grammar.kind == "json_schema"
    return Constraint(grammar, json.loads if is_json else str)


def value_reader(schema: object) -> Callable[[str], Any]:
    """Return the reader of a schema's texts: pydantic for its classes, json for the rest."""
    validate = getattr(schema, "model_validate_json", None)
    if isinstance(schema, type) and callable(validate):
        reader: Callable[[str], Any] = validate
        return reader
    return json.loads
