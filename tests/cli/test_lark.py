"""Lark grammars on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Write
from tests.cli.running import run

SETTING = """start: NAME "=" (NUMBER | STRING)
NAME: /[a-z]+/
NUMBER: /[0-9]+/
STRING: /"[^"]*"/
%ignore " "
"""


def read_samples(corpora: Path) -> list[dict[str, Any]]:
    text = (corpora / "grammars" / "samples.jsonl").read_text(encoding="utf-8")
    samples = map(json.loads, text.strip().split("\n"))
    return [sample for sample in samples if sample["dialect"] == "lark"]


@pytest.mark.parametrize("parser", ["earley", "lalr"])
def test_samples_of_the_corpora_are_right(parser: str, corpora: Path, write: Write) -> None:
    lexer = "contextual" if parser == "lalr" else "dynamic"
    samples = [sample for sample in read_samples(corpora) if sample["parser"] == parser]
    assert samples
    for sample in samples:
        write("s.jsonl", json.dumps(sample))
        file = corpora / "grammars" / "lark" / Path(sample["grammar"]).name
        options = ["--start", sample["start"], "--lexer", lexer, "--samples", "s.jsonl"]
        ran = run("check", str(file), *options)
        assert ran.status == 0, ran.out


def test_all_undefined_names_are_told(write: Write) -> None:
    ran = run("check", write("g.lark", 'start: one "," two\none: NUMBR\nNUMBER: /[0-9]+/'))
    assert ran.status == 1
    assert [line for line in ran.out.splitlines() if "error:" in line] == [
        'g.lark:1:16: error: rule "two" is not defined',
        'g.lark:2:6: error: terminal "NUMBR" is not defined',
    ]


def test_an_error_of_syntax_has_its_place(write: Write) -> None:
    ran = run("check", write("g.lark", 'start: "a" (\n'))
    assert ran.status == 1
    assert ran.out.startswith("g.lark:1:")
    assert ran.out.endswith("g.lark: not fine (lark): 1 error\n")


def test_explain_names_the_terminals_that_may_come(write: Write) -> None:
    ran = run("explain", write("g.lark", SETTING), "a =")
    assert "  terminals NUMBER, STRING\n" in ran.out


def test_grammars_beside_the_file_can_be_imported(write: Write, folder: Path) -> None:
    (folder / "parts").mkdir()
    write("parts/words.lark", "WORD: /[a-z]+/")
    write("parts/main.lark", "start: WORD\n%import .words.WORD")
    ran = run("check", "parts/main.lark", "--lexer", "dynamic", "--accept", "ab", "--reject", "1")
    assert ran.status == 0, ran.out


def test_left_recursion_is_noted_where_it_is_rewritten(write: Write) -> None:
    write("g.lark", 'start: start "+" A | A\nA: "a"')
    assert "begins with itself" not in run("check", "g.lark").out
    assert "begins with itself" in run("check", "g.lark", "--lexer", "dynamic").out


def test_grammars_in_other_folders_can_be_imported(write: Write, folder: Path) -> None:
    (folder / "parts").mkdir()
    write("parts/words.lark", "WORD: /[a-z]+/\nNAME: /[a-z]/")
    write("main.lark", "start: WORD | NAME\n%import words.WORD\n%import words.NAME")
    ran = run("check", "main.lark")
    assert "mend: give the folder of it by --import-path" in ran.out
    ran = run("check", "main.lark", "--import-path", "parts", "--accept", "ab", "--reject", "1")
    assert ran.status == 0, ran.out
    assert 'the terminals "NAME" and "WORD" collide' in ran.out
    assert "terminals NAME, WORD" in run("explain", "main.lark", "--import-path", "parts").out


def test_a_text_to_quote_is_given_by_name(write: Write) -> None:
    write("g.lark", 'start: "says" %verbatim note words\n%ignore " "')
    write("note.txt", "all is well")
    options = ["--lexer", "dynamic", "--text", "note=note.txt"]
    ran = run("check", "g.lark", *options, "--accept", "says is well", "--reject", "says all well")
    assert ran.status == 0, ran.out
    assert run("explain", "g.lark", "says is", *options).status == 0
    ran = run("check", "g.lark", "--lexer", "dynamic")
    assert (ran.status, 'no text "note" is given' in ran.out) == (1, True)
    assert "--text note=FILE" in ran.out


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["note"], "--text note is not written as NAME=FILE"),
        (["a=note.txt", "a=note.txt"], "--text a=note.txt is given twice"),
        (["a=no.txt"], "no.txt cannot be read"),
    ],
)
def test_a_text_that_is_not_given_well_is_told(given: list[str], told: str, write: Write) -> None:
    write("note.txt", "all is well")
    options = [word for each in given for word in ("--text", each)]
    ran = run("check", write("g.lark", 'start: "a"'), *options)
    assert ran.status == 2
    assert told in " ".join(ran.err.replace("│", "").split())


def test_an_error_in_an_imported_file_is_told_there(write: Write) -> None:
    write("words.lark", "word: (\n")
    ran = run("check", write("g.lark", "start: word\n%import .words.word"))
    assert ran.status == 1
    assert ran.out.startswith("words.lark:1:"), ran.out
