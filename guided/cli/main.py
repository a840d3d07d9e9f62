"""The commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from guided.cli import check, convert, draw, explain, generate

app = typer.Typer(
    name="guided",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        from guided import __version__

        typer.echo(f"guided {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Grammars for language models: check, explain and draw them, and write text that fits."""


app.command("check", epilog=check.EXAMPLES)(check.check)
app.command("explain", epilog=explain.EXAMPLES)(explain.explain)
app.command("draw", epilog=draw.EXAMPLES)(draw.draw)
app.command("generate", epilog=generate.EXAMPLES)(generate.generate)
app.command("convert", epilog=convert.EXAMPLES)(convert.convert)


def main() -> None:
    """Run the command line."""
    app()
