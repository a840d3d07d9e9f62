"""Which terminals may come after the beginning of a text, as lark's own parser has it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
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
    import_paths: Sequence[Path] = (),
) -> list[str]:
    """Return the names of the terminals that lark's LALR parser would take next, sorted.

    None where lark cannot tell: within a terminal that is not complete, with a dynamic lexer, or
    where terminals are lazy or have a stop, of which lark knows nothing.
    A terminal that ends with the text may go on, which is not among them.
    """
    from lark.exceptions import LarkError

    if lexer.startswith("dynamic"):
        return []
    outline = outline_lark(grammar, start=start)
    parser = build_parser(outline, lexer, path, import_paths)
    if parser is None or any(rule.is_lazy or rule.stop for rule in outline.rules.values()):
        return []
    try:
        interactive: Any = parser.parse_interactive(text)
        interactive.exhaust_lexer()
        accepted = interactive.accepts()
    except (LarkError, AssertionError):
        return []
    return sorted(name for name in accepted if name != "$END")
