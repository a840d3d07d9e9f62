"""What guided adds to the language of Lark: lazy terminals, stops, values in place of names."""

from __future__ import annotations

from pathlib import Path

import pytest

from guided import Grammar, Vocabulary
from guided.errors import GrammarError, UnsupportedError
from tests.text.lark.matching import accepts, every_text


@pytest.mark.parametrize("lexer", ["contextual", "dynamic"])
def test_a_lazy_terminal_is_its_shortest_matches(lexer: str) -> None:
    grammar = Grammar.from_lark(
        "start: A+ C?\nA[lazy]: /a+b?b/ | /c+/\nC: /b/",
        lexer=lexer,  # type: ignore[arg-type]
    )
    taken = [text for text in every_text("abc", 4) if accepts(grammar, text)]
    assert "ab" in taken
    assert "abb" in taken  # A, then C
    assert "abbb" not in taken
    assert "cc" in taken  # twice A


@pytest.mark.parametrize("lexer", ["contextual", "dynamic"])
def test_a_stop_ends_a_terminal_at_its_first_occurrence(lexer: str) -> None:
    grammar = Grammar.from_lark(
        'start: TEXT "b"?\nTEXT[stop="\\n\\n"].2: /(.|\\n)*/',
        lexer=lexer,  # type: ignore[arg-type]
    )
    assert accepts(grammar, "a\nc\n\n")
    assert accepts(grammar, "a\n\nb")
    assert accepts(grammar, "\n\n")
    assert not accepts(grammar, "a\n\na\n\n")
    assert not accepts(grammar, "a\n\n\n")
    assert not accepts(grammar, "a\n")


def test_attributes_stand_together_and_hold_any_string() -> None:
    grammar = Grammar.from_lark(
        'start: A B\n  A[lazy, stop="]:"].2: /a.*/\nB: /b+/\n%extend B[lazy]: /c+/'
    )
    taken = ["a]:b", "aa ]: b", "a]:c", "a]:]:b", "a]:bb", "a]:cc"]
    assert [text for text in taken if accepts(grammar, text)] == ["a]:b", "a]:c"]


def test_tokens_are_matched_by_their_number_never_by_their_spelling() -> None:
    vocabulary = Vocabulary.from_tokens(
        [b"a", b"<", b"|", b"t", b">", None, None, None],
        eos=[7],
        special={"<|t|>": 5, "<u>": 6},
    )
    grammar = Grammar.from_lark('start: <|t|> "a"+ (<u> | <[5]>)', lexer="dynamic")
    matcher = grammar.compile(vocabulary).matcher()
    assert matcher.allowed_tokens() == [5]
    matcher.accept_all([5, 0])
    assert matcher.allowed_tokens() == [0, 5, 6]
    other = Grammar.from_lark("start: !<u>", lexer="dynamic").compile(vocabulary).matcher()
    assert 6 not in other.allowed_tokens()
    assert 5 in other.allowed_tokens()


def test_schemas_stand_where_names_may() -> None:
    grammar = Grammar.from_lark(
        'start: "point" %json {"type": "array", "items": {"type": "integer"}, "maxItems": 2}\n'
        '     | "flag" %json {\n  "enum": [true, "<x>"]\n}\n%ignore " "',
        lexer="dynamic",
    )
    assert accepts(grammar, "point [1, -2]")
    assert accepts(grammar, "flag true")
    assert accepts(grammar, 'flag "<x>"')
    assert not accepts(grammar, "point [1, 2, 3]")
    assert not accepts(grammar, "point [1.5]")


def test_what_looks_alike_in_strings_patterns_and_comments_is_left_alone() -> None:
    grammar = Grammar.from_lark(
        'start: "<a>" A // <b> and %json {}\nA: /(?P<n>c)/ | /d  # <e>\n f/x'
    )
    assert accepts(grammar, "<a>c")
    assert accepts(grammar, "<a>df")


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        pytest.param(
            'start: "a" <|t|>',
            "<|t|> is an extension of guided, which lark does not know\n"
            "  line 1, column 12\n"
            '    1 | start: "a" <|t|>\n'
            "      |            ^^^^^\n"
            '  mend: leave it out, or give dialect="guided"',
            id="a token",
        ),
        pytest.param(
            "start: A\nA[lazy]: /a+/",
            "[lazy] is an extension of guided, which lark does not know\n"
            "  line 2, column 2\n"
            "    2 | A[lazy]: /a+/\n"
            "      |  ^^^^^^\n"
            '  mend: leave it out, or give dialect="guided"',
            id="an attribute",
        ),
        pytest.param(
            "start: %json {}",
            "%json is an extension of guided, which lark does not know\n"
            "  line 1, column 8\n"
            "    1 | start: %json {}\n"
            "      |        ^^^^^\n"
            '  mend: leave it out, or give dialect="guided"',
            id="a schema",
        ),
        pytest.param(
            'start: %grammar "json"',
            "%grammar is an extension of guided, which lark does not know\n"
            "  line 1, column 8\n"
            '    1 | start: %grammar "json"\n'
            "      |        ^^^^^^^^\n"
            '  mend: leave it out, or give dialect="guided"',
            id="a grammar",
        ),
        pytest.param(
            "start: %verbatim text words",
            "%verbatim is an extension of guided, which lark does not know\n"
            "  line 1, column 8\n"
            "    1 | start: %verbatim text words\n"
            "      |        ^^^^^^^^^\n"
            '  mend: leave it out, or give dialect="guided"',
            id="a verbatim text",
        ),
        pytest.param(
            'start: unordered{"a", "b"}',
            "unordered is an extension of guided, which lark does not know\n"
            "  line 1, column 8\n"
            '    1 | start: unordered{"a", "b"}\n'
            "      |        ^^^^^^^^^\n"
            '  mend: leave it out, or give dialect="guided"',
            id="parts in any order",
        ),
    ],
)
def test_extensions_are_refused_where_lark_is_to_read_the_grammar(
    grammar: str, message: str
) -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_lark(grammar, dialect="lark")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        pytest.param(
            'start: item\nitem[capture, max_tokens=20]: "a"',
            'the attribute "max_tokens" of "item" is not supported (scope: docs/grammars.md)\n'
            "  line 2, column 15\n"
            '    2 | item[capture, max_tokens=20]: "a"\n'
            "      |               ^^^^^^^^^^\n"
            "  mend: leave it out, and bound the characters instead, as in /.{0,200}/ or"
            " item~1..20; guided.generate(..., max_tokens=...) bounds the whole output",
            id="a bound on tokens",
        ),
        pytest.param(
            'start[temperature=0.7]: "a"',
            'the attribute "temperature" of "start" is not supported (scope: docs/grammars.md)\n'
            "  line 1, column 7\n"
            '    1 | start[temperature=0.7]: "a"\n'
            "      |       ^^^^^^^^^^^\n"
            "  mend: leave it out; guided.generate(..., temperature=...) is for the whole output",
            id="an option of sampling",
        ),
        pytest.param(
            'start: A\nA[suffix="."]: /a+/',
            'the attribute "suffix" of "A" is not supported (scope: docs/grammars.md)\n'
            "  line 2, column 3\n"
            '    2 | A[suffix="."]: /a+/\n'
            "      |   ^^^^^^\n"
            '  mend: write stop="...", which the text of the terminal then ends with',
            id="the stop of another dialect",
        ),
        pytest.param(
            "start: <|t|>",
            "a token within a grammar cannot be read by a scanner (scope: docs/grammars.md)\n"
            "  line 1, column 8\n"
            "    1 | start: <|t|>\n"
            "      |        ^^^^^\n"
            '  mend: give lexer="dynamic"',
            id="a token in a table",
        ),
        pytest.param(
            'start: "a" %json {}',
            "a JSON Schema within a grammar cannot be read by a scanner"
            " (scope: docs/grammars.md)\n"
            "  line 1, column 12\n"
            '    1 | start: "a" %json {}\n'
            "      |            ^^^^^\n"
            '  mend: give lexer="dynamic"',
            id="a schema in a table",
        ),
        pytest.param(
            'start: %grammar "json"',
            "a grammar within a grammar cannot be read by a scanner (scope: docs/grammars.md)\n"
            "  line 1, column 8\n"
            '    1 | start: %grammar "json"\n'
            "      |        ^^^^^^^^\n"
            '  mend: give lexer="dynamic"',
            id="a grammar in a table",
        ),
        pytest.param(
            'start: %verbatim "a b" words',
            "a verbatim text within a grammar cannot be read by a scanner"
            " (scope: docs/grammars.md)\n"
            "  line 1, column 8\n"
            '    1 | start: %verbatim "a b" words\n'
            "      |        ^^^^^^^^^\n"
            '  mend: give lexer="dynamic"',
            id="a verbatim text in a table",
        ),
    ],
)
def test_what_cannot_be_enforced_is_refused(grammar: str, message: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        Grammar.from_lark(grammar)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("grammar", "fact", "place"),
    [
        ("A[lasy]: /a/\nstart: A", 'there is no attribute "lasy"', (1, 3)),
        ("start[lazy]: A\nA: /a/", 'the attribute "lazy" is one of terminals', (1, 7)),
        ("A[stop=3]: /a/\nstart: A", 'the attribute "stop" of "A" has a wrong value', (1, 3)),
        ("start[capture=x]: /a/", 'the attribute "capture" of "start" has a wrong value', (1, 7)),
        ("A[lazy, lazy]: /a/\nstart: A", '"A" has the attribute "lazy" twice', (1, 9)),
        ('A[lazy, "x"]: /a/\nstart: A', 'the attributes of "A" are malformed', (1, 8)),
        ("A[lazy, stops]: /a/\nstart: A", 'there is no attribute "stops"', (1, 9)),
        ("%extend A[lasy]: /a/\nA: /b/\nstart: A", 'there is no attribute "lasy"', (1, 11)),
        ('start: %json {"type": }', "the schema after %json is not JSON", (1, 23)),
        ("start: %grammar json", "%grammar has no file after it", (1, 8)),
        ('start: A\nA: "a" %grammar "json"', "has a part without a pattern: a token", (2, 8)),
        ('start: unordered{"a", "b"} A vaule\nA: "a"', 'rule "vaule" is not defined', (1, 30)),
        ("start: <|t|> (\n", "a bracket is not closed", (1, 14)),
        ("A[lazy]: /a/\nstart: <|t|> A vaule", 'rule "vaule" is not defined', (2, 16)),
        ('start: %json {\n"a": 1} ?? "b"', "an operator has nothing before it", (2, 10)),
    ],
)
def test_errors_have_their_place_in_the_text_as_given(
    grammar: str, fact: str, place: tuple[int, int]
) -> None:
    with pytest.raises(GrammarError, match=fact) as caught:
        Grammar.from_lark(grammar, lexer="dynamic")
    assert (caught.value.line, caught.value.column) == place


@pytest.mark.parametrize(
    ("inner", "shown", "place"),
    [
        ('word: "a"\n  WORD[lazy]: /a+b/', "[lazy]", (2, 7)),
        ('word[capture]: "a"', "[capture]", (1, 5)),
        ('word: "a" | <|t|>', "<|t|>", (1, 13)),
        ('word: %json {"type": "integer"}', "%json", (1, 7)),
        ('word: %grammar "json"', "%grammar", (1, 7)),
        ('word: %verbatim "a b" words', "%verbatim", (1, 7)),
        ('word: unordered{"a", "b"}', "unordered", (1, 7)),
    ],
)
def test_extensions_of_a_file_that_is_imported_are_refused_in_their_place(
    inner: str, shown: str, place: tuple[int, int], tmp_path: Path
) -> None:
    (tmp_path / "inner.lark").write_text(inner)
    with pytest.raises(UnsupportedError) as caught:
        Grammar.from_lark(
            "start: word\n%import .inner.word", lexer="dynamic", path=tmp_path / "host.lark"
        )
    line, column = place
    assert str(caught.value).startswith(
        f"{shown} stands in a grammar that is imported, where extensions are not read"
        f" (in {tmp_path / 'inner.lark'}) (scope: docs/grammars.md)\n"
        f"  line {line}, column {column}\n"
    )
    assert caught.value.keyword == shown


def test_a_file_that_is_imported_may_have_what_only_looks_like_an_extension(
    tmp_path: Path,
) -> None:
    (tmp_path / "inner.lark").write_text('word: "<a>" A // <b> and %json {}\nA: /<c>%json/')
    grammar = Grammar.from_lark("start: word\n%import .inner.word", path=tmp_path / "host.lark")
    assert accepts(grammar, "<a><c>%json")


def test_a_file_that_is_imported_is_utf_8(tmp_path: Path) -> None:
    (tmp_path / "inner.lark").write_bytes(b'word: "\xe9"')
    with pytest.raises(GrammarError, match=r"inner\.lark is not UTF-8: line 1 holds the byte 0xe9"):
        Grammar.from_lark("start: word\n%import .inner.word", path=tmp_path / "host.lark")


def test_the_dialect_is_one_of_two() -> None:
    with pytest.raises(ValueError, match='dialect must be "guided" or "lark"'):
        Grammar.from_lark('start: "a"', dialect="ebnf")  # type: ignore[arg-type]
