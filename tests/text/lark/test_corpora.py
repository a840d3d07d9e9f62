"""Grammars of the corpora: each text has the verdict that it was labelled with."""

from __future__ import annotations

import random
from typing import Any

import pytest

from guided import Grammar
from guided.text.lark import LexerName
from tests.text.lark.matching import (
    GRAMMARS,
    Peer,
    accepts,
    needs_corpora,
    reported_cases,
    samples,
)
from tests.text.lark.simulation import Simulation

pytestmark = needs_corpora


def grammar_of(sample: dict[str, Any]) -> Grammar:
    path = GRAMMARS / sample["grammar"]
    lexer: LexerName = "contextual" if sample["parser"] == "lalr" else "dynamic"
    return Grammar.from_lark(path.read_text(), start=sample["start"], lexer=lexer, path=path)


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: str(sample["grammar"]))
def test_samples_have_their_verdicts(sample: dict[str, Any]) -> None:
    grammar = grammar_of(sample)
    assert [text for text in sample["accept"] if not accepts(grammar, text)] == []
    assert [text for text in sample["reject"] if accepts(grammar, text)] == []


def text_of(case: dict[str, Any]) -> str:
    source = case["input"]
    return str(source["value"] if "value" in source else eval(source["generate_py"]))


def texts_of(case: dict[str, Any], key: str) -> list[str]:
    return [eval(each["py"]) if isinstance(each, dict) else each for each in case.get(key, [])]


@pytest.mark.parametrize("case", reported_cases(), ids=lambda case: str(case["id"]))
def test_reported_failures_do_not_occur(case: dict[str, Any]) -> None:
    grammar = Grammar.from_lark(text_of(case), lexer="dynamic")  # as the labels were made
    assert [text for text in texts_of(case, "accept") if not accepts(grammar, text)] == []
    assert [text for text in texts_of(case, "reject") if accepts(grammar, text)] == []


# lark takes no terminal that may be empty, and a million alternatives not in our time.
ONLY_OURS = ("cfg-lark-zero-width-terminal", "perf-optionals-20-lark")


# The labels are of lark's Earley parser. A scanner, which lark's LALR parser has, reads otherwise:
LOST_TO_A_SCANNER = {
    # "A" is ignored and has a longer pattern beside it, so it is tried before "ABC",
    "cfg-lark-ignored-priority": ["a ABC b", "aABCb", "aA ABC b"],
    # a string that a pattern matches as well is never that pattern,
    "cfg-lark-keyword-vs-name": ["print=x"],
    # and a pattern is tried before a string that is no longer than what it may match.
    "cfg-lark-left-recursive-list": ["a=b;use(a)", "use(x);c=d;use(c)"],
}


@pytest.mark.parametrize("case", reported_cases(), ids=lambda case: str(case["id"]))
def test_reported_grammars_read_by_tables_mean_what_they_mean_to_lark(case: dict[str, Any]) -> None:
    grammar = Grammar.from_lark(text_of(case))
    texts = texts_of(case, "accept") + texts_of(case, "reject")
    if case["id"] in ONLY_OURS:
        wanted = texts_of(case, "accept")
    else:
        peer = Peer(text_of(case))
        wanted = [text for text in texts if peer.accepts(text)]
    missing = [text for text in texts_of(case, "accept") if text not in wanted]
    assert missing == LOST_TO_A_SCANNER.get(case["id"], [])
    assert [text for text in texts if accepts(grammar, text)] == wanted


def mutate(text: str, source: random.Random) -> str:
    """Return a text with up to three characters removed, added or cut off after."""
    characters = list(text)
    alphabet = sorted(set(text)) + list(' \n"a0(')
    for _ in range(source.randint(1, 3)):
        at = source.randrange(len(characters) + 1)
        choice = source.random()
        if choice < 0.4:
            del characters[at : at + 1]
        elif choice < 0.8:
            characters.insert(at, source.choice(alphabet))
        else:
            del characters[at:]
    return "".join(characters)


QUICK = [sample for sample in samples() if "python" not in sample["grammar"]]


@pytest.mark.parametrize("sample", QUICK, ids=lambda sample: str(sample["grammar"]))
def test_mutated_samples_have_the_verdict_of_lark(sample: dict[str, Any]) -> None:
    path = GRAMMARS / sample["grammar"]
    lexer: LexerName = "contextual" if sample["parser"] == "lalr" else "dynamic"
    peer = Peer(path.read_text(), lexer=lexer, start=sample["start"], path=path)
    grammar = grammar_of(sample)
    source = random.Random(1)
    for text in sample["accept"] + sample["reject"]:
        for _ in range(20):
            mutated = mutate(text, source)
            assert accepts(grammar, mutated) is peer.accepts(mutated), mutated


TABLES = [sample for sample in QUICK if sample["parser"] == "lalr"]


@pytest.mark.parametrize("sample", TABLES, ids=lambda sample: str(sample["grammar"]))
@pytest.mark.parametrize("contextual", [True, False])
def test_tables_work_as_lark_does(sample: dict[str, Any], contextual: bool) -> None:
    path = GRAMMARS / sample["grammar"]
    peer = Peer(
        path.read_text(),
        lexer="contextual" if contextual else "basic",
        start=sample["start"],
        path=path,
    )
    simulation = Simulation(
        path.read_text(), start=sample["start"], contextual=contextual, path=path
    )
    source = random.Random(2)
    for text in sample["accept"] + sample["reject"]:
        for mutated in (text, mutate(text, source), mutate(text, source)):
            assert simulation.accepts(mutated) is peer.accepts(mutated), mutated
