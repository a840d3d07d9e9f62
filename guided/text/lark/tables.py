"""LALR tables of lark: lexer="contextual", where a state knows its terminals, and "basic"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from guided._core import Arena
from guided.errors import GuidedError, LimitError
from guided.text.lark.lalr import END, Automaton, Production, make_automaton
from guided.text.lark.parts import MAX_ALTERNATIVES
from guided.text.lark.reading import DEDENT, INDENT, NEWLINE, Reading
from guided.text.lark.scanners import Leaf, Scanners
from guided.text.lark.terminals import Terminal

if TYPE_CHECKING:
    from lark.grammar import Rule

IGNORED = -1
# Of lark's PythonIndenter. The names are those that lark gives to strings such as "(".
OPENING, CLOSING, TAB = ("LPAR", "LSQB", "LBRACE"), ("RPAR", "RSQB", "RBRACE"), 8

Indentation = tuple[int, int, int, list[int], list[int], int]


@dataclass(frozen=True, slots=True)
class Table:
    """An LALR(1) parser with a scanner for each state.

    Attributes:
        symbols: the number of each terminal and nonterminal.
        actions: for each state (symbol, 0, state to go to) or (symbol, 1, rule to reduce).
        leaves: for each state the ways to read a terminal.
        rules: (nonterminal, length of the expansion) of each.
        start, accept: the first state, and the one in which a text may end.
        indentation: the symbols that lark's PythonIndenter works with, if it is needed.
    """

    symbols: dict[str, int]
    actions: list[list[tuple[int, int, int]]]
    leaves: list[list[Leaf]]
    rules: list[tuple[int, int]]
    start: int
    accept: int
    indentation: Indentation | None


def make_table(
    arena: Arena, reading: Reading, terminals: list[Terminal], *, contextual: bool
) -> Table:
    """Make the table of a grammar: lark's own, as its conflicts are resolved as lark does.

    Args:
        arena: where the nodes of terminals are.
        reading: the grammar.
        terminals: its terminals, in the order of a scanner.
        contextual: whether a state tries the terminals that it knows, or all.

    Raises:
        GrammarError: two rules can end at the same place, as lark says too.
        LimitError: rules are too large for lark, and cut up they are not LALR(1).
        UnsupportedError: a terminal is declared and not defined, other than those of indentation.
    """
    _check_embedded(reading)
    indented = _check_declared(reading)
    productions = _productions(reading.rules, terminals)
    parsed = make_automaton(productions, reading.start)
    if parsed.reductions or (reading.cut and parsed.shifts):
        raise _explain_conflict(reading, productions, parsed)
    symbols: dict[str, int] = {}
    actions = [
        [
            (symbols.setdefault(name, len(symbols)), int(ends), target)
            for name, (ends, target) in row.items()
        ]
        for row in parsed.states
    ]
    for name in (END, *((NEWLINE, INDENT, DEDENT) if indented else ())):
        symbols.setdefault(name, len(symbols))
    for each in productions:
        symbols.setdefault(each.origin, len(symbols))
    return Table(
        symbols,
        actions,
        _leaves(arena, reading, terminals, parsed, contextual=contextual, indented=indented),
        [(symbols[each.origin], len(each.expansion)) for each in productions],
        0,
        parsed.accept,
        _indentation(symbols) if indented else None,
    )


def optional_name(terminal: str) -> str:
    """Return the name of the rule that stands for a terminal that may be left out."""
    return f"__optional_{terminal}"


def write_table(arena: Arena, table: Table) -> int:
    """Write a table into the arena and return its node."""
    rows: dict[int, list[tuple[int, int]]] = {}
    for row in table.leaves:
        if id(row) not in rows:
            rows[id(row)] = [
                (
                    IGNORED if leaf.name is None else table.symbols[leaf.name],
                    arena.lexeme(leaf.body, leaf.longer),
                )
                for leaf in row
            ]
    return arena.lalr(
        table.actions,
        [rows[id(row)] for row in table.leaves],
        table.rules,
        table.start,
        table.accept,
        table.symbols[END],
        table.indentation,
    )


def _check_embedded(reading: Reading) -> None:
    """Refuse what is no text of a scanner: it would have to know where such a thing ends."""
    extensions = reading.extensions
    used = {symbol.name for rule in reading.rules for symbol in rule.expansion}
    for name, what in sorted(extensions.embedded.items()):
        if name not in used:
            continue
        raise reading.source.unsupported(
            f"{what} within a grammar cannot be read by a scanner",
            what,
            at=name,
            mend='give lexer="dynamic"',
        )


def _check_declared(reading: Reading) -> bool:
    """Return whether the grammar has indentation; refuse other terminals without a definition."""
    names = {terminal.name for terminal in reading.terminals}
    indented = bool(reading.declared & {INDENT, DEDENT}) and NEWLINE in names
    for name in sorted(reading.declared - ({INDENT, DEDENT} if indented else set())):
        mend = "define it, or leave it out"
        if name in (INDENT, DEDENT):
            mend = f'call the terminal of new lines "{NEWLINE}", as python.lark does'
        raise reading.source.unsupported(
            f'terminal "{name}" is declared and not defined: what it matches, a post-lexer knows',
            "%declare",
            at=name,
            mend=mend,
        )
    return indented


def _productions(rules: list[Rule], terminals: list[Terminal]) -> list[Production]:
    """Return the rules; a terminal that may be empty is one that may be left out.

    lark has no terminals without text.
    """
    optional = {
        terminal.name: optional_name(terminal.name) for terminal in terminals if terminal.optional
    }
    found = []
    for rule in rules:
        expansion = (optional.get(symbol.name, symbol.name) for symbol in rule.expansion)
        priority = rule.options.priority or 0
        found.append(Production(str(rule.origin.name), tuple(map(str, expansion)), priority))
    for name, rule_name in optional.items():
        found += [Production(rule_name, (name,)), Production(rule_name, ())]
    return list(dict.fromkeys(found))


def _explain_conflict(
    reading: Reading, productions: list[Production], parsed: Automaton
) -> GuidedError:
    if reading.cut:
        return LimitError(
            "a rule is too large once its optional and repeated parts are written out, and cut up"
            " it is not LALR(1)",
            limit="alternatives",
            value=MAX_ALTERNATIVES,
        )
    conflict = parsed.reductions[0]
    first, second = (productions[number] for number in conflict.productions[:2])
    before = "at the end of the text"
    if conflict.terminal != END:
        before = f"before {_shown(reading, conflict.terminal)}"
    return reading.source.error_at(
        f"two rules can end {before}: {_spelled(reading, first)} and {_spelled(reading, second)}",
        _written_name(first.origin),
        defined=True,
        mend='give lexer="dynamic", which follows both; or rewrite one, or give it a priority',
    )


def _spelled(reading: Reading, production: Production) -> str:
    parts = " ".join(_shown(reading, name) for name in production.expansion)
    return f"`{production.origin}: {parts}`" if parts else f"`{production.origin}:`"


def _shown(reading: Reading, name: str) -> str:
    """Return a symbol as the grammar has it: lark makes up names for strings and patterns."""
    for terminal in reading.terminals:
        if terminal.name == name and reading.source.find(name) is None:
            return str(getattr(terminal.pattern, "raw", None) or terminal.pattern.value)
    return name


def _written_name(origin: str) -> str:
    """Return the rule of the grammar that lark made a rule from: of a template, or for a part."""
    part = re.fullmatch(r"__(.+)_(?:plus|star|repeat_\w+)_\d+", origin)
    return (part[1] if part else origin).split("{")[0]


def _leaves(
    arena: Arena,
    reading: Reading,
    terminals: list[Terminal],
    parsed: Automaton,
    *,
    contextual: bool,
    indented: bool,
) -> list[list[Leaf]]:
    """Return the leaves of each state; states that read the same share one list."""
    scanners = Scanners(arena, terminals, frozenset(reading.ignored))
    ranks = scanners.ranks
    always = [ranks[name] for name in reading.ignored]
    always += [ranks[NEWLINE]] if indented else []
    everywhere = sum(1 << rank for rank in set(always))
    all_terminals = (1 << len(terminals)) - 1
    kept: dict[int, list[Leaf]] = {}
    rows = []
    for actions in parsed.states:
        known = everywhere
        for name in actions:
            if (rank := ranks.get(name)) is not None:
                known |= 1 << rank
        row = kept.get(known)
        if row is None:
            row = kept[known] = [
                leaf
                for leaf in scanners.leaves(known if contextual else all_terminals)
                if leaf.name is None or leaf.name in actions or (indented and leaf.name == NEWLINE)
            ]
        rows.append(row)
    return rows


def _indentation(symbols: dict[str, int]) -> Indentation:
    """Return what lark's PythonIndenter is told; brackets that the grammar lacks are left out."""
    return (
        symbols[NEWLINE],
        symbols[INDENT],
        symbols[DEDENT],
        [symbols[name] for name in OPENING if name in symbols],
        [symbols[name] for name in CLOSING if name in symbols],
        TAB,
    )
