"""What is told of rules without running them agrees with what running them shows."""

from __future__ import annotations

import random

import pytest

from guided import Grammar, GrammarError
from guided.grammar.explain import explain
from guided.text.checks import analysis
from guided.text.checks.gbnf_outline import outline_gbnf

NAMES = ["root", "a", "b", "c"]


def random_grammar(draw: random.Random) -> str:
    return "\n".join(f"{name} ::= {random_body(draw, 2)}" for name in NAMES)


def random_body(draw: random.Random, depth: int) -> str:
    kind = draw.randrange(6 if depth else 3)
    if kind == 0:
        return draw.choice(NAMES)
    if kind == 1:
        return draw.choice(['"x"', '" "', "[ \\t]", '""'])
    if kind == 2:
        return f"{draw.choice(NAMES)} {draw.choice(NAMES)}"
    inside = [random_body(draw, depth - 1) for _ in range(2)]
    if kind == 3:
        return f"({inside[0]} | {inside[1]})"
    if kind == 4:
        return f"({inside[0]}){draw.choice(['*', '+', '?', '{2}', '{0,2}'])}"
    return f"{inside[0]} {inside[1]}"


@pytest.mark.parametrize("seed", range(200))
def test_the_engine_agrees(seed: int) -> None:
    text = random_grammar(random.Random(seed))
    for start in NAMES:
        outline = outline_gbnf(text, start=start)
        if start not in analysis.productive(outline):
            with pytest.raises(GrammarError):
                Grammar.from_gbnf(text, start=start)
            continue
        grammar = Grammar.from_gbnf(text, start=start)
        is_nullable = explain(grammar, "").verdict == "accepted"
        assert (start in analysis.nullable(outline)) is is_nullable
        if start in analysis.blank(outline):
            assert explain(grammar, "").next_bytes.strip() == b""


@pytest.mark.parametrize("seed", range(200))
def test_left_recursive_rules_are_those_that_come_back_to_themselves(seed: int) -> None:
    """By a search from each rule, instead of the components of all."""
    outline = outline_gbnf(random_grammar(random.Random(seed)))
    empty = analysis.nullable(outline)
    leads = {name: set(analysis.firsts(rule.body, empty)) for name, rule in outline.rules.items()}
    found = {name for group in analysis.left_recursive(outline) for name in group}
    for name in NAMES:
        met: set[str] = set()
        waiting = list(leads[name])
        while waiting:
            each = waiting.pop()
            if each not in met:
                met.add(each)
                waiting += leads[each]
        assert (name in met) is (name in found)


def test_cycles_are_found_in_the_order_of_their_names() -> None:
    leads = {"a": ["b"], "b": ["c", "b"], "c": ["a", "d"], "d": [], "e": ["e"], "f": ["e"]}
    assert analysis.cycles(leads) == [["a", "b", "c"], ["e"]]
