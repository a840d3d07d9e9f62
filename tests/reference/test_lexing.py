"""The lexing of the oracle against lark's contextual lexer, on all short texts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import lark
import pytest

from tests.reference import Arena, accepts, is_viable_prefix

PATTERNS = {"A": '"a"', "AB": '"ab"', "ABC": '"abc"', "B": '"b"', "BC": '"bc"', "C": '"c"'}
Nodes = dict[str, int]
# Lark tries its terminals in an order instead of looking for the longest match; for these it is the
# same.
RULES: dict[str, tuple[str, Callable[[Arena, Nodes], int]]] = {
    "longest match": (
        "(A | AB | C)*",
        lambda arena, n: arena.repeat(arena.choice([n["A"], n["AB"], n["C"]])),
    ),
    "not enough for a longer one": (
        "(A | ABC | BC)*",
        lambda arena, n: arena.repeat(arena.choice([n["A"], n["ABC"], n["BC"]])),
    ),
    "only what the grammar allows here": (
        "A (AB | C) | B",
        lambda arena, n: arena.choice(
            [arena.sequence([n["A"], arena.choice([n["AB"], n["C"]])]), n["B"]]
        ),
    ),
    "the longer one is not followed": (
        "A B C | AB",
        lambda arena, n: arena.choice([arena.sequence([n["A"], n["B"], n["C"]]), n["AB"]]),
    ),
    "the longer one is followed by less": (
        "A (B C)* | AB A",
        lambda arena, n: arena.choice(
            [
                arena.sequence([n["A"], arena.repeat(arena.sequence([n["B"], n["C"]]))]),
                arena.sequence([n["AB"], n["A"]]),
            ]
        ),
    ),
}
TEXTS = ["".join(text) for n in range(6) for text in itertools.product("abc", repeat=n)]


@pytest.mark.parametrize("name", RULES)
def test_verdicts_are_those_of_lark(name: str) -> None:
    rule, build = RULES[name]
    arena = Arena()
    nodes = {name: arena.lexeme(arena.literal(text[1:-1])) for name, text in PATTERNS.items()}
    start = build(arena, nodes)
    used = [f"{name}: {text}" for name, text in PATTERNS.items() if re.search(rf"\b{name}\b", rule)]
    parser = lark.Lark("\n".join([f"start: {rule}", *used]), parser="lalr", lexer="contextual")
    accepted = []
    for text in TEXTS:
        try:
            parser.parse(text)
            verdict = True
        except lark.exceptions.UnexpectedInput:
            verdict = False
        assert accepts(arena, start, text) is verdict, text
        if verdict:
            accepted.append(text)
    for text in TEXTS:
        if len(text) <= 2:
            wanted = any(whole.startswith(text) for whole in accepted)
            assert is_viable_prefix(arena, start, text) is wanted, text


def test_a_run_is_as_long_as_it_can_be() -> None:
    arena = Arena()
    run, pair = arena.lexeme(arena.repeat(arena.literal("a"), 1)), arena.lexeme(arena.literal("ab"))
    start = arena.sequence([run, arena.repeat(run, 0, 1), arena.repeat(pair, 0, 1)])
    verdicts = {"a": True, "aaa": True, "ab": False, "aab": False}
    assert {text: accepts(arena, start, text) for text in verdicts} == verdicts
    assert not is_viable_prefix(arena, start, "ab")


def test_of_equally_long_lexemes_the_highest_priority_counts() -> None:
    arena = Arena()
    word = arena.repeat(arena.char_class([(0x61, 0x7A)]), 1, None)
    name, keyword = arena.lexeme(word, 0), arena.lexeme(arena.literal("if"), 1)
    mark, end = arena.lexeme(arena.literal("!")), arena.lexeme(arena.literal("."))
    start = arena.choice([arena.sequence([name, mark]), arena.sequence([keyword, end])])
    verdicts = {"if!": False, "if.": True, "iff!": True, "iff.": False, "i!": True, "i.": False}
    assert {text: accepts(arena, start, text) for text in verdicts} == verdicts
    assert is_viable_prefix(arena, start, "if")
    assert not is_viable_prefix(arena, start, "if!")
