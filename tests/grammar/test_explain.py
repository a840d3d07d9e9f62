"""Where a text stands: the verdict, the place, and what is said to be expected there."""

from __future__ import annotations

import random
import re

import pytest

from guided import Grammar, GuidedError, Matcher, VocabularyError
from guided.grammar.expectation import expectations
from guided.grammar.explain import Standing, explain, join, plain_vocabulary

DECIMAL = Grammar.from_regex(r"a[0-9]+\.(true|false|né)")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", 'incomplete: the text ends at line 1, column 1, where "a" is expected'),
        ("a12", "incomplete: the text ends at line 1, column 4, where [.0-9] is expected"),
        ("a12x", 'line 1, column 4: expected [.0-9], found "x"'),
        (
            "a1.",
            'incomplete: the text ends at line 1, column 4, where "false", "né" or "true"'
            " is expected",
        ),
        ("a1.true", "accepted: complete at line 1, column 8"),
        ("a1.true\n", 'line 1, column 8: expected the end of the text, found "\\n"'),
        ("a1.nè", 'line 1, column 5: expected "é", found "è"'),
    ],
)
def test_a_standing_says_what_is_so(text: str, told: str) -> None:
    assert str(explain(DECIMAL, text)) == told


def test_a_line_break_in_the_text_counts() -> None:
    standing = explain(Grammar.from_regex("(ä\n)*b"), "ä\nä\nä?")
    assert (standing.line, standing.column, standing.found) == (3, 2, "?")


def test_a_text_that_may_end_or_go_on_expects_both() -> None:
    assert explain(Grammar.from_regex("ab?"), "a").expected == ('"b"', "the end of the text")


def test_bytes_that_are_no_text_are_rejected_where_they_stand() -> None:
    standing = explain(Grammar.from_regex("a.*"), b"ab\xff")
    assert (standing.verdict, standing.column, standing.found) == ("rejected", 3, "\ufffd")


def test_an_unfinished_character_is_incomplete() -> None:
    standing = explain(Grammar.from_regex("[à-ü]"), "é".encode()[:1])
    assert standing.verdict == "incomplete"
    assert standing.expected == ("the rest of a character",)


def test_a_token_of_the_grammar_is_read_by_its_name() -> None:
    grammar = Grammar.from_gbnf('root ::= <think> [a-z]+ "."')
    assert explain(grammar, "").expected == ("the token <think>",)
    assert explain(grammar, "<think>ab.").verdict == "accepted"
    standing = explain(grammar, "<thin")
    assert (standing.verdict, standing.column) == ("rejected", 1)


def test_a_token_by_its_number_cannot_be_read() -> None:
    with pytest.raises(VocabularyError) as caught:
        explain(Grammar.from_gbnf("root ::= <[12]>"), "")
    assert str(caught.value) == (
        "the grammar names token 12 by its number, which texts cannot show\n"
        "  mend: write it by its text, as in <name>"
    )


def test_large_classes_are_cut() -> None:
    (item,) = explain(Grammar.from_regex(r"(?u)\w"), "").expected
    assert item.endswith("more ranges of characters")
    assert len(item) < 140


def test_a_class_of_nearly_all_is_written_by_what_it_lacks() -> None:
    assert explain(Grammar.from_regex('[^"\\\\]'), "").expected == ('[^"\\\\]',)


def test_a_long_list_is_cut() -> None:
    assert join([str(number) for number in range(14)], 3) == "0, 1, 2 or one of 11 more"
    assert join(["a"]) == "a"
    assert join([]) == "nothing"


@pytest.mark.parametrize("seed", range(20))
def test_expected_are_just_the_characters_that_may_come(seed: int) -> None:
    """A character is in what is expected exactly if the matcher takes it."""
    draw = random.Random(seed)
    letters = "abcéèñ日本語𝄞~\x01"
    pieces = [f"[{''.join(draw.sample(letters, 3))}]" for _ in range(3)] + [
        "日本",
        "é",
        "a~b",
        "c?",
    ]
    draw.shuffle(pieces)
    grammar = Grammar.from_regex(f"({'|'.join(pieces[:4])})({'|'.join(pieces[3:])})")
    for text in ["", *letters]:
        matcher = grammar.compile(plain_vocabulary(grammar)).matcher()
        try:
            matcher.accept_bytes(text.encode())
        except GuidedError:
            continue
        expected = expectations(matcher)
        for letter in letters:
            assert takes(matcher, letter) is any(may_begin(item, letter) for item in expected)


def takes(matcher: Matcher, text: str) -> bool:
    fork = matcher.fork()
    try:
        fork.accept_bytes(text.encode())
    except GuidedError:
        return False
    return True


def may_begin(item: str, letter: str) -> bool:
    """Read an item back: a text in quotes, or a class, which has the syntax of `re`."""
    if item[0] in "\"'":
        written = item[1:-1].removesuffix("...")
        return written.startswith(letter.replace("\x01", "\\x01"))
    return re.fullmatch(item, letter) is not None


def test_the_place_is_the_first_character_that_no_text_has_there() -> None:
    """All that stands before the place can be finished; with the character there it cannot."""
    grammar = Grammar.from_json_schema(
        {"type": "array", "items": {"enum": ["é", 12, None, "日本"]}, "maxItems": 3}
    )
    good = '["é", 12, "日本"]'
    for index in range(len(good)):
        for wrong in 'x"]é本':
            standing: Standing = explain(grammar, good[:index] + wrong)
            if standing.verdict == "rejected":
                assert standing.column == index + 1
            assert explain(grammar, good[:index]).verdict == "incomplete"
