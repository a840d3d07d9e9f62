"""The command line, run within the test's own process."""

from __future__ import annotations

from dataclasses import dataclass

from typer.testing import CliRunner

from guided.cli.main import app


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed, and the status it ended with."""

    out: str
    err: str
    status: int


def run(*arguments: str, stdin: str | bytes | None = None) -> Ran:
    result = CliRunner().invoke(app, list(arguments), input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran(result.stdout, result.stderr, result.exit_code)
