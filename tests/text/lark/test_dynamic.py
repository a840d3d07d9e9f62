"""lexer="dynamic" and "dynamic_complete": what lark's Earley parser takes."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from guided import Grammar
from guided.errors import UnsupportedError
from tests.text.lark.matching import Peer, accepts, every_text

TEXTS = every_text("ab ", 5)
PATTERNS = re.findall(
    r"""\S+""",
    """
    /a+/ /ab?/ /a*b/ /a|ab/ /a+?b/ /[ab]+/ /a[ab]*?b/
    /b+/ /b(?!a)/ "a" "ab" "aba"i "b" "bb"
    """,
)


def expression(source: random.Random, names: list[str], depth: int = 3) -> str:
    """Return a random right side of a rule."""
    choice = source.random()
    if depth == 0 or choice < 0.4:
        return source.choice(names)
    one = expression(source, names, depth - 1)
    if choice < 0.8:
        other = expression(source, names, depth - 1)
        return f"({one} | {other})" if choice < 0.6 else f"{one} {other}"
    return f"({one}){source.choice('?*+')}"


@pytest.mark.parametrize("lexer", ["dynamic", "dynamic_complete"])
@pytest.mark.parametrize("seed", range(40))
def test_random_grammars_take_the_texts_that_lark_takes(seed: int, lexer: Any) -> None:
    source = random.Random(seed)
    terminals = [f"T{number}" for number in range(source.randint(1, 3))]
    names = [*terminals, "x"]
    grammar = "\n".join(
        [
            f"start: {expression(source, names)}",
            f"x: {expression(source, names)} | {terminals[0]}",
            *(
                f"{name}: {pattern}"
                for name, pattern in zip(
                    terminals, source.sample(PATTERNS, len(terminals)), strict=True
                )
            ),
            source.choice(["", '%ignore " "', "%ignore / +/", "%ignore /[ a]+/"]),
        ]
    )
    try:
        peer = Peer(grammar, lexer=lexer)
    except Exception:  # lark finds the same alternative twice, or a rule that is unused
        return
    ours = Grammar.from_lark(grammar, lexer=lexer)
    for text in source.sample(TEXTS, 60):
        try:
            wanted = peer.accepts(text)
        except RuntimeError:  # an error of lark's own, on ignored text at the end
            continue
        assert accepts(ours, text) is wanted, (grammar, text)


def test_a_terminal_ends_where_it_is_longest_unless_the_lexer_is_complete() -> None:
    grammar = "start: A B\nA: /a+/\nB: /ab/"
    assert not accepts(Grammar.from_lark(grammar, lexer="dynamic"), "aaab")
    assert accepts(Grammar.from_lark(grammar, lexer="dynamic_complete"), "aaab")


def test_ambiguous_rules_are_no_error() -> None:
    grammar = Grammar.from_lark('start: start start | "a"', lexer="dynamic")
    assert accepts(grammar, "aaa")
    assert not accepts(grammar, "")


def test_declared_terminals_need_a_table() -> None:
    with pytest.raises(UnsupportedError) as caught:
        Grammar.from_lark("start: X\n%declare X", lexer="dynamic")
    assert str(caught.value) == (
        'terminal "X" is declared and not defined: what it matches, a post-lexer knows'
        " (scope: docs/grammars.md)\n"
        "  line 1, column 8\n"
        "    1 | start: X\n"
        "      |        ^\n"
        '  mend: such terminals need lexer="contextual" or lexer="basic"'
    )
