"""lexer="dynamic" and "dynamic_complete": as Lark's Earley parser, which tries each terminal alone.

A terminal may stand wherever the rules allow it and ends where `re` ends it; with
"dynamic_complete" also at each place before that at which it would end if the text did. What is
ignored may stand before any terminal and at the end, and always ends where `re` ends it.
"""

from __future__ import annotations

from collections.abc import Mapping

from guided._core import Arena
from guided.text.lark.reading import Reading
from guided.text.lark.terminals import Terminal


def write_dynamic(
    arena: Arena,
    reading: Reading,
    terminals: list[Terminal],
    embedded: Mapping[str, int],
    *,
    complete: bool,
) -> int:
    """Write the rules of a grammar as context-free rules, and return the node of its start.

    `embedded` are the nodes of what stands for no terminal, such as a JSON Schema.

    Raises:
        UnsupportedError: a terminal is declared and not defined.
    """
    for name in sorted(reading.declared):
        raise reading.source.unsupported(
            f'terminal "{name}" is declared and not defined: what it matches, a post-lexer knows',
            "%declare",
            at=name,
            mend='such terminals need lexer="contextual" or lexer="basic"',
        )
    by_name = {terminal.name: terminal for terminal in terminals}
    ignored = arena.choice([_lexeme(arena, by_name[name]) for name in reading.ignored])
    gap = arena.repeat(ignored)
    symbols = {name: arena.sequence([gap, node]) for name, node in embedded.items()}
    for terminal in terminals:
        node = terminal.node
        if terminal.forbidden is not None or not complete:
            node = _lexeme(arena, terminal)
        node = arena.sequence([gap, node])
        symbols[terminal.name] = arena.choice([0, node]) if terminal.optional else node
    bodies: dict[str, list[int]] = {}
    for rule in reading.rules:
        bodies[rule.origin.name] = []
        symbols.setdefault(rule.origin.name, arena.rule(rule.origin.name))
    for rule in reading.rules:
        nodes = [symbols[symbol.name] for symbol in rule.expansion]
        bodies[rule.origin.name].append(arena.sequence(nodes))
    for name, nodes in bodies.items():
        arena.define(symbols[name], arena.choice(nodes))
    return arena.sequence([symbols[reading.start], gap])


def _lexeme(arena: Arena, terminal: Terminal) -> int:
    """Return a terminal that ends where `re` ends it."""
    longer = [] if terminal.text is not None else [terminal.node]
    if terminal.forbidden is not None:
        longer.append(terminal.forbidden)
    if not longer:
        return terminal.node
    return arena.lexeme(terminal.node, arena.choice(longer))
