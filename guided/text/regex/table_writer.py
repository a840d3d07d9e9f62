"""Writes the tables of tables.py from the grammars of the dialects: `make tables`."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from guided.text.regex.parsing import no_search_for_collisions

DIALECTS = {
    "python": ("python.lark",),
    "ecma": ("ecma.lark", "ecma_class.lark"),
    "ecma_sets": ("ecma.lark", "ecma_sets.lark"),
}
START = "alternatives"
_FOLDER = files("guided.text.regex")


def make_parser(dialect: str) -> Any:
    """Make lark's own parser of a dialect."""
    from lark import Lark

    text = "\n".join(_FOLDER.joinpath(name).read_text("utf-8") for name in DIALECTS[dialect])
    with no_search_for_collisions():
        return Lark(text, start=START, parser="lalr", lexer="contextual", maybe_placeholders=False)


def write_table(dialect: str) -> str:
    """Return the table of a dialect as JSON, its states in the order in which they are come to."""
    from lark.parsers.lalr_analysis import Shift

    parser = make_parser(dialect)
    lalr = parser.parser.parser._parse_table
    lexer = parser.parser.lexer
    order = [lalr.start_states[START]]
    numbers = {order[0]: 0}
    rules: dict[Any, int] = {}
    states = []
    for state in order:
        made = {}
        for symbol, (action, value) in sorted(lalr.states[state].items()):
            if action is Shift:
                if value not in numbers:
                    numbers[value] = len(order)
                    order.append(value)
                made[symbol] = numbers[value]
            else:
                made[symbol] = -1 - rules.setdefault(value, len(rules))
        states.append(made)
    scanners = [_scanner(lexer.root_lexer)]
    for state in order:
        if _scanner(lexer.lexers[state]) not in scanners:
            scanners.append(_scanner(lexer.lexers[state]))
    table = {
        "terminals": {each.name: each.pattern.to_regexp() for each in lexer.root_lexer.terminals},
        "ignored": sorted(lexer.root_lexer.ignore_types),
        "scanners": scanners,
        "scanner_of": [scanners.index(_scanner(lexer.lexers[state])) for state in order],
        "rules": [_described(rule) for rule in rules],
        "states": states,
        "start": 0,
        "accept": numbers[lalr.end_states[START]],
    }
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in table.items())
    return "{" + ",\n".join(lines) + "}\n"


def _scanner(lexer: Any) -> tuple[list[str], dict[str, dict[str, str]]]:
    """Return what a lexer of lark tries, and the names that texts have which several match."""
    tried = [each.name for each in lexer.scanner.terminals]
    renamed = {
        name: {each.pattern.value: each.name for each in reversed(strings.scanner.terminals)}
        for name, strings in sorted(lexer.callback.items())
    }
    return tried, renamed


def _described(rule: Any) -> tuple[str, int, list[tuple[int, bool]], bool]:
    assert not rule.alias
    kept = [
        (number, not symbol.is_term and symbol.name.startswith("_"))
        for number, symbol in enumerate(rule.expansion)
        if not (symbol.is_term and symbol.filter_out)
    ]
    return rule.origin.name, len(rule.expansion), kept, bool(rule.options.expand1)


def main() -> None:
    """Write the tables beside the grammars."""
    for dialect in DIALECTS:
        path = Path(str(_FOLDER)) / "tables" / f"{dialect}.json"
        path.write_text(write_table(dialect), encoding="utf-8")
