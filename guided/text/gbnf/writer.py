"""Rules to nodes."""

from __future__ import annotations

from guided._core import Arena
from guided.text.gbnf.checks import reachable
from guided.text.gbnf.syntax import (
    Characters,
    Choice,
    Expression,
    Reference,
    Repeat,
    Rule,
    Sequence,
    Text,
    Token,
    bottom_up,
    parts_of,
)

# A node may be nested 1,000 deep in the core, and a rule begins anew.
_MAX_DEPTH = 100
# The text or the number of a token, and whether any other token is meant.
GivenToken = tuple[str | int, bool]


class Writer:
    """Writes the rules of one grammar into one arena.

    Attributes:
        tokens: rules without a body that stand for tokens, which are a vocabulary's to tell.
    """

    def __init__(self, arena: Arena, rules: dict[str, Rule]) -> None:
        self.arena = arena
        self.rules = rules
        self.tokens: dict[int, GivenToken] = {}
        self._nodes: dict[str, int] = {}
        self._depths: dict[str, int] = {}
        self._given: dict[GivenToken, int] = {}

    def write(self, start: str) -> int:
        """Return the node of a rule.

        A rule that is regular is written out where it is used: the core keeps a regular part as one
        terminal, and equal parts are one node anyway.
        """
        for name in reachable(self.rules, start):
            node = self._expression(self.rules[name].body)
            depth = self._depth(self.rules[name].body)
            if name not in self._nodes and self.arena.is_regular(node) and depth <= _MAX_DEPTH:
                self._nodes[name] = node
                self._depths[name] = depth
            else:
                self.arena.define(self._rule(name), node)
        return self._nodes[start]

    def _rule(self, name: str) -> int:
        """Return the node of a rule that is used before it is written, or is not regular."""
        if name not in self._nodes:
            self._nodes[name] = self.arena.rule(name)
            self._depths[name] = 0
        return self._nodes[name]

    def _depth(self, body: Expression) -> int:
        depths: dict[int, int] = {}
        for part in bottom_up(body):
            if isinstance(part, Reference):
                depths[id(part)] = self._depths[part.name]
            else:
                depths[id(part)] = 1 + max((depths[id(each)] for each in parts_of(part)), default=0)
        return depths[id(body)]

    def _expression(self, body: Expression) -> int:
        nodes: dict[int, int] = {}
        for part in bottom_up(body):
            nodes[id(part)] = self._one(part, [nodes[id(each)] for each in parts_of(part)])
        return nodes[id(body)]

    def _one(self, part: Expression, nodes: list[int]) -> int:
        match part:
            case Text(text=text):
                return self.arena.literal(text)
            case Characters(ranges=ranges):
                return self.arena.char_class(ranges)
            case Reference(name=name):
                return self._rule(name)
            case Token():
                return self._token(part)
            case Sequence():
                return self.arena.sequence(nodes)
            case Choice():
                return self.arena.choice(nodes)
            case Repeat(minimum=minimum, maximum=maximum):
                return self.arena.repeat(nodes[0], minimum, maximum)

    def _token(self, token: Token) -> int:
        given = (token.text if token.number is None else token.number, token.negated)
        if given not in self._given:
            name = f"!{given[0]}" if token.negated else f"{given[0]}"
            self._given[given] = self.arena.rule(name)
            self.tokens[self._given[given]] = given
        return self._given[given]
