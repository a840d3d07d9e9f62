"""Look-around against a backtracking engine, on every short text."""

from __future__ import annotations

import itertools

import pytest
import regex

from guided.errors import UnsupportedError
from tests.text.regex.matching import Pattern

CASES = [
    (r"(?!abc)[abc]*", "abc"),
    (r"(?=.*a)(?=.*b)[abc]{2,4}", "abc"),
    (r"a(?=(?!bc)b)[bc]*", "abc"),
    (r"(?:a|b(?!c))c?", "abc"),
    (r"a?b?(?<!ab)(?=c)c*", "abc"),
    (r"(?<!ab)c|a*b*c?", "abc"),
    (r"[abc]*(?<!ab)c", "abc"),
    (r"[abc]*(?<=ab|c)b", "abc"),
    (r"[ab]*(?=b)(?<=a)[abc]*", "abc"),
    (r"(?<!^)a|b", "ab"),
    (r"^a|b$", "ab"),
    (r"a$\n?", "a\n"),
    (r"(?m)^a$\n^b$", "ab\n"),
    (r"\ba\b-?\bb\b", "ab-"),
    (r"[ab]*\b-\B-[ab-]*", "ab-"),
    (r"(?:(?!ab).)*", "abc"),
    (r"(?:(?!ab).)*ab", "abc"),
    (r"(?:(?!ab)[abc])*b?", "abc"),
    (r"(?:(?!bb)(?!aa)[ab])+", "ab"),
    (r"(?:(?!a*b$)[ab])*[ab]b", "ab"),
    (r"(?:(?=ab)a|b)*", "ab"),
    (r"(?:(?=a)*[ab])*", "ab"),
    (r"(?:a(?!b)|b(?=a|$))*", "ab"),
    (r"(?:a(?!b$)|b)*", "ab"),
    (r"(?:a\b-?)*b", "ab-"),
    (r"(?:\b\w+\b-?)*", "ab-"),
    (r"(?:^a|b)*", "ab"),
    (r"(?:(?<=a)b|a|\Bc)*", "abc"),
    (r"(?:a|b(?<=ab))*c?", "abc"),
    (r"(?:(?<!^a)b|a)*", "ab"),
    (r"(?:a(?<!aaa)|b)*", "ab"),
    (r"(?m)(?:^[ab]+$\n?)+", "ab\n"),
    (r"(?:(?!ba)[ab]){1,3}a?", "ab"),
    (r"(?:(?!ba)[ab]{1,2}){0,5}a?", "ab"),
    (r"(?:[ab]\b-?){0,12}b", "ab-"),
    (r"a++b", "ab"),
    (r"(?>a{0,2})b", "ab"),
]


@pytest.mark.parametrize(("pattern", "alphabet"), CASES)
def test_look_around_means_what_a_backtracking_engine_says(pattern: str, alphabet: str) -> None:
    whole, anywhere = Pattern(pattern), Pattern(pattern, search=True)
    oracle = regex.compile(pattern, regex.ASCII)
    for length in range(7 if len(alphabet) == 2 else 5):
        for letters in itertools.product(alphabet, repeat=length):
            text = "".join(letters)
            if not text and r"\B" in pattern:
                continue  # engines differ: is there a place that is no boundary?
            assert whole.matches(text) is bool(oracle.fullmatch(text)), text
            assert anywhere.matches(text) is bool(oracle.search(text)), text


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(r"^[a-z]+$", id="anchors at the ends"),
        pytest.param(r"^a|b$", id="anchors in branches"),
        pytest.param(r"(?!-)[a-z-]+(?<!-)", id="a character excluded at either end"),
        pytest.param(r"(?:\w+\b ?){0,5}", id="word boundaries in a repetition"),
        pytest.param(r"\bfoo\b.*\bbar\b", id="word boundaries"),
        pytest.param(r"(?:(?!-)[a-z-])*", id="a condition within its own round"),
    ],
)
@pytest.mark.parametrize("search", [False, True], ids=["whole", "search"])
def test_conditions_on_one_character_need_no_product(pattern: str, search: bool) -> None:
    assert Pattern(pattern, search=search).kinds().isdisjoint({"both", "minus"})


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        pytest.param("a++a", "possessive", id="possessive that changes the match"),
        pytest.param("(?>a|ab)c", "atomic", id="atomic choice"),
        pytest.param("(?>a+?)b", "atomic", id="atomic and lazy"),
        pytest.param("(?<=^[a-z]+)b", "no bounded width", id="look-behind without bound"),
        pytest.param("(?:(?<=^[a-z]+)b)*", "no bounded width", id="the same repeated"),
    ],
)
def test_what_cannot_be_enforced_exactly_is_refused(pattern: str, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason) as caught:
        Pattern(pattern)
    assert caught.value.place is not None
