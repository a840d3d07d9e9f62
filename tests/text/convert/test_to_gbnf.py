"""Lark to GBNF, judged by lark: the same texts, or a refusal that names what stands against it."""

from __future__ import annotations

import itertools

import pytest

from guided.errors import UnsupportedError
from guided.text.convert import to_gbnf
from tests.text.convert.test_to_lark import parses
from tests.text.gbnf.matching import Texts

PLAIN = 'start: a ("+" a)*\na: NUM | "(" start ")"\nNUM: /[0-9]+/\n%ignore " "'


def test_a_grammar_is_written_rule_by_rule() -> None:
    assert to_gbnf(PLAIN) == (
        "# Made from a Lark grammar.\n"
        "root ::= (a start-star-0 | a) ignored\n"
        "a ::= ignored num | ignored lpar root ignored rpar\n"
        "start-star-0 ::= (ignored plus a) (ignored plus a)*\n"
        "ignored ::= (ignore-0)*\n"
        "num ::= [0-9]+\n"
        'ignore-0 ::= " "\n'
        'plus ::= "+"\n'
        'lpar ::= "("\n'
        'rpar ::= ")"\n'
    )


@pytest.mark.parametrize(
    ("grammar", "letters"),
    [
        pytest.param(PLAIN, "1+() ", id="ignored blanks"),
        pytest.param('start: "a" start "b" |', "ab", id="nesting"),
        pytest.param('?start: x\nx: x "-" Y | Y\nY: /[ab]b?/', "ab-", id="left recursion"),
        pytest.param('start: "a"i B~1..2 ["c"]\nB: "b" | "d"', "aAbc", id="cases and counts"),
        pytest.param('start: _l{"a"} _l{B}\n_l{x}: x (";" x)*\nB: "b"+', "ab;", id="templates"),
        pytest.param("start: W (S W)*\nW: /a+/\nS: /[ ]+/", "a ", id="words"),
    ],
)
def test_what_is_converted_has_the_texts_that_lark_parses(grammar: str, letters: str) -> None:
    from lark import Lark

    parser = Lark(grammar, parser="lalr")
    texts = Texts(to_gbnf(grammar))
    for size in range(6):
        for each in itertools.product(letters, repeat=size):
            text = "".join(each)
            assert texts.has(text) is parses(parser, text), text


@pytest.mark.parametrize(
    ("grammar", "fact"),
    [
        pytest.param(
            'start: NAME | "if" NAME\nNAME: /[a-z]+/',
            'terminal "NAME" and "IF" both match \'if\'',
            id="keywords",
        ),
        pytest.param("start: A+\nA: /a+/", "terminal \"A\" could end within 'aa'", id="longest"),
        pytest.param(
            'start: A B\nA: /ac*/\nB: "c" "d"', "terminal \"A\" could end within 'ac'", id="longer"
        ),
        pytest.param(
            'start: B | A "c"\nB: "ab"\nA: /ab?a?b?/', 'terminal "A" and "B" both match', id="both"
        ),
        pytest.param("start: B+\nB: /b|bc/", 'terminal "B" has texts that `re` never', id="order"),
        pytest.param('?start: e\ne: e "+" e | "1"', "the rules have conflicts", id="conflicts"),
        pytest.param('start: A\nA: "a"\nB: "b"\n%ignore /a+/', 'terminal "', id="ignored"),
        pytest.param("start: A\n%declare A", 'terminal "A" is declared', id="declared"),
        pytest.param(r"start: A" "\nA: /a$/", "", id="look-around"),
    ],
)
def test_what_a_lexer_or_parser_decides_is_refused(grammar: str, fact: str) -> None:
    with pytest.raises(UnsupportedError) as raised:
        to_gbnf(grammar)
    assert str(raised.value).startswith(fact)


@pytest.mark.parametrize(
    ("grammar", "fact", "column"),
    [
        ('start: "a" <think>', "a token stands in the grammar, which", 12),
        ('start: "a" %json {}', "a JSON Schema stands in the grammar, which", 12),
        ('start: "a" %grammar "json"', "a grammar stands in the grammar, which", 12),
        ('start: "a" %verbatim "b" words', "a verbatim text stands in the grammar, which", 12),
        ("A[lazy]: /a+b/\nstart: A", '"A" is lazy, which', 1),
        ('A[stop="b"]: /a+/\nstart: A', '"A" has a stop, which', 1),
        ('start[capture]: "a"', '"start" is captured, which', 1),
    ],
)
def test_what_guided_adds_to_lark_is_refused(grammar: str, fact: str, column: int) -> None:
    with pytest.raises(UnsupportedError, match=f"{fact} is not carried over") as caught:
        to_gbnf(grammar, lexer="dynamic_complete")
    assert f"line 1, column {column}" in str(caught.value)


def test_parts_in_any_order_are_rules_by_then() -> None:
    texts = Texts(to_gbnf('start: unordered{"a", b, "c"} "!"\nb: "b"'))
    every = ("".join(each) for size in range(5) for each in itertools.product("abc!", repeat=size))
    taken = [text for text in every if texts.has(text)]
    assert taken == [f"{''.join(each)}!" for each in itertools.permutations("abc")]


def test_all_lexings_are_what_gbnf_means() -> None:
    grammar = 'start: NAME | "if" NAME\nNAME: /[a-z]+/'
    texts = Texts(to_gbnf(grammar, lexer="dynamic_complete"))
    assert texts.has("if")
    assert texts.has("ifx")


def test_what_is_ignored_is_as_long_as_can_be_even_then() -> None:
    with pytest.raises(UnsupportedError, match="could end within"):
        to_gbnf('start: " a"\n%ignore / +/', lexer="dynamic_complete")


def test_a_refusal_says_where_and_what_to_do() -> None:
    with pytest.raises(UnsupportedError) as raised:
        to_gbnf("start: A+\nA: /a+/")
    assert str(raised.value) == (
        'terminal "A" could end within \'aa\', where "A" goes on:'
        " a lexer decides what is read, and GBNF has none (scope: docs/grammars.md)\n"
        "  line 2, column 1\n"
        "    2 | A: /a+/\n"
        "      | ^\n"
        '  mend: if all lexings may count, convert it with lexer="dynamic_complete"'
    )
