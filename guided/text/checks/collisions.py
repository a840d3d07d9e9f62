"""Terminals of a Lark grammar that match the same text, with an example of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from guided._core import Arena
from guided.errors import GuidedError, LimitError
from guided.text.checks.finding import Finding, found_in
from guided.text.checks.outline import Outline
from guided.text.checks.spelled import quoted
from guided.text.lark.extensions import read_extensions
from guided.text.lark.source import Source
from guided.text.lark.terminals import shortest, until
from guided.text.regex import compile_regex
from guided.text.regex.parsing import no_search_for_collisions

if TYPE_CHECKING:
    from lark import Lark
    from lark.lexer import TerminalDef

SECONDS = 3.0


def check_collisions(
    outline: Outline,
    *,
    lexer: str = "contextual",
    path: str | None = None,
    import_paths: Sequence[Path] = (),
) -> list[Finding]:
    """Return the pairs of patterns that lark's lexer may have to choose between.

    Those of different priority are left out: there the author has chosen. So are strings, which
    lark takes before a pattern that matches them as a whole. With the contextual lexer two
    terminals meet only where the parser may take either.

    Args:
        outline: of the grammar, for the places.
        lexer: "contextual" or "basic"; the dynamic ones take both, so nothing collides.
        path: the file, beside which relative imports are looked for.
        import_paths: folders in which others are.

    Cost: some 50 us a pair, and at most `SECONDS`; a note counts the pairs that are left then.
    """
    if lexer.startswith("dynamic"):
        return []
    parser = build_parser(outline, lexer, path, import_paths)
    return [] if parser is None else list(_collide(outline, list(_meetings(parser))))


def build_parser(
    outline: Outline, lexer: str, path: str | None, import_paths: Sequence[Path]
) -> Lark | None:
    """Build lark's LALR parser; None where lark refuses the grammar.

    It knows nothing of the attributes of terminals.
    """
    from lark import Lark
    from lark.exceptions import LarkError
    from lark.indenter import PythonIndenter

    postlex = PythonIndenter() if "_INDENT" in outline.external else None
    chosen: Any = lexer
    try:
        with no_search_for_collisions():
            return Lark(
                read_extensions(Source.of(outline.text), allowed=True).text,
                start=outline.start,
                parser="lalr",
                lexer=chosen,
                postlex=postlex,
                source_path=path,
                import_paths=[str(folder) for folder in import_paths],
            )
    except (LarkError, OSError, RecursionError):
        return None


def _meetings(parser: Lark) -> Iterator[tuple[TerminalDef, TerminalDef]]:
    """Give the pairs of patterns of equal priority that one state of the lexer tells apart."""
    lexer: Any = parser.parser.lexer
    lexer = getattr(lexer, "lexer", lexer)  # below a post-lexer
    lexers = getattr(lexer, "lexers", {0: lexer}).values()
    met = set()
    for each in lexers:
        patterns = [terminal for terminal in each.terminals if terminal.pattern.type == "re"]
        for first, second in combinations(sorted(patterns, key=lambda t: t.name), 2):
            pair = (first.name, second.name)
            if first.priority == second.priority and pair not in met:
                met.add(pair)
                yield first, second


def _collide(outline: Outline, pairs: list[tuple[TerminalDef, TerminalDef]]) -> Iterator[Finding]:
    arena = Arena()
    nodes: dict[str, int | None] = {}
    for terminal in {terminal.name: terminal for pair in pairs for terminal in pair}.values():
        nodes[terminal.name] = _node(arena, terminal, outline)
    end = monotonic() + SECONDS
    skipped = 0
    for first, second in pairs:
        one, other = nodes[first.name], nodes[second.name]
        if one is None or other is None or monotonic() > end:
            skipped += 1
            continue
        try:
            example = arena.shortest(arena.both(one, other))
        except LimitError:
            skipped += 1
            continue
        if example is not None:
            names = (first.name, second.name)
            yield _finding(outline, names, example.decode(errors="replace"))
    if skipped:
        fact = f"{skipped} of {len(pairs)} pairs of terminals could not be compared"
        yield Finding("note", "not-compared", fact)


def _node(arena: Arena, terminal: TerminalDef, outline: Outline) -> int | None:
    """Return the node of what a terminal matches, None where that is not regular."""
    flags = "".join(sorted({*terminal.pattern.flags, "u"} & set("imsux")))
    try:
        node = compile_regex(arena, terminal.pattern.value, flags=flags)
        rule = outline.rules.get(terminal.name)
        if rule is not None and rule.stop:
            return until(arena, node, rule.stop)
        if rule is not None and rule.is_lazy:
            return shortest(arena, arena.minus(node, 0))
        return node
    except GuidedError:
        return None


def _finding(outline: Outline, names: tuple[str, str], example: str) -> Finding:
    """Say that two terminals collide, at the one that comes later in the file."""
    places = {name: rule.index for name, rule in outline.rules.items()}
    first, second = sorted(names, key=lambda name: places.get(name, -1))
    fact = f'the terminals "{first}" and "{second}" collide: both match {quoted(example)}'
    mend = f"give one a priority, as in {second}.2, or let their texts differ"
    if second not in places:
        return Finding("warning", "collision", fact, mend=mend)
    return found_in(
        outline.text,
        places[second],
        len(second),
        level="warning",
        code="collision",
        fact=fact,
        mend=mend,
    )
