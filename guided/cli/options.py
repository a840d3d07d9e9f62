"""Options that several commands have, and what they come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
TextOption = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        metavar="NAME=FILE",
        help="A text that %verbatim of a Lark grammar quotes by this name.",
    ),
]
ImportPathOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--import-path",
        metavar="FOLDER",
        help="Where a Lark grammar finds what it imports or embeds.",
    ),
]
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
        texts: those that a Lark grammar quotes, by name.
        import_paths: folders in which a Lark grammar finds others.
    """

    start: str | None = None
    lexer: Lexer = "contextual"
    dialect: Dialect = "python"
    whitespace: int | str = "flexible"
    property_order: PropertyOrder = "schema"
    lenient: bool = False
    texts: Mapping[str, str] = field(default_factory=dict)
    import_paths: Sequence[Path] = ()


def reading(
    *,
    start: str | None = None,
    lexer: Lexer = "contextual",
    dialect: Dialect = "python",
    whitespace: str = "flexible",
    property_order: PropertyOrder = "schema",
    lenient: bool = False,
    texts: Mapping[str, str] | None = None,
    import_paths: Sequence[Path] | None = None,
) -> Reading:
    """Gather the options of a command."""
    indent = int(whitespace) if whitespace.isascii() and whitespace.isdigit() else whitespace
    return Reading(
        start,
        lexer,
        dialect,
        indent,
        property_order,
        lenient,
        texts or {},
        import_paths or (),
    )
