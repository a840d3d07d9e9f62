"""Terminals that match the same text: found just where interegular finds them, with an example."""

from __future__ import annotations

import random
import re

import pytest
from interegular.comparator import Comparator

from guided.text.checks.collisions import check_collisions
from guided.text.checks.finding import Finding
from guided.text.checks.lark_outline import outline_lark
from guided.text.checks.lark_terminals import next_terminals


def collisions(text: str, lexer: str = "contextual") -> list[Finding]:
    return check_collisions(outline_lark(text), lexer=lexer)


def test_a_collision_is_told_with_an_example() -> None:
    text = "start: A | B\nA: /[a-z]+/\nB: /[0-9a]+/\n"
    assert collisions(text) == [
        Finding(
            "warning",
            "collision",
            'the terminals "A" and "B" collide: both match "a"',
            line=3,
            column=1,
            length=1,
            excerpt="    3 | B: /[0-9a]+/\n      | ^",
            mend="give one a priority, as in B.2, or let their texts differ",
        )
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("start: A | B\nA: /[a-z]+/\nB: /[0-9]+/", id="no common text"),
        pytest.param("start: A | B\nA: /[a-z]+/\nB.2: /[a-f]+/", id="another priority"),
        pytest.param('start: A | "if"\nA: /[a-z]+/', id="a keyword"),
        pytest.param('start: "x" A | "y" B\nA: /[a-z]+/\nB: /[a-f]+/', id="not at one place"),
    ],
)
def test_what_lark_tells_apart_is_no_collision(text: str) -> None:
    assert collisions(text) == []


def test_with_the_basic_lexer_all_terminals_meet() -> None:
    text = 'start: "!" A | "?" B\nA: /[a-z]+/\nB: /[a-f]+/'
    assert len(collisions(text, lexer="basic")) == 1


def test_with_a_dynamic_lexer_nothing_collides() -> None:
    assert collisions("start: A | B\nA: /a/\nB: /a|b/", lexer="dynamic") == []


def test_a_terminal_that_is_imported_has_no_place() -> None:
    (finding,) = collisions("start: INT | NUMBER\n%import common (INT, NUMBER)")
    assert finding.line is None
    assert finding.fact == 'the terminals "INT" and "NUMBER" collide: both match "0"'


def test_a_grammar_that_lark_refuses_is_left_to_others() -> None:
    assert collisions("start: a | b\na: A\nb: A\nA: /a/") == []


@pytest.mark.parametrize("seed", range(30))
def test_interegular_agrees(seed: int) -> None:
    draw = random.Random(seed)
    atoms = ["a", "b", "[ab]", "[^a]", "é", "(?:ab|c)", "a?", "b+", "c{1,2}", r"\w"]
    first, second = ("".join(draw.choices(atoms, k=draw.randint(1, 4))) + "x" for _ in range(2))
    found = collisions(f"start: A | B\nA: /{first}/\nB: /{second}/\n")
    comparator = Comparator.from_regexes({"A": first, "B": second})
    assert bool(found) is not comparator.isdisjoint("A", "B")
    if found:
        example = found[0].fact.rpartition("both match ")[2][1:-1]
        assert re.fullmatch(first, example)
        assert re.fullmatch(second, example)


ASSIGNMENT = (
    'start: NAME "=" (NUMBER | STRING)\nNAME: /[a-z]+/\nNUMBER: /[0-9]+/\nSTRING: /".*?"/\n'
)


@pytest.mark.parametrize(
    ("text", "terminals"),
    [
        ("", ["NAME"]),
        ("ab", ["EQUAL"]),
        ("ab=", ["NUMBER", "STRING"]),
        ("ab=1", []),
        ('ab="x', []),
    ],
)
def test_the_next_terminals_are_those_of_larks_parser(text: str, terminals: list[str]) -> None:
    assert next_terminals(ASSIGNMENT, text) == terminals
    assert next_terminals(ASSIGNMENT, text, lexer="dynamic") == []
