"""Grammar files: the suffix tells the language, a bare name is a shipped grammar."""

from __future__ import annotations

from pathlib import Path

import pytest

from guided import Grammar, GrammarError
from guided.grammar.files import shipped_grammars
from tests.text.gbnf.matching import Texts


def test_the_suffix_tells_the_language(tmp_path: Path) -> None:
    (tmp_path / "a.gbnf").write_text('root ::= "a"')
    (tmp_path / "b.json").write_text('{"const": 1}')
    assert Texts(Grammar.from_file(tmp_path / "a.gbnf")).has("a")
    assert Texts(Grammar.from_file(str(tmp_path / "b.json"))).has("1")


def test_the_start_rule_may_be_given(tmp_path: Path) -> None:
    (tmp_path / "a.gbnf").write_text('root ::= "a"\nother ::= "b"')
    assert Texts(Grammar.from_file(tmp_path / "a.gbnf", start="other")).has("b")


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_bytes(b'\xef\xbb\xbf{"const": 1}')
    assert Texts(Grammar.from_file(tmp_path / "b.json")).has("1")


def test_a_bare_name_is_a_shipped_grammar() -> None:
    assert "json" in shipped_grammars()
    assert Texts(Grammar.from_file("json")).has('{"a": [1, null]}')


def test_a_file_that_is_not_there_is_told_as_usual(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Grammar.from_file(tmp_path / "nothing.gbnf")


def test_an_unknown_name_says_what_was_meant() -> None:
    with pytest.raises(GrammarError) as raised:
        Grammar.from_file("jsn")
    assert str(raised.value) == (
        'there is no shipped grammar "jsn", nor a file of that name\n  mend: did you mean "json"?'
    )
    with pytest.raises(GrammarError, match="mend: those shipped are arithmetic, c-expression, "):
        Grammar.from_file("xylophone")


def test_a_suffix_that_says_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text('root ::= "a"')
    with pytest.raises(GrammarError) as raised:
        Grammar.from_file(tmp_path / "a.txt")
    assert str(raised.value) == (
        f"the name of {tmp_path}/a.txt does not say what language it is in\n"
        "  mend: name it .gbnf, .lark or, for a JSON Schema, .json;"
        " or read it and use Grammar.from_gbnf, from_lark or from_regex"
    )


def test_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.gbnf").write_bytes(b'root ::= "a"\n# \xe9\n')
    with pytest.raises(GrammarError) as raised:
        Grammar.from_file(tmp_path / "a.gbnf")
    assert str(raised.value) == (
        f"{tmp_path}/a.gbnf is not UTF-8: line 2 holds the byte 0xe9\n  mend: save it as UTF-8"
    )
