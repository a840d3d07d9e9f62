"""The parser of patterns: shifts and reductions by tables that lark made ahead.

Lark reads a grammar by a parser of its own, which it has to make first: with its import that is
60 ms for the first pattern of a process, where the tables are read in one. `make tables` writes
them from the grammars (table_writer.py), and a test holds that they are up to date. What is done
with them is what lark does: an LALR(1) parser, and a lexer that tries the terminals that may come
in a state, in the order of their priorities.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

# What a rule makes of the values of its symbols: its name, their number, which are kept (and
# whether the parts of those take their place), whether a single one stands for the whole.
Rule = tuple[str, int, list[tuple[int, bool]], bool]

END = "$END"


class Token(str):
    """A piece of a pattern, and where it begins."""

    __slots__ = ("start_pos", "type")

    def __new__(cls, kind: str, text: str, start: int) -> Token:
        """Make a token of the kind that a terminal names."""
        made = super().__new__(cls, text)
        made.type = kind
        made.start_pos = start
        return made

    type: str
    start_pos: int


class Tree:
    """What a rule of the grammar matched."""

    __slots__ = ("children", "data")

    def __init__(self, data: str, children: list[Any]) -> None:
        self.data = data
        self.children = children


class Stuck(Exception):
    """A pattern that is none of its dialect.

    Attributes:
        token: what cannot stand at the place, of kind END for the end; None if it is no token.
        index: the place.
        before: the token before it.
        values: the trees and tokens that were not yet part of a larger one.
    """

    def __init__(
        self, token: Token | None, index: int, before: Token | None, values: list[Any]
    ) -> None:
        super().__init__(index)
        self.token = token
        self.index = index
        self.before = before
        self.values = values


class Table:
    """A parser: by state what is done for each symbol.

    Args:
        terminals: their regular expressions.
        ignored: those that are passed over.
        scanners: the terminals that are tried, in this order, and for some of them the kinds that
            some of their texts have instead; the first scanner is for what cannot stand at a place.
        scanner_of: the scanner of each state.
        rules: what is reduced by.
        states: for each symbol the state to shift to, or -1 - rule to reduce by it.
        start, accept: the state to begin with, and that after the start symbol.
    """

    def __init__(
        self,
        terminals: dict[str, str],
        ignored: list[str],
        scanners: list[tuple[list[str], dict[str, dict[str, str]]]],
        scanner_of: list[int],
        rules: list[Rule],
        states: list[dict[str, int]],
        start: int,
        accept: int,
    ) -> None:
        self._terminals = terminals
        self._ignored = frozenset(ignored)
        self._scanners = scanners
        self._scanner_of = scanner_of
        self._rules = rules
        self._states = states
        self._start = start
        self._accept = accept
        self._compiled: dict[int, re.Pattern[str]] = {}

    def parse(self, text: str) -> Tree:
        """Return the tree of a pattern.

        Raises:
            Stuck: it is none.
        """
        stack, values = [self._start], list[Any]()
        before: Token | None = None
        place = 0
        while True:
            token = self._scan(self._scanner_of[stack[-1]], text, place)
            if isinstance(token, int):
                wrong = self._scan(0, text, token)
                raise Stuck(None if isinstance(wrong, int) else wrong, token, before, values)
            self._reduce(stack, values, token, before)
            if token.type == END:
                made: Tree = values[-1]
                return made
            place = token.start_pos + len(token)
            before = token

    def _reduce(
        self, stack: list[int], values: list[Any], token: Token, before: Token | None
    ) -> None:
        """Reduce by all rules that end before a token, then shift it."""
        while True:
            action = self._states[stack[-1]].get(token.type)
            if action is None:
                raise Stuck(token, token.start_pos, before, values)
            if action >= 0:
                stack.append(action)
                values.append(token)
                return
            name, length, kept, is_open = self._rules[-1 - action]
            parts: list[Any] = []
            if length:
                parts = values[-length:]
                del stack[-length:], values[-length:]
            values.append(_made(name, parts, kept, is_open))
            stack.append(self._states[stack[-1]][name])
            if token.type == END and stack[-1] == self._accept:
                return

    def _scan(self, number: int, text: str, place: int) -> Token | int:
        """Return the next token, that of the end after the last; a place where none matches."""
        scanner = self._compiled.get(number)
        tried, renamed = self._scanners[number]
        if scanner is None:
            parts = [f"(?P<{name}>{self._terminals[name]})" for name in tried]
            # Where nothing may come but the end, nothing matches.
            scanner = self._compiled[number] = re.compile("|".join(parts) or "(?!)")
        while place < len(text):
            found = scanner.match(text, place)
            if found is None:
                return place
            kind = str(found.lastgroup)
            if kind not in self._ignored:
                return Token(renamed.get(kind, {}).get(found[0], kind), found[0], place)
            place = found.end()
        return Token(END, "", place)


def _made(name: str, parts: list[Any], kept: list[tuple[int, bool]], is_open: bool) -> Any:
    """Return what a rule makes of the values of its symbols; for names with "_" a list."""
    children: list[Any] = []
    for number, is_spread in kept:
        if not is_spread:
            children.append(parts[number])
        elif children:
            children += parts[number]
        else:
            children = parts[number]  # which nothing else holds: so long lists take linear time
    if name.startswith("_"):
        return children
    return children[0] if is_open and len(children) == 1 else Tree(name, children)


@cache
def read_table(dialect: str) -> Table:
    """Return the parser of a dialect."""
    path = files("guided.text.regex").joinpath("tables", f"{dialect}.json")
    return Table(**json.loads(path.read_text("utf-8")))
