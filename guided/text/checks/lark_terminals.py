"""Which terminals may come after the beginning of a text, as lark's own parser has it."""

from __future__ import annotations

from typing import Any

from guided.text.checks.collisions import build_parser
from guided.text.checks.lark_outline import outline_lark


def next_terminals(
    grammar: str,
    text: str,
    *,
    start: str = "start",
    lexer: str = "contextual",
    path: str | None = None,
) -> list[str]:
    """Return the names of the terminals that lark's LALR parser would take next, sorted.

    None where lark cannot tell: within a terminal that is not complete, or with a dynamic lexer.
    A terminal that ends with the text may go on, which is not among them.
    """
    from lark.exceptions import LarkError

    if lexer.startswith("dynamic"):
        return []
    parser = build_parser(outline_lark(grammar, start=start), lexer, path)
    if parser is None:
        return []
    try:
        interactive: Any = parser.parse_interactive(text)
        interactive.exhaust_lexer()
        accepted = interactive.accepts()
    except (LarkError, AssertionError):
        return []
    return sorted(name for name in accepted if name != "$END")
