"""The constraint of a call: a grammar, and how its texts are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from guided.grammar import Grammar
from guided.results.tool_use import ToolUse
from guided.text.json_schema import PropertyOrder, SchemaLike, Whitespace
from guided.text.tools.call import ToolCall


@dataclass(frozen=True, slots=True)
class Constraint:
    """What the output must fit, and the way from its text to its value."""

    grammar: Grammar | None
    read: Callable[[str], Any]
    tools: ToolUse | None = None
    has_answer: bool = False

    def reading(self, calls: Sequence[ToolCall]) -> Callable[[str], Any]:
        """Return how the text beside some calls is read."""
        return _no_answer if calls and self.has_answer else self.read

    def captures(self, text: str) -> dict[str, list[str]]:
        """Return what named rules of the grammar spelled in a text."""
        return {} if self.grammar is None else self.grammar.captures(text)


def choose_constraint(
    schema: SchemaLike | None,
    regex: str | None,
    choices: Sequence[str] | None,
    grammar: Grammar | None,
    *,
    whitespace: Whitespace | None = None,
    property_order: PropertyOrder | None = None,
    tools: ToolUse | None = None,
) -> Constraint:
    """Make the constraint from the one argument that is given; free text if none is.

    With tools it is that of an output without calls.

    Raises:
        TypeError: several are given, or one is not what it should be; or an option of a schema is
            given without one.
        SourceError, UnsupportedError: the constraint is at fault, or cannot be enforced exactly.
    """
    check_constraint(
        schema, regex, choices, grammar, whitespace=whitespace, property_order=property_order
    )
    if schema is not None:
        grammar = Grammar.from_json_schema(
            schema,
            whitespace="flexible" if whitespace is None else whitespace,
            property_order="schema" if property_order is None else property_order,
        )
    if regex is not None:
        grammar = Grammar.from_regex(regex)
    if choices is not None:
        grammar = Grammar.from_choices(choices)
    read: Callable[[str], Any] = str if grammar is None else grammar.read
    if tools is not None:
        return Constraint(tools.grammar(grammar), read, tools, grammar is not None)
    return Constraint(grammar, read)


def _no_answer(text: str) -> None:
    """Return what the value of calls is, where there should be an answer."""


def check_constraint(
    schema: SchemaLike | None,
    regex: str | None,
    choices: Sequence[str] | None,
    grammar: Grammar | None,
    *,
    whitespace: Whitespace | None = None,
    property_order: PropertyOrder | None = None,
) -> bool:
    """Return whether a constraint is given; `choose_constraint` makes it, which may take its time.

    Raises:
        TypeError: several are given, or an option of a schema without one; or the grammar is none.
    """
    offered = {"schema": schema, "regex": regex, "choices": choices, "grammar": grammar}
    given = [name for name, value in offered.items() if value is not None]
    if len(given) > 1:
        raise TypeError(f"at most one constraint can be given, found {' and '.join(given)}")
    if schema is None:
        _refuse_options(whitespace=whitespace, property_order=property_order)
    if isinstance(schema, Grammar):
        raise TypeError(
            "schema is a guided.Grammar: give it as grammar; for a JSON string that fits it, give"
            " Grammar.from_json_schema(...) of it"
        )
    if grammar is not None and not isinstance(grammar, Grammar):
        raise TypeError(
            f"grammar must be a guided.Grammar, found {type(grammar).__name__};"
            " make one by Grammar.from_regex, from_json_schema or from_choices"
        )
    return bool(given)


def _refuse_options(**options: object) -> None:
    """Raise if an option of a schema is given where there is no schema to apply it to."""
    for name, value in options.items():
        if value is not None:
            raise TypeError(
                f"{name} goes with schema; for a grammar, give it to Grammar.from_json_schema"
            )
