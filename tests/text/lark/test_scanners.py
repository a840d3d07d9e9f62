"""Which terminal is read where several match: as lark's scanners decide, checked against them."""

from __future__ import annotations

import random
import re

import pytest

from guided import Grammar
from guided.errors import UnsupportedError
from guided.text.lark import LexerName
from tests.text.lark.matching import Peer, accepts, every_text
from tests.text.lark.simulation import Simulation

TEXTS = every_text("abA ", 5)


def agree(grammar: str, *, contextual: bool, texts: list[str]) -> None:
    """Assert that lark, the table worked by the book, and the core take the same texts."""
    lexer: LexerName = "contextual" if contextual else "basic"
    peer = Peer(grammar, lexer=lexer)
    simulation = Simulation(grammar, contextual=contextual)
    ours = Grammar.from_lark(grammar, lexer=lexer)
    for text in texts:
        wanted = peer.accepts(text)
        assert simulation.accepts(text) is wanted, text
        assert accepts(ours, text) is wanted, text


@pytest.mark.parametrize(
    "terminals",
    [
        pytest.param('A: "a"\nB: "ab"', id="the longer string is tried first"),
        pytest.param("A: /a+/\nB: /a*b/", id="the longer pattern is tried first"),
        pytest.param('A.2: "a"\nB: /[ab]+/', id="priority comes before length"),
        pytest.param('A: "ab"\nB: /[ab]+/', id="a keyword wins over a name"),
        pytest.param('A: "ab"i\nB: /[ab]+/', id="a keyword of any case is scanned for as well"),
        pytest.param('A: "ab"i\nB: /[ab]+/i', id="a keyword of any case within a name of any"),
        pytest.param('A.2: "ab"\nB: /[ab]+/', id="a keyword of priority ends names"),
        pytest.param("A: /a+?b/\nB: /a|ab/", id="lazy and ordered patterns"),
        pytest.param("A: /b(?!a)/\nB: /a/", id="a look-ahead beyond the end"),
        pytest.param("A: /a|A/\nB: /aa/\n%ignore B", id="what is ignored competes"),
        pytest.param('A: "aa"\nB: /[ab]+/\n%ignore B', id="a keyword in what is ignored is so too"),
    ],
)
@pytest.mark.parametrize("rule", ["(A | B)*", "(A B)*", "A* B*", "A B?"])
@pytest.mark.parametrize("contextual", [True, False])
def test_terminals_that_overlap_are_told_apart_as_by_lark(
    terminals: str, rule: str, contextual: bool
) -> None:
    if "%ignore B" in terminals:
        rule = rule.replace("B", "C")
        terminals += '\nC: "A"' if 'C: "A"' not in terminals else ""
    texts = random.Random(rule).sample(TEXTS, 100)
    agree(f"start: {rule}\n{terminals}", contextual=contextual, texts=texts)


PATTERNS = re.findall(
    r"""\S+""",
    """
    /a+/ /ab?/ /a*b/ /a|ab/ /(ab|a)b?/ /a+?b/ /[ab]+/ /[aA]+/i /a[ab]*?b/ /A|a/ /b+/
    /[^a]b?/ /a(?=b)b/ /a+b|a/ /ab/i /b(?<=b)a/ "a" "ab" "aba"i "A"i "b" "ab"i "bb"
    """,
)


@pytest.mark.parametrize("seed", range(30))
def test_random_terminals_are_told_apart_as_by_lark(seed: int) -> None:
    source = random.Random(seed)
    names = [f"T{number}" for number in range(source.randint(2, 5))]
    definitions = [
        f"{name}{source.choice(['', '', '.2', '.-1'])}: {pattern}"
        for name, pattern in zip(names, source.sample(PATTERNS, len(names)), strict=True)
    ]
    pairs = " | ".join(f"{a} {b}" for a, b in zip(names, reversed(names), strict=True))
    rule = source.choice([f"({' | '.join(names)})*", f"({pairs})*"])
    ignored = source.choice(["", '%ignore " "', "%ignore /[ a]+/"])
    grammar = "\n".join([f"start: {rule}", *definitions, ignored])
    agree(grammar, contextual=source.random() < 0.7, texts=source.sample(TEXTS, 100))


def test_a_look_ahead_beyond_the_end_makes_for_fewer_texts_never_for_more() -> None:
    grammar = "start: A+ B?\nA: /a+(?!b)/\nB: /b/"
    peer, simulation = Peer(grammar), Simulation(grammar)
    taken = [text for text in TEXTS if simulation.accepts(text)]
    assert "aa" in taken
    assert all(peer.accepts(text) for text in taken)


def test_a_terminal_that_looks_at_what_is_before_it_is_refused() -> None:
    with pytest.raises(UnsupportedError) as caught:
        Simulation('start: "b" A\nA: /(?<=b)a/')
    assert str(caught.value) == (
        'terminal "A" looks at what is before it (scope: docs/grammars.md)\n'
        "  line 2, column 4\n"
        "    2 | A: /(?<=b)a/\n"
        "      |    ^^^^^^^^^\n"
        "  mend: leave out the ^, \\b or look-behind it begins with, and say by rules what is"
        " before"
    )
