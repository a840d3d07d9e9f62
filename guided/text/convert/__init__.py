"""Grammars from one notation to another, where that is exact.

to_lark     GBNF -> Lark
to_gbnf     Lark -> GBNF
lexing      whether a Lark grammar has the same texts without a lexer
spelling    names, strings and classes, as each notation writes them
"""

from __future__ import annotations

from typing import Literal

from guided.text.convert.to_gbnf import LexerName, to_gbnf
from guided.text.convert.to_lark import to_lark

Notation = Literal["gbnf", "lark"]

__all__ = ["convert", "to_gbnf", "to_lark"]


def convert(
    text: str,
    source: Notation,
    target: Notation,
    *,
    start: str | None = None,
    lexer: LexerName = "contextual",
) -> str:
    """Write a grammar in another notation.

    Args:
        text: the grammar.
        source, target: the notation that it is in, and the one to write.
        start: the rule that the whole text must match; "root" in GBNF and "start" in Lark if it is
            not given. In what is written it has that name of the other notation.
        lexer: whose meaning a Lark grammar has.

    Raises:
        GrammarError: the grammar is at fault.
        UnsupportedError: it has what the other notation cannot say; with its place.
        ValueError: the two notations are the same.
    """
    if source == "gbnf" and target == "lark":
        return to_lark(text, start=start or "root")
    if source == "lark" and target == "gbnf":
        return to_gbnf(text, start=start or "start", lexer=lexer)
    raise ValueError(f"there is nothing to convert from {source} to {target}")
