"""The text of each error, in full, and the data it is made from."""

from __future__ import annotations

import pytest

from guided import (
    GrammarError,
    GuidedError,
    IncompleteError,
    LimitError,
    RollbackError,
    SchemaError,
    ShapeError,
    SourceError,
    TokenRejected,
    UnsupportedError,
    ValueRejected,
    VocabularyError,
)


def test_an_error_is_fact_place_and_mend() -> None:
    error = GuidedError("it is wrong", place="there", mend="put it right")
    assert (error.fact, error.place, error.mend) == ("it is wrong", "there", "put it right")
    assert str(error) == "it is wrong\n  there\n  mend: put it right"
    assert str(GuidedError("it is wrong")) == "it is wrong"


def test_a_grammar_error_points_at_the_place() -> None:
    text = 'start: pair\npair ::= string ":" vaule\n'
    error = GrammarError(
        'rule "vaule" is not defined',
        text=text,
        index=text.index("vaule"),
        length=5,
        mend='did you mean "value"?',
    )
    assert (error.line, error.column, error.length) == (2, 21, 5)
    assert str(error) == (
        'rule "vaule" is not defined\n'
        "  line 2, column 21\n"
        '    2 | pair ::= string ":" vaule\n'
        "      |                     ^^^^^\n"
        '  mend: did you mean "value"?'
    )


def test_a_long_line_is_cut_around_the_place() -> None:
    error = GrammarError("unbalanced", text="x" * 300, index=200)
    assert error.column == 201
    lines = str(error).splitlines()
    assert lines[2] == "    1 | ..." + "x" * 100 + "..."
    assert lines[3] == "      | " + " " * 53 + "^"


def test_the_caret_may_stand_after_the_text() -> None:
    assert str(GrammarError("unfinished", text="a(", index=2)) == (
        "unfinished\n  line 1, column 3\n    1 | a(\n      |   ^"
    )


def test_a_grammar_error_may_have_no_place() -> None:
    error = GrammarError("there is nothing to choose from")
    assert (error.line, error.column, error.place) == (None, None, None)
    assert str(error) == "there is nothing to choose from"


def test_a_schema_error_has_a_pointer() -> None:
    error = SchemaError(
        "no array can have at least 4 and at most 2 items",
        pointer="/properties/tags/minItems",
        mend="lower minItems to 2 or raise maxItems to 4",
    )
    assert error.pointer == "/properties/tags/minItems"
    assert str(error) == (
        "no array can have at least 4 and at most 2 items\n"
        "  at /properties/tags/minItems\n"
        "  mend: lower minItems to 2 or raise maxItems to 4"
    )
    assert str(SchemaError("it is wrong", pointer="")) == (
        "it is wrong\n  at the top of the schema"
    )


def test_what_is_not_supported_names_keyword_and_page() -> None:
    error = UnsupportedError(
        "uniqueItems cannot be enforced",
        keyword="uniqueItems",
        place="at /uniqueItems",
        page="docs/json-schema.md",
        mend="leave it out",
    )
    assert (error.keyword, error.page) == ("uniqueItems", "docs/json-schema.md")
    assert str(error) == (
        "uniqueItems cannot be enforced (scope: docs/json-schema.md)\n"
        "  at /uniqueItems\n"
        "  mend: leave it out"
    )


def test_a_vocabulary_error_names_the_bytes() -> None:
    error = VocabularyError("no token can write b'{'", missing=b"{", mend="use another model")
    assert error.missing == b"{"
    assert str(error) == "no token can write b'{'\n  mend: use another model"


def test_a_shape_error_says_wanted_and_found() -> None:
    error = ShapeError("mask", wanted="(2, 4) int32", found="(2, 3) int64")
    assert (error.wanted, error.found) == ("(2, 4) int32", "(2, 3) int64")
    assert str(error) == "mask: wanted (2, 4) int32, found (2, 3) int64"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            TokenRejected(7, b'"a', [1, 2], more=False),
            "token 7 (b'\"a') is not allowed here; allowed: 1, 2",
        ),
        (
            TokenRejected(-1, b"ab", [1], more=False),
            "the text b'ab' is not allowed here; allowed: 1",
        ),
        (
            TokenRejected(9, None, [1, 2], more=True),
            "token 9 is not allowed here; allowed: 1, 2, ...",
        ),
        (
            TokenRejected(9, None, [], more=False),
            "token 9 is not allowed here; allowed: nothing, the text has ended",
        ),
    ],
)
def test_a_rejected_token_says_what_was_allowed(error: TokenRejected, message: str) -> None:
    assert str(error) == message


def test_a_rollback_error_gives_both_numbers() -> None:
    error = RollbackError(5, 3)
    assert (error.asked, error.accepted) == (5, 3)
    assert str(error) == (
        "cannot take back 5 tokens: 3 were accepted\n"
        "  mend: roll back by at most that many, and never by a negative number"
    )


def test_a_limit_error_names_the_option() -> None:
    error = LimitError("too ambiguous", limit="heads", value=10, option="max_heads")
    assert (error.limit, error.value, error.option) == ("heads", 10, "max_heads")
    assert str(error) == (
        "too ambiguous: over the limit of 10 heads\n  mend: raise max_heads (now 10)"
    )
    assert str(LimitError("too deep", limit="levels", value=9)) == (
        "too deep: over the limit of 9 levels\n  mend: make the input smaller"
    )


def test_an_incomplete_output_keeps_its_text() -> None:
    error = IncompleteError('{"a"', "length")
    assert (error.text, error.finish_reason) == ('{"a"', "length")
    assert str(error) == (
        "the output is incomplete (finish_reason 'length'), so it has no value;"
        " the text so far has 4 characters\n"
        "  mend: raise max_tokens, or read .text"
    )


def test_the_tree() -> None:
    assert issubclass(GrammarError, SourceError)
    assert issubclass(SchemaError, SourceError)
    for kind in (
        SourceError,
        UnsupportedError,
        VocabularyError,
        ShapeError,
        TokenRejected,
        LimitError,
        RollbackError,
        IncompleteError,
    ):
        assert issubclass(kind, GuidedError)


def test_a_rejected_value_keeps_its_text_and_its_place() -> None:
    error = ValueRejected('{"age": 200}', "Person: Value error, nobody is that old", pointer="/age")
    assert (error.text, error.pointer) == ('{"age": 200}', "/age")
    assert str(error) == (
        "the output fits the schema, but not Person: Value error, nobody is that old\n"
        "  at /age\n"
        "  mend: read .text, or say in the schema what is checked (a pattern, a bound, an enum)"
    )
    assert "at the top of the value" in str(ValueRejected("1", "Odd: no", pointer=""))
