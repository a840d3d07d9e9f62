"""Grammars made to take long or to break something end soon, with an error that says why."""

from __future__ import annotations

import contextlib
import random
import re

import pytest

from guided.errors import GuidedError, LimitError
from guided.text.lark import compile_lark

DOUBLING = "\n".join(f"A{n + 1}: A{n} A{n}" for n in range(30))
CHAIN = "start: a0\n" + "\n".join(f"a{n}: a{n + 1}" for n in range(3000)) + '\na3000: "x"'


@pytest.mark.parametrize(
    ("grammar", "fact"),
    [
        pytest.param(f'start: {"(" * 5000}"a"{")" * 5000}', "nested too deeply", id="brackets"),
        pytest.param(f"start: /{'(' * 5000}a{')' * 5000}/", "nested", id="groups of a pattern"),
        pytest.param(f'start: A30\nA0: "aa"\n{DOUBLING}', "too long", id="doubling terminals"),
        pytest.param(
            'start: a{"x"}\na{x}: "q" | a{b{x}}\nb{y}: y', "arguments", id="a growing template"
        ),
        pytest.param(
            f'start: t{{"a"}}\nt{{x}}: {"x? " * 20}', "too large", id="a row in a template"
        ),
        pytest.param(
            'start: A\nA: ("a"~1..1000)~1..1000', "too large", id="a count of counts in a terminal"
        ),
    ],
)
@pytest.mark.parametrize("lexer", ["contextual", "dynamic"])
def test_what_would_take_too_long_is_refused(grammar: str, fact: str, lexer: str) -> None:
    with pytest.raises(LimitError, match=fact):
        compile_lark(grammar, lexer=lexer)  # type: ignore[arg-type]


def test_what_is_cut_up_and_then_not_lalr_is_refused() -> None:
    grammar = f'start: {"a? " * 20}\na: "a"'
    with pytest.raises(LimitError, match="cut up it is not LALR"):
        compile_lark(grammar)
    compile_lark(grammar, lexer="dynamic")


@pytest.mark.parametrize(
    "grammar",
    [
        pytest.param('start: "a"~1..1000000', id="a count"),
        pytest.param('start: ("a"|"b")~1..49 ("c"|"d")~1..49', id="counts of alternatives"),
        pytest.param(
            f"start: {'|'.join(f'{chr(34)}w{n}{chr(34)}' for n in range(500))}", id="words"
        ),
        pytest.param(CHAIN, id="a long chain of rules"),
        pytest.param("start: /(a|b)*a(a|b){25}/", id="a pattern that backtracks"),
    ],
)
def test_what_only_looks_large_is_taken(grammar: str) -> None:
    compile_lark(grammar)


FRAGMENTS = re.findall(
    r"\S+",
    """%grammar "json" %verbatim words unordered{a,b} unordered{ "b c" characters
    %import %ignore %declare %override %extend common.INT <a> [lazy] [stop="x"] %json {} ~ .. ->
    " / ( ) [ ] { } | ? * + ! _ : .2 start A a \\ __x "\\u0041" /(?=a)/ // # ~1..60 /\\b/ é
    /(?P<x>a)(?P=x)/ "a".."b" /a{1,3}?/ /./s""",
)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_no_grammar_is_refused_in_order(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(15):
        text = source.choice(WHOLE)
        for _ in range(source.randint(1, 5)):
            at = source.randrange(len(text) + 1)
            if source.random() < 0.6:
                text = text[:at] + source.choice([*FRAGMENTS, " ", "\n", "\0"]) + text[at:]
            else:
                text = text[:at] + text[at + source.randint(1, 6) :]
        with contextlib.suppress(GuidedError):
            compile_lark(text, lexer=source.choice(["contextual", "dynamic"]))


WHOLE = [
    'start: unordered{"a", b, %verbatim "x y" words} %grammar "semver"\nb: "b" %verbatim x words',
    'start: "a" <|t|> %json {"type": "array"}\nA[lazy].2: /a+/\nB[stop="x"]: /b*/',
    'start: t{"a", b}\nb: /x/i\nt{x,y}: x~2..3 | y? [x]',
    'start: (item ";")*\n?item: NAME "=" sum -> set | sum\n!sum: NUMBER ("+" NUMBER)*\n'
    "%import common.CNAME -> NAME\n%import common.NUMBER\n%ignore /\\s+/ // blanks\n",
    'start: _NEWLINE _INDENT "a" _DEDENT\n_NEWLINE: /(\\r?\\n[\\t ]*)+/\n'
    "%declare _INDENT _DEDENT\n",
]
