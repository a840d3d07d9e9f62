"""How a command ends: 0 if all is well, 1 if what it was given is at fault, 2 for a wrong call."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from guided.cli.wording import reword
from guided.errors import GuidedError

AT_FAULT = 1
INTERRUPTED = 130


@contextmanager
def failures_told() -> Iterator[None]:
    """Tell errors on standard error, and end with the status for them.

    A reader that closes the pipe early, such as `head`, is no error.
    """
    try:
        yield
    except GuidedError as error:
        typer.echo(f"error: {reword(str(error))}", err=True)
        raise typer.Exit(AT_FAULT) from None
    except BrokenPipeError:
        # What is left in the buffer cannot be written either; keep Python from trying at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(AT_FAULT) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
