"""`guided convert`: the same texts in another notation, or a refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Write
from tests.cli.running import run

LIST = 'root ::= item ("," item)*\nitem ::= [a-z]+ | "<" root ">"\n'


def test_what_is_converted_takes_the_same_texts(write: Write, folder: Path) -> None:
    ran = run("convert", write("list.gbnf", LIST), "--to", "lark", "-o", "list.lark")
    assert (ran.out, ran.status) == ("", 0), ran.err
    texts = ["--accept", "a,<b,c>", "--reject", "a,", "--reject", "<a"]
    assert run("check", "list.gbnf", *texts).status == 0
    ran = run("check", "list.lark", "--lexer", "dynamic_complete", *texts)
    assert ran.status == 0, ran.out


def test_there_and_back_takes_the_same_texts(write: Write) -> None:
    write("list.gbnf", LIST)
    run("convert", "list.gbnf", "--to", "lark", "-o", "list.lark")
    ran = run("convert", "list.lark", "--to", "gbnf", "-o", "again.gbnf")
    assert ran.status == 0, ran.err
    ran = run("check", "again.gbnf", "--accept", "a,<b,c>", "--reject", "a,")
    assert ran.status == 0, ran.out


def test_standard_input_is_converted_to_standard_output() -> None:
    ran = run("convert", "-", "--kind", "gbnf", "--to", "lark", stdin=LIST)
    assert ran.status == 0
    assert "start:" in ran.out


@pytest.mark.parametrize(
    ("name", "to"), [("s.json", "gbnf"), ("g.gbnf", "gbnf"), ("p.regex", "lark")]
)
def test_what_cannot_be_converted_is_a_wrong_call(name: str, to: str, write: Write) -> None:
    write(name, "{}")
    assert run("convert", name, "--to", to).status == 2


def test_a_grammar_at_fault_is_told(write: Write) -> None:
    ran = run("convert", write("g.gbnf", "root ::= b"), "--to", "lark")
    assert (ran.out, ran.status) == ("", 1)
    assert ran.err.startswith('error: rule "b" is not defined')
