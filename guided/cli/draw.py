"""`guided draw`: the rules of a grammar as railroad diagrams."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from guided.cli.failures import failures_told
from guided.cli.options import DialectOption, KindOption, StartOption, reading
from guided.cli.sources import read_source

EXAMPLES = """
[bold]Examples[/bold]

guided draw query.lark --output query.svg

guided draw json --rule value --rule object > value.svg

echo '[a-z]+(-[0-9]{2,4})?' | guided draw - --kind regex > pattern.svg
"""


def draw(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A grammar (.gbnf, .lark), a pattern (.regex), the name of a shipped grammar,"
            " or - for standard input.",
            show_default=False,
        ),
    ],
    rules: Annotated[
        list[str] | None,
        typer.Option("--rule", help="Draw this rule only; may be given several times."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE.svg", help="Where to write the drawing."),
    ] = None,
    kind: KindOption = None,
    start: StartOption = None,
    dialect: DialectOption = "python",
) -> None:
    """Draw the rules that the start leads to as railroad diagrams, an SVG."""
    from guided.cli.diagram import draw_rules
    from guided.cli.inspection import outline_of

    source = read_source(file, kind)
    if source.kind == "schema":
        raise typer.BadParameter(f"{source.name} is a schema, which has no rules to draw")
    with failures_told():
        outline = outline_of(source, reading(start=start, dialect=dialect))
        for name in rules or []:
            if name not in outline.rules:
                there = ", ".join(outline.rules)
                raise typer.BadParameter(f'there is no rule "{name}"; those there are: {there}')
        drawing = draw_rules(outline, rules or [])
        if output is None:
            typer.echo(drawing, nl=False)
        else:
            write_output(output, drawing)


def write_output(path: Path, text: str) -> None:
    """Write a file.

    Raises:
        typer.BadParameter: it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be written: {error.strerror}") from None
