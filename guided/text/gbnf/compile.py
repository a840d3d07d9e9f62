"""A grammar to one node: the public door of the GBNF front end."""

from __future__ import annotations

from dataclasses import dataclass

from guided._core import Arena
from guided.errors import GrammarError
from guided.text.gbnf.checks import check
from guided.text.gbnf.reader import read
from guided.text.gbnf.writer import GivenToken, Writer


@dataclass(frozen=True, slots=True)
class Compiled:
    """A grammar as nodes.

    Attributes:
        tokens: rules that are not yet defined, as they stand for tokens: the text or the number of
            the token, and whether any other one is meant. A vocabulary tells which token that is.
    """

    arena: Arena
    start: int
    tokens: dict[int, GivenToken]


def compile_gbnf(text: str, *, start: str = "root") -> Compiled:
    """Write a grammar into an arena of its own.

    Args:
        text: the grammar, in the notation of llama.cpp.
        start: the rule that the whole text must match.

    Raises:
        GrammarError: the first thing that is wrong with it; line, column and mend are given.
        LimitError: its groups are nested too deeply, or a count is too large.
    """
    reading = read(text)
    if errors := check(reading, start):
        raise errors[0]
    arena = Arena()
    writer = Writer(arena, reading.rules)
    node = writer.write(start)
    return Compiled(arena, node, writer.tokens)


def find_errors(text: str, *, start: str = "root") -> list[GrammarError]:
    """Return all that is wrong with a grammar, up to 20 errors, in the order of the text.

    Raises:
        LimitError: its groups are nested too deeply, or a count is too large.
    """
    return check(read(text), start)
