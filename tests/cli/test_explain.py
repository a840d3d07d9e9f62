"""`guided explain`: where a text stands, and what may come next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Write
from tests.cli.running import run
from tests.decoding.tiny_model import tiny_tokenizer

NUMBERS = 'root ::= "a" [0-9]+ "."'
SCHEMA = '{"type": "object", "properties": {"a": {"enum": ["x", "yy"]}}, "required": ["a"]}'


def test_an_unfinished_text_is_told_what_may_come(write: Write) -> None:
    ran = run("explain", write("g.gbnf", NUMBERS), "a12")
    assert ran.status == 0
    assert ran.out == (
        "g.gbnf: the text stands at line 1, column 4: not complete\n"
        "  within    root\n"
        "  next      [.0-9]\n"
        "  bytes     2E 30-39\n"
    )


def test_a_text_that_fails_is_told_where_and_why(write: Write) -> None:
    ran = run("explain", write("g.gbnf", NUMBERS), "a12x.")
    assert ran.status == 1
    assert ran.out == (
        "g.gbnf: the text fails at line 1, column 4\n"
        "    1 | a12x.\n"
        "      |    ^\n"
        '  found     "x"\n'
        "  within    root\n"
        "  expected  [.0-9]\n"
        "  bytes     2E 30-39\n"
    )


def test_a_text_that_is_complete_may_end(write: Write) -> None:
    ran = run("explain", write("g.gbnf", NUMBERS), "a12.")
    assert ran.out == (
        "g.gbnf: the text stands at line 1, column 5: complete, and may end here\n"
        "  next      the end of the text\n"
        "  bytes     none\n"
    )


def test_without_a_prefix_it_is_the_beginning(write: Write) -> None:
    assert '  forced    "a"\n' in run("explain", write("g.gbnf", NUMBERS)).out


def test_under_a_schema_the_value_has_a_pointer(write: Write) -> None:
    ran = run("explain", write("s.json", SCHEMA), '{"a": ')
    assert ran.status == 0
    assert ran.out == (
        "s.json: the text stands at line 1, column 7: not complete\n"
        "  value     /a\n"
        '  next      [\\t\\n\\r "]\n'
        "  bytes     09 0A 0D 20 22\n"
    )


def test_with_a_tokenizer_the_tokens_are_told(write: Write, folder: Path) -> None:
    tiny_tokenizer().save_pretrained(folder / "tiny")
    write("p.regex", "(true|tree|é)!")
    ran = run("explain", "p.regex", "", "--tokenizer", "tiny")
    assert ran.out.splitlines()[-1] == (
        '  tokens    5: 86 "t", 130 bytes C3, 259 "tr", 260 "tru", 261 "true"'
    )


def test_json_is_for_tools(write: Write) -> None:
    told = json.loads(run("explain", write("g.gbnf", NUMBERS), "a1x", "--json").out)
    assert told["heads"]
    del told["heads"]
    assert told == {
        "verdict": "rejected",
        "line": 1,
        "column": 3,
        "taken_bytes": 2,
        "found": "x",
        "pointer": None,
        "is_complete": False,
        "expected": ["[.0-9]"],
        "within": [["root"]],
        "terminals": [],
        "forced": "",
        "bytes": [46, *range(48, 58)],
        "tokens": None,
    }


@pytest.mark.parametrize(("prefix", "status"), [("a1", 0), ("ax", 1)])
def test_the_prefix_may_come_from_standard_input(prefix: str, status: int, write: Write) -> None:
    assert run("explain", write("g.gbnf", NUMBERS), "-", stdin=prefix).status == status


def test_not_both_come_from_standard_input() -> None:
    assert run("explain", "-", "-", "--kind", "gbnf", stdin="").status == 2


def test_a_grammar_at_fault_is_told_on_standard_error(write: Write) -> None:
    ran = run("explain", write("g.gbnf", "root ::= b"), "x")
    assert (ran.out, ran.status) == ("", 1)
    assert ran.err.startswith('error: rule "b" is not defined\n')
