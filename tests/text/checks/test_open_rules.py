"""Which rules a text is in the middle of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from guided import Grammar
from guided.grammar.explain import explain
from guided.text.checks.gbnf_outline import outline_gbnf
from guided.text.checks.open_rules import _Machine, open_rules


def ways(grammar: str, text: str) -> list[str]:
    return [" > ".join(way) for way in open_rules(outline_gbnf(grammar), text)]


LISTS = 'root ::= "[" (item ("," item)*)? "]"\nitem ::= root | name\nname ::= [a-z]{1,3}'


@pytest.mark.parametrize(
    ("text", "within"),
    [
        ("", ["root"]),
        ("[", ["root", "root > item > name"]),
        ("[a", ["root", "root > item > name"]),
        ("[[b,", ["root > item > root > item > root", "root > item > root > item > name"]),
        ("[]", []),
        ("x", []),
    ],
)
def test_the_ways_lead_from_the_start_inwards(text: str, within: list[str]) -> None:
    assert sorted(ways(LISTS, text)) == sorted(within)


def test_left_recursion_and_empty_rules_are_no_trouble() -> None:
    grammar = 'root ::= sum\nsum ::= sum none "+" one | one\nnone ::= none? none?\none ::= "1" "2"'
    assert ways(grammar, "12+1") == ["root > sum > one"]
    assert ways(grammar, "12") == ["root > sum"]


def test_a_grammar_with_tokens_is_left_out() -> None:
    assert ways('root ::= <think> "a"', "") == []


def test_a_large_count_is_left_out() -> None:
    assert ways('root ::= ("a" b){0,100000}\nb ::= "b"', "a") == []


def test_the_rules_can_be_followed_just_where_the_engine_goes_on(corpora: Path) -> None:
    """Each beginning of a sample is taken by both, or by neither."""
    text = (corpora / "grammars" / "samples.jsonl").read_text(encoding="utf-8")
    for line in text.strip().split("\n"):
        sample = json.loads(line)
        if sample["dialect"] != "gbnf":
            continue
        source = (corpora / "grammars" / "gbnf" / Path(sample["grammar"]).name).read_text()
        machine = _Machine(outline_gbnf(source, start=sample["start"]))
        grammar = Grammar.from_gbnf(source, start=sample["start"])
        for given in sample["accept"] + sample["reject"]:
            short = given[:40]
            fits = explain(grammar, short).verdict != "rejected"
            assert (machine.run(short) is not None) is fits, (sample["grammar"], short)
