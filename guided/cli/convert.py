"""`guided convert`: a grammar in one notation to another, where that is exact."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from guided.cli.draw import write_output
from guided.cli.failures import failures_told
from guided.cli.options import KindOption, LexerOption, StartOption, reading
from guided.cli.sources import read_source, start_of

EXAMPLES = """
[bold]Examples[/bold]

guided convert query.lark --to gbnf --output query.gbnf

guided convert arithmetic --to lark

cat list.gbnf | guided convert - --kind gbnf --to lark
"""


def convert(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A grammar (.gbnf, .lark), the name of a shipped one, or - for standard input.",
            show_default=False,
        ),
    ],
    to: Annotated[Literal["gbnf", "lark"], typer.Option("--to", help="The notation to write.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write it.")
    ] = None,
    kind: KindOption = None,
    start: StartOption = None,
    lexer: LexerOption = "contextual",
) -> None:
    """Write a grammar in another notation, or say what cannot be carried over exactly."""
    source = read_source(file, kind)
    if source.kind not in ("gbnf", "lark") or source.kind == to:
        raise typer.BadParameter(
            f"{source.name} is {source.kind}: what is converted is gbnf to lark, and lark to gbnf"
        )
    with failures_told():
        from guided.text.convert import convert as write_in

        begin = start_of(source, reading(start=start))
        written = write_in(source.text, source.kind, to, start=begin, lexer=lexer)
        if output is None:
            typer.echo(written, nl=False)
        else:
            write_output(output, written)
