"""`unordered{a, b, c}`: each of these once, in any order.

Lark sees a template with as many parameters, so that what may stand in the brackets is what may be
an argument. The rules that lark makes of it only list the parts; they are replaced here by rules
that choose what comes first, and leave the rest to the rule of the rest.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from guided.errors import LimitError

if TYPE_CHECKING:
    from lark.grammar import Rule, Symbol

MAX_PARTS = 12
MAX_RULES = 20_000
_PREFIX = "guided_unordered_"
_LIST = re.compile(rf"{_PREFIX}\d+\{{")


def template_of(count: int) -> str:
    """Return the name of the template for a number of parts.

    Raises:
        LimitError: there are more than 12 of them, which would take more than 4,096 rules.
    """
    if count > MAX_PARTS:
        raise LimitError(
            f"unordered{{...}} has {count} parts", limit="parts in any order", value=MAX_PARTS
        )
    return f"{_PREFIX}{count}"


def is_template(name: str) -> bool:
    """Return True for the templates that stand for `unordered`, and for those of their parts."""
    return name.startswith(_PREFIX)


def templates(counts: set[int]) -> str:
    """Return the definitions of the templates for some numbers of parts."""
    lines = []
    for count in sorted(counts):
        names = [f"p{each}" for each in range(count)]
        # Equal parts would be equal alternatives, which lark refuses, so each has a rule around it.
        parts = [f"{_PREFIX}part_{each}{{p{each}}}" for each in range(count)]
        lines.append(f"{template_of(count)}{{{', '.join(names)}}}: {' | '.join(parts)}")
    lines += [f"{_PREFIX}part_{each}{{p}}: p" for each in range(max(counts, default=0))]
    return "\n".join(["", *lines, ""]) if lines else ""


def write_out(rules: list[Rule]) -> list[Rule]:
    """Return rules with those that list parts replaced by rules for each set of parts."""
    lists: dict[str, list[Symbol]] = {}
    parts = {}
    for rule in rules:
        name = str(rule.origin.name)
        if _LIST.match(name):
            lists.setdefault(name, []).extend(rule.expansion)
        elif name.startswith(f"{_PREFIX}part_"):
            parts[name] = rule.expansion[0]
    if not lists:
        return rules
    return _Orders(lists, parts).replace(rules)


class _Orders:
    """Makes the rules for sets of parts, each once for a grammar."""

    def __init__(self, lists: dict[str, list[Symbol]], parts: dict[str, Symbol]) -> None:
        self.lists = lists
        self.parts = parts
        self.made: dict[tuple[Symbol, ...], Symbol] = {}
        self.rules: list[Rule] = []
        self.waiting: list[tuple[Symbol, ...]] = []

    def replace(self, rules: list[Rule]) -> list[Rule]:
        from lark.grammar import Rule

        for rule in rules:
            if is_template(str(rule.origin.name)):
                continue
            expansion = [self._replaced(symbol) for symbol in rule.expansion]
            self.rules.append(Rule(rule.origin, expansion, rule.order, rule.alias, rule.options))
        while self.waiting:
            self._write(self.waiting.pop())
        return self.rules

    def _replaced(self, symbol: Symbol) -> Symbol:
        """Return what stands for a symbol; the rule of a list of parts is made in its time."""
        if symbol.name not in self.lists:
            return symbol
        members = [self._replaced(self.parts[part.name]) for part in self.lists[symbol.name]]
        return self._rule_of(members)

    def _rule_of(self, members: list[Symbol]) -> Symbol:
        from lark.grammar import NonTerminal

        if len(members) == 1:
            return members[0]
        key = tuple(sorted(members, key=lambda member: str(member.name)))
        if key not in self.made:
            if len(self.made) >= MAX_RULES:
                raise LimitError(
                    "unordered{...} is used with too many parts that differ",
                    limit="rules",
                    value=MAX_RULES,
                )
            shown = ",".join(str(member.name) for member in key)
            self.made[key] = NonTerminal(f"unordered{{{shown}}}")
            self.waiting.append(key)
        return self.made[key]

    def _write(self, members: tuple[Symbol, ...]) -> None:
        from lark.grammar import NonTerminal, Rule

        origin = self.made[members]
        assert isinstance(origin, NonTerminal)
        for order, first in enumerate(dict.fromkeys(members)):
            rest = list(members)
            rest.remove(first)
            self.rules.append(Rule(origin, [first, self._rule_of(rest)], order))
