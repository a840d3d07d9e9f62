"""Random grammars against a matcher that tries every way, by sets of places in the text."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

import pytest

from guided.errors import GrammarError
from tests.text.gbnf.matching import Texts

NAMES = ["root", "a", "b"]
LETTERS = "xy"


@dataclass(frozen=True)
class Part:
    """A part of a random grammar: how it is written, and what it is made of."""

    kind: str
    parts: tuple[Part, ...] = ()
    text: str = ""
    bounds: tuple[int, int | None] = (1, 1)

    def written(self) -> str:
        match self.kind:
            case "text":
                return f'"{self.text}"'
            case "class":
                return f"[{self.text}]"
            case "rule":
                return self.text
            case "sequence":
                return "(" + " ".join(part.written() for part in self.parts) + ")"
            case "choice":
                return "(" + " | ".join(part.written() for part in self.parts) + ")"
            case _:
                low, high = self.bounds
                short = {(0, None): "*", (1, None): "+", (0, 1): "?", (low, low): f"{{{low}}}"}
                long = f"{{{low},{'' if high is None else high}}}"
                return self.parts[0].written() + short.get(self.bounds, long)


def random_part(chance: random.Random, depth: int) -> Part:
    kinds = ["text", "class", "rule", "rule"]
    if depth:
        kinds += ["sequence", "sequence", "choice", "choice", "repeat"]
    kind = chance.choice(kinds)
    if kind == "text":
        return Part(kind, text=chance.choice(["", "x", "y", "xy"]))
    if kind == "class":
        return Part(kind, text=chance.choice(["x", "y", "xy", "^x", "x-y"]))
    if kind == "rule":
        return Part(kind, text=chance.choice(NAMES))
    if kind == "repeat":
        bounds = chance.choice([(0, None), (1, None), (0, 1), (2, 2), (1, 3), (2, None)])
        return Part(kind, (random_part(chance, depth - 1),), bounds=bounds)
    parts = tuple(random_part(chance, depth - 1) for _ in range(chance.randint(1, 3)))
    return Part(kind, parts)


class Reference:
    """Says by brute force where in one text each rule may end."""

    def __init__(self, rules: dict[str, Part], text: str) -> None:
        self.text = text
        self.rules = rules
        places = range(len(text) + 1)
        self.known: dict[tuple[str, int], set[int]] = {
            (name, place): set() for name in rules for place in places
        }
        changed = True
        while changed:  # the least fixed point, so left recursion is no matter
            changed = False
            for (name, place), ends in self.known.items():
                found = self.ends(rules[name], {place})
                if not found <= ends:
                    ends |= found
                    changed = True

    def ends(self, part: Part, starts: set[int]) -> set[int]:
        match part.kind:
            case "text":
                size = len(part.text)
                return {at + size for at in starts if self.text[at : at + size] == part.text}
            case "class":
                members = {"^x": "y", "x-y": "xy"}.get(part.text, part.text)
                return {at + 1 for at in starts if self.text[at : at + 1] in tuple(members)}
            case "rule":
                return set().union(*(self.known[part.text, at] for at in starts))
            case "sequence":
                for each in part.parts:
                    starts = self.ends(each, starts)
                return starts
            case "choice":
                return set().union(*(self.ends(each, starts) for each in part.parts))
        return self.repeated(part, starts)

    def repeated(self, part: Part, starts: set[int]) -> set[int]:
        low, high = part.bounds
        for _ in range(low):
            starts = self.ends(part.parts[0], starts)
        reached = set(starts)
        for _ in range(len(self.text) + 1 if high is None else high - low):
            starts = self.ends(part.parts[0], starts)
            reached |= starts
        return reached


@pytest.mark.parametrize("seed", range(120))
def test_random_grammars_match_what_brute_force_finds(seed: int) -> None:
    chance = random.Random(seed)
    rules = {name: random_part(chance, 3) for name in NAMES}
    grammar = "\n".join(f"{name} ::= {part.written()}" for name, part in rules.items())
    texts = ["".join(each) for size in range(6) for each in itertools.product("xy", repeat=size)]
    wanted = {text for text in texts if len(text) in Reference(rules, text).known["root", 0]}
    try:
        matcher = Texts(grammar)
    except GrammarError:
        assert wanted == set(), grammar
        return
    assert {text for text in texts if matcher.has(text)} == wanted, grammar
    beginnings = {text[:size] for text in wanted for size in range(len(text) + 1)}
    assert [text for text in beginnings if not matcher.begins(text)] == [], grammar
