"""Options that several commands have, and what they come to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

Kind = Literal["schema", "regex", "gbnf", "lark"]
Lexer = Literal["contextual", "basic", "dynamic", "dynamic_complete"]
Dialect = Literal["python", "ecma"]
PropertyOrder = Literal["schema", "any"]

KindOption = Annotated[
    Kind | None,
    typer.Option("--kind", help="The language, where the suffix of the file does not tell."),
]
StartOption = Annotated[
    str | None,
    typer.Option("--start", help="The rule to start from: root in GBNF, start in Lark."),
]
LexerOption = Annotated[Lexer, typer.Option("--lexer", help="How a Lark grammar is read.")]
DialectOption = Annotated[
    Dialect, typer.Option("--dialect", help="Whose syntax a regular expression has.")
]
WhitespaceOption = Annotated[
    str,
    typer.Option(
        "--whitespace",
        help='Between the tokens of JSON: "flexible", "compact", an indent or a pattern.',
    ),
]
PropertyOrderOption = Annotated[
    PropertyOrder, typer.Option("--property-order", help="The order of the members of objects.")
]
LenientOption = Annotated[
    bool,
    typer.Option("--lenient", help="Go without keywords of a schema that cannot be enforced."),
]
TokenizerOption = Annotated[
    Path | None,
    typer.Option(
        "--tokenizer",
        exists=True,
        help="A folder with the tokenizer of a model, or its tokenizer.json.",
    ),
]


@dataclass(frozen=True, slots=True)
class Reading:
    """How a source is read.

    Attributes:
        whitespace: an indent is a number.
        lenient: keywords of a schema that cannot be enforced are passed over.
    """

    start: str | None = None
    lexer: Lexer = "contextual"
    dialect: Dialect = "python"
    whitespace: int | str = "flexible"
    property_order: PropertyOrder = "schema"
    lenient: bool = False


def reading(
    *,
    start: str | None = None,
    lexer: Lexer = "contextual",
    dialect: Dialect = "python",
    whitespace: str = "flexible",
    property_order: PropertyOrder = "schema",
    lenient: bool = False,
) -> Reading:
    """Gather the options of a command."""
    indent = int(whitespace) if whitespace.isascii() and whitespace.isdigit() else whitespace
    return Reading(start, lexer, dialect, indent, property_order, lenient)
