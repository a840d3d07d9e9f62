"""What is wrong with a pattern is said with its place and what to do about it."""

from __future__ import annotations

import contextlib
import time
from typing import Literal

import pytest

from guided.errors import GrammarError, LimitError, UnsupportedError
from tests.text.regex.matching import Pattern


def test_an_error_shows_the_place_by_a_caret() -> None:
    with pytest.raises(GrammarError) as caught:
        Pattern("ab\nc[d-a]e")
    assert str(caught.value) == (
        "bad character range d-a: it ends before it begins\n"
        "  line 2, column 3\n"
        "    2 | c[d-a]e\n"
        "      |   ^^^\n"
        "  mend: swap its ends, or escape the hyphen, \\-"
    )


@pytest.mark.parametrize(
    ("pattern", "column", "fact"),
    [
        ("a)", 2, "unbalanced parenthesis"),
        ("x(a", 2, "unbalanced parenthesis"),
        ("a[b-", 2, "unterminated character class"),
        ("a[]", 2, "unterminated character class"),
        ("*a", 1, "nothing to repeat"),
        ("a|+", 3, "nothing to repeat"),
        ("^*", 2, "nothing to repeat"),
        (r"a\b+", 4, "nothing to repeat"),
        ("{2}", 1, "nothing to repeat"),
        ("a**", 3, "multiple repeat"),
        ("a{2}{3}", 5, "multiple repeat"),
        ("(?x)a+ +", 8, "multiple repeat"),
        ("a{3,1}", 2, "at least 3 and at most 1"),
        ("a\\", 2, "ends with a backslash"),
        (r"\q", 1, "bad escape"),
        (r"\x4", 1, "incomplete escape"),
        (r"\400", 1, "octal"),
        (r"\U00110000", 1, "above the last code point"),
        (r"\N{NO SUCH}", 1, "no character of the name"),
        (r"\p{Foo}", 1, "no Unicode property"),
        (r"\2(a)", 1, "invalid group reference"),
        ("(?P<n>a)(?P<n>b)", 9, "two groups have the name"),
        ("(?P<1>a)", 1, "bad group name"),
        ("a(?i)", 2, "global flags"),
        ("(?z)", 1, "cannot be switched"),
        ("(?i-i:a)", 1, "on and off"),
        ("(?au)", 1, "exclude each other"),
        ("(?~a)", 1, "unknown kind of group"),
        (r"[\d-z]", 2, "bad character range"),
        ("a\ud800", 2, "surrogate"),
    ],
)
def test_python_errors_have_fact_place_and_mend(pattern: str, column: int, fact: str) -> None:
    with pytest.raises(GrammarError, match=fact) as caught:
        Pattern(pattern)
    assert caught.value.column == column
    assert caught.value.mend
    str(caught.value).encode()


@pytest.mark.parametrize(
    ("pattern", "column", "fact"),
    [
        ("(?P<n>a)", 1, "unknown kind of group"),
        ("a++", 3, "multiple repeat"),
        ("(?<=a)*", 7, "nothing to repeat"),
        (r"\u{110000}", 1, "above the last code point"),
        (r"\p{greek}", 1, "no Unicode property"),
        ("[b-a]", 2, "bad character range"),
    ],
)
def test_ecma_errors_have_fact_place_and_mend(pattern: str, column: int, fact: str) -> None:
    with pytest.raises(GrammarError, match=fact) as caught:
        Pattern(pattern, dialect="ecma")
    assert caught.value.column == column
    assert caught.value.mend


def test_a_misspelt_property_is_put_right() -> None:
    with pytest.raises(GrammarError) as caught:
        Pattern(r"\p{greek}")
    assert caught.value.mend == 'did you mean "Script=Greek"?'


@pytest.mark.parametrize(
    ("pattern", "dialect", "keyword"),
    [
        (r"(a)\1", "python", r"\1"),
        (r"(?P<n>a)(?P=n)", "python", "(?P=n)"),
        (r"(?:\1(a))", "ecma", r"\1"),
        (r"(?<n>a)\k<n>", "ecma", r"\k<n>"),
        (r"(a)(?(1)b|c)", "python", "(?(1)"),
        (r"a(?R)?", "python", "(?R)"),
        (r"(?i:a)", "ecma", "(?i:"),
    ],
)
def test_what_is_not_regular_is_refused_with_its_place(
    pattern: str, dialect: Literal["python", "ecma"], keyword: str
) -> None:
    with pytest.raises(UnsupportedError) as caught:
        Pattern(pattern, dialect=dialect)
    assert caught.value.keyword == keyword
    assert caught.value.place is not None
    assert keyword in caught.value.place


LARGE = {
    "100,000 brackets": "(" * 100_000 + "a" + ")" * 100_000,
    "100,000 opening brackets": "(" * 100_000,
    "100,000 closing brackets": ")" * 100_000,
    "100,000 classes that are one": "[" * 100_000,
    "nested choices": "(a|" * 900 + "b" + ")" * 900,
    "nested optional parts": "(?:a" * 900 + ")?" * 900,
    "nested look-aheads": "(?=a" * 900 + ")" * 900,
    "a million by counts": "(a{1000}){1000}",
    "counts upon counts": "((a{1,1000}b){1,1000}c){1,1000}",
    "too large a count": "a{100001}",
    "a count of many digits": "a{" + "9" * 100_000 + "}",
    "20,000 choices": "|".join(f"word{number}" for number in range(20_000)),
    "a long literal": "ab" * 200_000,
    "a thousand forbidden words": "(?:(?!" + "|".join(f"w{n}" for n in range(1000)) + ").)*",
    "10,000 word boundaries": r"\b" * 10_000 + "a",
    "a look-behind of 100,000": "(?<=" + "a" * 100_000 + ")b",
}


@pytest.mark.parametrize("pattern", LARGE.values(), ids=LARGE.keys())
def test_large_patterns_are_read_or_refused_in_seconds(pattern: str) -> None:
    start = time.process_time()
    with contextlib.suppress(LimitError, GrammarError, UnsupportedError):
        Pattern(pattern)
    assert time.process_time() - start < 5
