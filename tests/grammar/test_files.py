"""Grammar files: the suffix tells the language, a bare name is a shipped grammar."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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


def test_a_lark_file_is_read_by_the_lexer_that_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.lark"
    path.write_text("start: A A\nA: /a+/")
    assert not Texts(Grammar.from_file(path)).has("aa")
    assert not Texts(Grammar.from_file(path, lexer="dynamic")).has("aa")
    assert Texts(Grammar.from_file(path, lexer="dynamic_complete")).has("aa")


def test_a_lark_file_may_quote_texts_and_import_from_folders(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "inner.lark").write_text('WORD: "says"')
    path = tmp_path / "a.lark"
    path.write_text("start: WORD %verbatim note words\n%import inner.WORD\n%ignore /[ ]/")
    grammar = Grammar.from_file(
        path, lexer="dynamic", texts={"note": "all is well"}, import_paths=[tmp_path / "parts"]
    )
    assert Texts(grammar).has("says is well")
    assert not Texts(grammar).has("says all well")


@pytest.mark.parametrize(
    ("name", "option", "message"),
    [
        ("a.gbnf", {"lexer": "dynamic"}, "lexer says nothing about {}, which is GBNF"),
        ("a.gbnf", {"texts": {}}, "texts says nothing about {}, which is GBNF"),
        ("b.json", {"import_paths": ["x"]}, "import_paths says nothing about {}, which is a JSON"),
        ("b.json", {"start": "root"}, "start says nothing about {}, which is a JSON Schema"),
    ],
)
def test_an_option_that_a_file_has_no_use_for_is_refused(
    name: str, option: dict[str, Any], message: str, tmp_path: Path
) -> None:
    (tmp_path / "a.gbnf").write_text('root ::= "a"')
    (tmp_path / "b.json").write_text("{}")
    with pytest.raises(TypeError) as raised:
        Grammar.from_file(tmp_path / name, **option)
    assert str(raised.value).startswith(message.format(tmp_path / name))


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
