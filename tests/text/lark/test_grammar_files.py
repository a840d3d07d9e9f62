"""%grammar "file": another grammar within a grammar."""

from __future__ import annotations

from pathlib import Path

import pytest

from guided import Grammar
from guided.errors import GrammarError, LimitError, UnsupportedError
from guided.text.lark import compile_lark
from tests.text.lark.matching import accepts, every_text


def made(folder: Path, text: str, lexer: str = "dynamic") -> Grammar:
    path = folder / "host.lark"
    path.write_text(text, "utf-8")
    return Grammar.from_lark(text, path=path, lexer=lexer)  # type: ignore[arg-type]


@pytest.mark.parametrize("lexer", ["dynamic", "dynamic_complete"])
def test_gbnf_is_embedded_with_all_that_it_matches(tmp_path: Path, lexer: str) -> None:
    gbnf = 'root ::= "a" root "b" | "c"?'
    (tmp_path / "inner.gbnf").write_text(gbnf)
    host = made(tmp_path, 'start: "(" %grammar "inner.gbnf" ")"*', lexer)
    alone = Grammar.from_gbnf(gbnf)
    for text in every_text("abc", 5):
        assert accepts(host, f"({text}))") is accepts(alone, text), text


@pytest.mark.parametrize("lexer", ["dynamic", "dynamic_complete"])
def test_lark_is_embedded_with_the_lexer_of_the_grammar_it_stands_in(
    tmp_path: Path, lexer: str
) -> None:
    inner = 'start: A start "b" | A\nA: /a+/\n%ignore " "'
    (tmp_path / "inner.lark").write_text(inner)
    host = made(tmp_path, 'start: "(" %grammar "inner.lark" ")"\nA: "no"', lexer)
    alone = Grammar.from_lark(inner, lexer=lexer)  # type: ignore[arg-type]
    for text in every_text("ab ", 6):
        assert accepts(host, f"({text})") is accepts(alone, text), text


def test_what_a_host_ignores_may_stand_before_a_file_and_not_within(tmp_path: Path) -> None:
    (tmp_path / "inner.gbnf").write_text('root ::= "ab"')
    host = made(tmp_path, 'start: "(" %grammar "inner.gbnf" ")"\n%ignore " "')
    assert accepts(host, "( ab )")
    assert not accepts(host, "(a b)")


def test_files_embed_files_from_their_own_folders_themselves_too(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "list.lark").write_text(
        'start: "[" (%grammar "../host.lark" | %grammar "digit.gbnf")* "]"'
    )
    (tmp_path / "below" / "digit.gbnf").write_text("root ::= [0-9]")
    grammar = made(tmp_path, 'start: "<" %grammar "below/list.lark" ">"')
    assert accepts(grammar, "<[12]>")
    assert accepts(grammar, "<[1<[2<[]>]>3]>")
    assert not accepts(grammar, "<[1<[2]]>")


def test_shipped_grammars_and_schemas_are_embedded_by_name(tmp_path: Path) -> None:
    (tmp_path / "point.json").write_text('{"type": "array", "items": {"type": "integer"}}')
    text = 'start: "version" %grammar "semver" "at" %grammar "point.json"\n%ignore " "'
    compiled = compile_lark(text, lexer="dynamic", import_paths=[tmp_path])
    grammar = Grammar(compiled.arena, compiled.start, kind="lark")
    assert compiled.is_outside
    assert accepts(grammar, "version 1.2.3-rc.1 at [1,2]")
    assert not accepts(grammar, "version 1.2 at [1,2]")
    assert not compile_lark('start: %grammar "json"', lexer="dynamic").is_outside


def test_extensions_of_a_file_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "inner.lark").write_text(
        'start: %json {"enum": [1, 2]} unordered{"a", "b"} %verbatim "x y" words'
    )
    grammar = made(tmp_path, 'start: %json {"enum": [3]} | %grammar "inner.lark"')
    assert accepts(grammar, "3")
    assert accepts(grammar, "2bax y")
    assert not accepts(grammar, "1")


def test_a_missing_file_is_told_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "shut.txt").write_text("")
    for file in ("none.gbnf", "jso", "shut.txt", "/etc/passwd", "../x/../none.lark", "a\\u0000b"):
        with pytest.raises(GrammarError, match="there is no grammar file") as caught:
            made(tmp_path, f'start: "a"\n  | %grammar "{file}"')
        assert (caught.value.line, caught.value.column) == (2, 5)
    with pytest.raises(GrammarError) as caught:
        Grammar.from_lark('start: %grammar "own.gbnf"', lexer="dynamic")
    assert str(caught.value) == (
        'there is no grammar file "own.gbnf", nor a shipped grammar of that name\n'
        "  line 1, column 8\n"
        '    1 | start: %grammar "own.gbnf"\n'
        "      |        ^^^^^^^^\n"
        "  mend: give it relative to the file it stands in, which Grammar.from_file tells,"
        " or to a folder of import_paths=[...]"
    )


def test_errors_of_a_file_name_it_and_the_place_in_it(tmp_path: Path) -> None:
    (tmp_path / "inner.gbnf").write_text('root ::=\n  "a" vaule')
    (tmp_path / "inner.lark").write_text('start: "a"\n  | vaule')
    for name in ("inner.gbnf", "inner.lark"):
        with pytest.raises(GrammarError, match=f"is not defined .in .*{name}") as caught:
            made(tmp_path, f'start: "xxxxxxxxxxxx" %grammar "{name}"')
        assert caught.value.line == 2
    (tmp_path / "inner.gbnf").write_bytes(b"\xff")
    with pytest.raises(GrammarError, match="is not UTF-8"):
        made(tmp_path, 'start: %grammar "inner.gbnf"')


def test_what_needs_a_post_lexer_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r'"_DEDENT" is declared.*python\.lark'):
        Grammar.from_lark('start: %grammar "python"', lexer="dynamic")


def test_a_file_that_has_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "inner.lark").write_text('start: "a" %grammar "inner.lark"')
    grammar = made(tmp_path, 'start: "b" %grammar "inner.lark"')
    with pytest.raises(GrammarError):
        accepts(grammar, "b")


def test_many_files_are_bounded(tmp_path: Path) -> None:
    for each in range(1002):
        (tmp_path / f"f{each}.lark").write_text(f'start: "a" %grammar "f{each + 1}.lark"?')
    with pytest.raises(LimitError, match="too many files"):
        made(tmp_path, 'start: %grammar "f0.lark"')


def test_a_file_finds_those_beside_it(tmp_path: Path) -> None:
    (tmp_path / "inner.gbnf").write_text('root ::= "ab"')
    (tmp_path / "host.lark").write_text('start: unordered{NUMBER, "x"}\nNUMBER: /[0-9]/')
    assert accepts(Grammar.from_file(tmp_path / "host.lark"), "x1")
    (tmp_path / "host.lark").write_text('start: "(" %grammar "inner.gbnf" ")"')
    with pytest.raises(UnsupportedError, match="cannot be read by a scanner"):
        Grammar.from_file(tmp_path / "host.lark")
