"""unordered{a, b, c}: each of these once, in any order."""

from __future__ import annotations

import time
from itertools import permutations

import pytest

from guided import Grammar
from guided.errors import GrammarError, LimitError
from guided.text.lark import compile_lark
from tests.text.lark.matching import accepts, every_text

LEXERS = ["contextual", "basic", "dynamic", "dynamic_complete"]


@pytest.mark.parametrize("lexer", LEXERS)
@pytest.mark.parametrize("parts", ["a", "ab", "abc", "aab", "aabb"])
def test_each_part_comes_once_in_any_order(parts: str, lexer: str) -> None:
    listed = ", ".join(f'"{part}"' for part in parts)
    grammar = Grammar.from_lark(f"start: unordered{{{listed}}}", lexer=lexer)  # type: ignore[arg-type]
    wanted = {"".join(order) for order in permutations(parts)}
    for text in every_text("abc", 5):
        assert accepts(grammar, text) is (text in wanted), text


@pytest.mark.parametrize("lexer", LEXERS)
def test_parts_are_rules_and_terminals_of_any_kind(lexer: str) -> None:
    grammar = Grammar.from_lark(
        """
        start: "{" unordered{ name , list{"x"}, /[0-9]+/ } "}" unordered{name, unordered{"u", "v"}}
        name: "n" "=" WORD
        list{item}: "(" item ("," item)* ")"   // unordered{a, b} in a comment
        WORD: /[a-m]+/
        %ignore " "
        """,
        lexer=lexer,  # type: ignore[arg-type]
    )
    for parts in permutations(["n = abc", "(x, x)", "42 "]):
        assert accepts(grammar, f"{{{''.join(parts)}}} u v n=a")
        assert accepts(grammar, f"{{{''.join(parts)}}} n=a v u")
        assert not accepts(grammar, f"{{{''.join(parts[:2])}}} u v n=a")
        assert not accepts(grammar, f"{{{''.join(parts)}}} u n=a v")


def test_parts_may_match_nothing() -> None:
    grammar = Grammar.from_lark(
        'start: unordered{a, b, c} "."\na: "a"?\nb: "b"\nc: "c"*', lexer="dynamic"
    )
    wanted = {
        "".join(order) + "."
        for a in ("", "a")
        for c in ("", "c", "cc", "ccc", "cccc")
        for order in permutations([a, "b", c])
    }
    for text in every_text("abc", 4):
        assert accepts(grammar, f"{text}.") is (f"{text}." in wanted), text


def test_parts_may_be_values() -> None:
    grammar = Grammar.from_lark(
        'start: unordered{%json {"enum": ["a,b", [1, 2]]}, ",", %verbatim "x, y" words}',
        lexer="dynamic",
    )
    assert accepts(grammar, '"a,b",x')
    assert accepts(grammar, "y[1, 2],")
    assert accepts(grammar, ',x, y"a,b"')
    assert not accepts(grammar, ",x")


def test_a_template_of_that_name_is_left_alone() -> None:
    grammar = Grammar.from_lark('start: unordered{"a", "b"}\nunordered{x, y}: x "," y')
    assert accepts(grammar, "a,b")
    assert not accepts(grammar, "ab")
    Grammar.from_lark('start: unordered{"a", "b"}\nunordered{x, y}: x "," y', dialect="lark")


@pytest.mark.parametrize("lexer", LEXERS)
def test_twelve_parts_are_taken_and_no_more(lexer: str) -> None:
    letters = "abcdefghijklm"
    grammar = Grammar.from_lark(
        "start: unordered{" + ",".join(f'"{each}"' for each in letters[:12]) + "}",
        lexer=lexer,  # type: ignore[arg-type]
    )
    start = time.process_time()
    assert accepts(grammar, "lkjihgfedcba")
    assert accepts(grammar, "badcfehgjilk")
    assert not accepts(grammar, "badcfehgjilb")
    assert not accepts(grammar, "badcfehgjil")
    assert time.process_time() - start < 5
    with pytest.raises(LimitError) as caught:
        compile_lark("start: unordered{" + ",".join(letters) + "}", lexer=lexer)  # type: ignore[arg-type]
    assert str(caught.value) == (
        "unordered{...} has 13 parts: over the limit of 12 parts in any order\n"
        "  mend: make the input smaller"
    )


def test_many_lists_of_many_parts_are_bounded() -> None:
    lists = (", ".join(f'"{word}{each}"' for each in "abcdefghijkl") for word in range(10))
    with pytest.raises(LimitError, match="too many parts that differ: over the limit of 20000"):
        compile_lark("start: " + " | ".join(f"unordered{{{each}}}" for each in lists))


@pytest.mark.parametrize(
    ("grammar", "fact", "place"),
    [
        ("start: unordered{a, vaule}\na: A\nA: /a/", 'rule "vaule" is not defined', (1, 21)),
        ('start: unordered{"a" "b", "c"}', "is not expected here", (1, 22)),
        ('start: unordered{"a", "b"', "a bracket is not closed", None),
        ("start: unordered{}", "is not expected here", (1, 18)),
    ],
)
def test_errors_have_their_place(grammar: str, fact: str, place: tuple[int, int] | None) -> None:
    with pytest.raises(GrammarError, match=fact) as caught:
        Grammar.from_lark(grammar)
    assert "guided_" not in str(caught.value)
    if place is not None:
        assert (caught.value.line, caught.value.column) == place


def test_a_conflict_shows_what_was_written() -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_lark('start: unordered{a, b}\na: "x"\nb: "x"')
    assert str(caught.value) == (
        'two rules can end before "x": `a: "x"` and `b: "x"`\n'
        "  line 2, column 1\n"
        '    2 | a: "x"\n'
        "      | ^\n"
        '  mend: give lexer="dynamic", which follows both; or rewrite one, or give it a priority'
    )
