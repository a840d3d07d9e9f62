"""GBNF to Lark, judged by lark's Earley parser with all lexings."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from guided.errors import GrammarError, UnsupportedError
from guided.text.convert import convert, to_lark
from tests.text.gbnf.matching import Texts
from tests.text.gbnf.test_corpora import lines
from tests.text.gbnf.test_random import NAMES, random_part


def earley(text: str) -> Any:
    from lark import Lark

    return Lark(text, parser="earley", lexer="dynamic_complete")


def parses(parser: Any, text: str) -> bool:
    from lark.exceptions import LarkError

    try:
        parser.parse(text)
    except LarkError:
        return False
    return True


def test_a_grammar_is_written_rule_by_rule() -> None:
    grammar = (
        'x-1 ::= root? [^a] "q\\"\\n"{2,} .\nroot ::= "" | ("a" | 2){1,3} # c\n2 ::= "b"+ | x-1*'
    )
    assert to_lark(grammar).split("\n\n", 1)[1] == (
        'start: | ("a" | rule_2)~1..3\n'
        'x_1: (start)? /[\\x00-`b-\\uD7FF\\uE000-\\U0010FFFF]/ ("q\\"\\n")~2 ("q\\"\\n")*'
        " /[\\x00-\\uD7FF\\uE000-\\U0010FFFF]/\n"
        'rule_2: ("b")+ | (x_1)*\n'
    )


def test_names_stay_apart() -> None:
    grammar = 'a-b ::= a_b start root\na_b ::= "x"\nstart ::= "y"\nroot ::= "z"'
    written = to_lark(grammar, start="a-b")
    assert written.endswith('start: a_b start_2 root\na_b: "x"\nstart_2: "y"\nroot: "z"\n')


@pytest.mark.parametrize(
    "name", ["own_dyck", "own_escapes", "own_leftrec", "own_nullable", "chess"]
)
def test_samples_have_the_same_verdicts_in_lark(corpora: Any, name: str) -> None:
    path = corpora / "grammars" / "gbnf" / f"{name}.gbnf"
    parser = earley(to_lark(path.read_text(encoding="utf-8")))
    for case in lines(corpora / "grammars" / "samples.jsonl"):
        if case["grammar"] == f"gbnf/{name}.gbnf":
            assert [text for text in case["accept"] if not parses(parser, text)] == []
            assert [text for text in case["reject"] if parses(parser, text)] == []


@pytest.mark.parametrize("seed", range(25))
def test_random_grammars_have_the_same_texts_in_lark(seed: int) -> None:
    chance = random.Random(seed)
    rules = {name: random_part(chance, 2) for name in NAMES}
    grammar = "\n".join(f"{name} ::= {part.written()}" for name, part in rules.items())
    try:
        texts = Texts(grammar)
    except GrammarError:
        return
    parser = earley(to_lark(grammar))
    for size in range(4):
        for each in itertools.product("xy", repeat=size):
            text = "".join(each)
            assert parses(parser, text) is texts.has(text), (grammar, text)


def test_tokens_are_refused() -> None:
    with pytest.raises(UnsupportedError) as raised:
        to_lark('root ::= "a" !<think>')
    assert str(raised.value) == (
        "!<think> is a token of a vocabulary, which Lark does not know (scope: docs/grammars.md)\n"
        "  line 1, column 14\n"
        '    1 | root ::= "a" !<think>\n'
        "      |              ^^^^^^^^\n"
        "  mend: keep the grammar in GBNF"
    )


def test_what_is_wrong_is_told_as_ever() -> None:
    with pytest.raises(GrammarError, match='rule "a" is not defined'):
        convert("root ::= a", "gbnf", "lark")


def test_from_a_notation_to_itself_is_no_conversion() -> None:
    with pytest.raises(ValueError, match="there is nothing to convert from gbnf to gbnf"):
        convert('root ::= "a"', "gbnf", "gbnf")
