"""The language of Lark grammars: each part of it means what it means to lark."""

from __future__ import annotations

from pathlib import Path

import pytest

from guided import Grammar
from guided.errors import GrammarError
from tests.text.lark.matching import Peer, accepts, every_text


@pytest.mark.parametrize(
    ("grammar", "alphabet"),
    [
        pytest.param('start: "a" b? c*\n?b: "b"\n!c: "c" -> named', "abc", id="rules"),
        pytest.param('start: a~2 b~1..2\n_a: "a"\na: _a\nb: "b"', "ab", id="counts"),
        pytest.param('start: ["a"] ("b" | "c")+', "abc", id="optional parts"),
        pytest.param('start: "a".."c" D\nD: "x" | "y".."z"', "abxy", id="ranges"),
        pytest.param('start: "ab"i', "aAbB", id="strings of any case"),
        pytest.param("start: /a.b/s | /[a]/i", "aAb\n", id="flags"),
        pytest.param("start: A\nA: /a  # letter\n  b/x", "ab ", id="verbose patterns"),
        pytest.param('start: _list{x}\n_list{i}: i ("," i)*\nx: "a"', "a,", id="templates"),
        pytest.param('start: A\nA: B ["c"] B~2\nB: "a" | "b"', "abc", id="terminals of terminals"),
        pytest.param('start: "a" "b"\n%ignore " " | "c"', "ab c", id="what is ignored"),
        pytest.param('start: a | b\na.2: X\nb: X\nX: "a"', "ab", id="priorities of rules"),
        pytest.param('start: "a" // "b"\n     | "c" # d', "abcd", id="comments"),
        pytest.param('start: "\\\\" | "\\"" | "\\n" | "\\x61"', '\\"\na', id="escapes"),
        pytest.param("start: /\\// | /[\\/]b/", "/ab", id="slashes"),
        pytest.param('start: a\na:\n | b\nb: "b"', "ab", id="an empty alternative"),
        pytest.param("start: a+\n%import common.DIGIT -> A\na: A", "01a", id="imports"),
        pytest.param(
            '%import common.LETTER\n%extend LETTER: "1"\nstart: LETTER', "a1-", id="%extend"
        ),
        pytest.param(
            '%import common.SIGN\n%override LETTER: "1"\nstart: LETTER'.replace("SIGN", "LETTER"),
            "a1-",
            id="%override",
        ),
        pytest.param("start: /\\d/ | /\\w/", "a١é-", id="sets are those of Unicode"),
    ],
)
@pytest.mark.parametrize("lexer", ["contextual", "dynamic"])
def test_a_grammar_takes_the_texts_that_lark_takes(grammar: str, alphabet: str, lexer: str) -> None:
    peer = Peer(grammar, lexer=lexer)  # type: ignore[arg-type]
    ours = Grammar.from_lark(grammar, lexer=lexer)  # type: ignore[arg-type]
    texts = every_text(alphabet, 4)
    assert any(map(peer.accepts, texts))
    for text in texts:
        assert accepts(ours, text) is peer.accepts(text), text


def test_line_ends_of_windows_and_a_byte_order_mark_change_nothing() -> None:
    grammar = Grammar.from_lark('\ufeffstart: a\r\n  | "b" // c\r\na: "a"\r\n')
    assert accepts(grammar, "a")
    assert accepts(grammar, "b")


def test_relative_imports_are_found_beside_the_file_and_in_the_folders(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "letters.lark").write_text('a: "a"\n%import .more.b -> c\n')
    (inner / "more.lark").write_text('b: "b"\n')
    beside = "start: a c\n%import .letters (a, c)\n"
    assert accepts(Grammar.from_lark(beside, path=inner / "main.lark"), "ab")
    assert accepts(Grammar.from_lark(beside, import_paths=[inner]), "ab")
    dotted = "start: a\n%import .inner.letters.a\n"
    assert accepts(Grammar.from_lark(dotted, path=tmp_path / "main.lark"), "a")


def test_an_error_in_an_imported_file_points_into_it(tmp_path: Path) -> None:
    (tmp_path / "letters.lark").write_text("a: (\n")
    with pytest.raises(GrammarError) as caught:
        Grammar.from_lark("start: a\n%import .letters.a\n", import_paths=[tmp_path])
    assert str(caught.value) == (
        f"a bracket is not closed (in {tmp_path / 'letters.lark'})\n"
        "  line 1, column 4\n"
        "    1 | a: (\n"
        "      |    ^\n"
        '  mend: close it by ")"'
    )


def test_a_changed_import_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "letters.lark").write_text('a: "a"\n')
    text = "start: a\n%import .letters.a\n"
    assert accepts(Grammar.from_lark(text, import_paths=[tmp_path]), "a")
    (tmp_path / "letters.lark").write_text('a: "b"\n')
    assert accepts(Grammar.from_lark(text, import_paths=[tmp_path]), "b")


def test_a_grammar_is_kept_by_its_text() -> None:
    assert Grammar.from_lark('start: "a"') is Grammar.from_lark('start: "a"')
    assert Grammar.from_lark('start: "a"') is not Grammar.from_lark('start: "a"', lexer="basic")


def test_a_terminal_that_may_be_empty_may_be_left_out() -> None:
    grammar = Grammar.from_lark('start: "a" X "b"\nX: /x*/')
    assert [text for text in every_text("abx", 4) if accepts(grammar, text)] == [
        "ab", "axb", "axxb",
    ]  # fmt: skip


def test_optional_parts_in_a_long_row_are_no_million_alternatives() -> None:
    letters = "abcdefghijklmnopqrst"
    rule = " ".join(f'"{letter}"?' for letter in letters)
    grammar = Grammar.from_lark(f"start: {rule}")
    assert accepts(grammar, "acegt")
    assert accepts(grammar, "")
    assert not accepts(grammar, "ba")


def test_the_lexer_is_one_of_larks() -> None:
    with pytest.raises(ValueError, match="lexer must be one of contextual, basic, dynamic"):
        Grammar.from_lark('start: "a"', lexer="earley")  # type: ignore[arg-type]


def test_a_grammar_is_a_text() -> None:
    with pytest.raises(TypeError, match="a grammar must be a str, found bytes"):
        Grammar.from_lark(b'start: "a"')  # type: ignore[arg-type]
