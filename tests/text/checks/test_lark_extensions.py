"""What guided adds to Lark is known to the checks: no findings where nothing is to be found."""

from __future__ import annotations

import pytest

from guided.text.checks.collisions import check_collisions
from guided.text.checks.finding import Finding
from guided.text.checks.lark_outline import outline_lark
from guided.text.checks.lark_terminals import next_terminals
from guided.text.checks.outline import Opaque, Text, Unordered, walk
from guided.text.checks.rules import check_rules

EVERYTHING = """start: unordered{quote, version, THOUGHT, done} <think> !<[12]> data "end"
quote: "He said <" %verbatim note words ">."
version: "Version" %grammar "semver" "."
  THOUGHT[stop="\\n", lazy]: /(.|\\n)*/
done[capture="d"]: "done" | WORD
?data: %json {
  "type": "object", "properties": {"a": {"enum": ["<x>"]}}
}
  | %verbatim "a text" characters   // <no token>
%extend WORD[lazy, capture].2: /[a-z]+;/
WORD: /x/
%ignore ","
"""


def rules(text: str) -> list[Finding]:
    return check_rules(outline_lark(text))


def collisions(text: str, lexer: str = "contextual") -> list[Finding]:
    return check_collisions(outline_lark(text), lexer=lexer)


def told(findings: list[Finding]) -> list[tuple[str, int | None, int | None]]:
    return [(each.code, each.line, each.column) for each in findings]


def test_all_of_it_at_once_is_fine() -> None:
    assert rules(EVERYTHING) == []


def test_each_part_stands_where_it_is_written() -> None:
    outline = outline_lark(EVERYTHING)
    names = ["start", "quote", "version", "THOUGHT", "done", "data", "WORD"]
    assert list(outline.rules) == names
    assert outline.external == frozenset()
    opaque: list[Opaque] = []
    texts: list[Text] = []
    for name, rule in outline.rules.items():
        assert outline.text[rule.index :].startswith(name)
        parts = list(walk(rule.body))
        opaque += [each for each in parts if isinstance(each, Opaque)]
        texts += [each for each in parts if isinstance(each, Text) and each.length]
    placed = [(each.index, each.length, each.written) for each in opaque]
    placed += [(each.index, each.length, each.written) for each in texts]
    for index, length, written in placed:
        assert outline.text[index : index + length] == written
    assert [each.written for each in opaque] == [
        "<think>",
        "!<[12]>",
        "%verbatim note words",
        '%grammar "semver"',
        '%json {\n  "type": "object", "properties": {"a": {"enum": ["<x>"]}}\n}',
        '%verbatim "a text" characters',
    ]
    start = walk(outline.rules["start"].body)
    (unordered,) = (each for each in start if isinstance(each, Unordered))
    assert outline.text[unordered.index :].startswith("unordered{quote")


UNPRODUCTIVE = [("unproductive-rule", 1, 1), ("unproductive-rule", 2, 1)]
EMPTY = [("empty-rule", 1, 1), ("empty-rule", 2, 1), ("empty-rule", 3, 1)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('start: unordered{a, "x"}\na: "y"\nb: "z"', [("unused-rule", 3, 1)]),
        ('start: <t> a b\na[capture]: "y"', [("undefined-rule", 1, 14)]),
        ('start: unordered{a, "x"}\na: "y" a', UNPRODUCTIVE),
        ("start: unordered{a, b}\na: A?\nb: a\nA: /a/", EMPTY),
        ('start: %json {} A\nA[lazy].2: / /\nB[stop="x"]: /b/', [("unused-rule", 3, 1)]),
        ("start: %json {} A+\nA[lazy].2: / /", [("white-space", 1, 17)]),
        ("start: unordered{start, A} | A\nA: /a/", [("left-recursion", 1, 1)]),
        ("start: unordered{A, start} | A\nA: /a/", [("left-recursion", 1, 1)]),
    ],
)
def test_what_is_to_be_found_beside_it_is_found_in_its_place(
    text: str, found: list[tuple[str, int, int]]
) -> None:
    assert told(rules(text)) == found


def test_a_terminal_that_is_lazy_or_has_a_stop_is_never_empty() -> None:
    assert rules('start: A B\nA[stop="."]: /.*/\nB[lazy]: /b*/') == []
    plain = rules("start: A B\nA: /.*/\nB: /b*/")
    assert [each.code for each in plain] == ["empty-rule"] * 3


def test_a_lazy_terminal_has_no_white_space_without_end() -> None:
    assert rules('start: "a" A "b"\nA[lazy]: /[ ]+/') == []
    assert told(rules('start: "a" A "b"\nA: /[ ]+/')) == [("white-space", 2, 4)]
    # One with a stop of its own may go on until that comes, and is not white space as a whole.
    assert told(rules('start: "a" A "b"\nA[stop="x"]: /[ ]+/')) == [("white-space", 2, 14)]
    assert rules('start: "a" A+ "b"\nA[stop="x"]: " "') == []


def test_terminals_collide_by_what_they_match_with_their_attributes() -> None:
    plain = "start: A | B\nA: /[ab]+c?/\nB: /a+b/"
    assert told(collisions(plain)) == [("collision", 3, 1)]
    assert collisions(plain.replace("A:", 'A[stop="."]:')) == []
    assert collisions(plain.replace("A:", "A[lazy]:")) == []
    (finding,) = collisions(plain.replace("A:", 'A[stop="b"]:'))
    assert finding.fact == 'the terminals "A" and "B" collide: both match "ab"'
    captured = plain.replace("A:", "A[capture]:").replace("start:", "start[capture]:")
    assert told(collisions(captured)) == [("collision", 3, 1)]


def test_terminals_in_any_order_are_compared() -> None:
    found = collisions("start: unordered{A, B, C}\nA: /a|b/\nB: /b|c/\nC: /d/")
    assert told(found) == [("collision", 3, 1)]


def test_the_next_terminals_are_told_where_lark_knows_them() -> None:
    assert next_terminals('start[capture]: A B\nA: "a"\nB: "b"', "a") == ["B"]
    assert next_terminals('start: A B\nA: "a"\nB[lazy]: /b+c/', "a") == []
