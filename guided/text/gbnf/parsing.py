"""Grammar text to lark's tree."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from guided.errors import LimitError
from guided.text.gbnf.messages import explain
from guided.text.regex.parsing import no_search_for_collisions

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

MAX_NESTING = 1_000
# Nothing ends after these.
_OPEN_ENDED = {"DEFINES", "BAR"}


class _Lines:
    """Takes out the line breaks that do not end a rule; lark calls this a post-lexer."""

    always_accept = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """Pass on the tokens of one text.

        Raises:
            LimitError: groups are nested too deeply.
        """
        depth = 0
        previous = "BAR"
        line: Token | None = None
        for token in stream:
            if token.type == "LINE":
                if depth == 0 and previous not in _OPEN_ENDED:
                    line = token
                continue
            if line is not None and token.type != "BAR":
                yield line
            line = None
            if token.type == "OPEN":
                depth += 1
                if depth > MAX_NESTING:
                    raise LimitError(
                        "the groups of the grammar are nested too deeply",
                        limit="groups within groups",
                        value=MAX_NESTING,
                    )
            elif token.type == "CLOSE":
                depth = max(0, depth - 1)
            previous = token.type
            yield token


@cache
def _parser() -> Lark:
    """Build the parser, once: some 10 ms, after 100 ms for the import of lark."""
    from lark import Lark

    text = files("guided.text.gbnf").joinpath("gbnf.lark").read_text("utf-8")
    with no_search_for_collisions():
        return Lark(text, parser="lalr", lexer="basic", postlex=_Lines(), maybe_placeholders=False)


def parse(text: str) -> Tree[Any]:
    """Parse a grammar.

    Raises:
        GrammarError: it is none; line, column and mend are given.
        LimitError: groups are nested too deeply.
    """
    from lark.exceptions import UnexpectedInput

    try:
        return _parser().parse(text)
    except UnexpectedInput as error:
        raise explain(text, error) from None
