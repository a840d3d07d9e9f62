"""Random patterns against Python's `re` and against interegular."""

from __future__ import annotations

import itertools
import re
import warnings

import interegular
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guided.errors import GrammarError, LimitError, UnsupportedError
from tests.text.regex.matching import Pattern

ALPHABET = "ab-\n"
TEXTS = ["".join(t) for length in range(5) for t in itertools.product(ALPHABET, repeat=length)]
ATOMS = ["a", "b", "-", "ab", ".", "[ab]", "[^a]", r"\w", r"\n"]
QUANTIFIERS = ["", "", "", "*", "+", "?", "*?", "{2}", "{1,2}", "{,3}", "{3,}"]
PLACES = ["^", "$", r"\b", r"\A", r"\Z"]


def joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(parts, max_size=3).map("".join)


def repeated(atoms: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    quantifiers = st.sampled_from(QUANTIFIERS)
    return st.builds(lambda atom, quantifier: f"(?:{atom}){quantifier}", atoms, quantifiers)


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    items = joined(repeated(inner))
    return st.one_of(items, st.builds("{}|{}".format, items, items))


def grown_looking(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    ahead = st.builds("(?{}{})".format, st.sampled_from("=!"), inner)
    behind = st.builds(
        "(?<{}{})".format, st.sampled_from("=!"), st.sampled_from(["a", "ab", "^a", "[ab]-", "b|-"])
    )
    items = joined(st.one_of(repeated(inner), inner, ahead, behind, st.sampled_from(PLACES)))
    return st.one_of(items, st.builds("{}|{}".format, items, items)).map("(?:{})".format)


def grown_uncounted(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    quantifiers = st.sampled_from(["", "", "*", "+", "?"])
    items = joined(st.builds("(?:{}){}".format, inner, quantifiers))
    return st.one_of(items, st.builds("{}|{}".format, items, items))


PLAIN_PATTERNS = st.recursive(st.sampled_from(ATOMS), grown, max_leaves=8)
# Counts are left out: interegular unrolls them, one within the other, for minutes.
UNCOUNTED_PATTERNS = st.recursive(st.sampled_from(ATOMS), grown_uncounted, max_leaves=5)
LOOKING_PATTERNS = st.recursive(st.sampled_from(ATOMS), grown_looking, max_leaves=8)


def check_against_re(pattern: str, texts: list[str]) -> None:
    oracle = re.compile(pattern, re.ASCII)
    try:
        whole, anywhere = Pattern(pattern), Pattern(pattern, search=True)
    except (UnsupportedError, LimitError):
        return
    for text in texts:
        assert whole.matches(text) is bool(oracle.fullmatch(text)), (pattern, text)
        assert anywhere.matches(text) is bool(oracle.search(text)), (pattern, text)


@settings(max_examples=100)
@given(PLAIN_PATTERNS, st.lists(st.sampled_from(TEXTS), min_size=1, max_size=30))
def test_plain_patterns_match_what_re_matches(pattern: str, texts: list[str]) -> None:
    check_against_re(pattern, texts)


@settings(max_examples=100)
@given(LOOKING_PATTERNS, st.lists(st.sampled_from(TEXTS), min_size=1, max_size=30))
def test_patterns_that_look_around_match_what_re_matches(pattern: str, texts: list[str]) -> None:
    check_against_re(pattern, texts)


@pytest.mark.nightly
@settings(max_examples=2_000)
@given(LOOKING_PATTERNS, st.lists(st.sampled_from(TEXTS), min_size=1, max_size=60))
def test_many_patterns_that_look_around(pattern: str, texts: list[str]) -> None:
    check_against_re(pattern, texts)


@settings(max_examples=60)
@given(UNCOUNTED_PATTERNS)
def test_plain_patterns_are_equivalent_to_those_of_interegular(pattern: str) -> None:
    machine = interegular.parse_pattern(pattern).to_fsm()
    compiled = Pattern(pattern)
    for text in TEXTS:
        assert compiled.matches(text) is machine.accepts(text), (pattern, text)


SCRAPS = [
    *ATOMS,
    *PLACES,
    *QUANTIFIERS,
    "(",
    "(?:",
    "(?=",
    "(?!",
    "(?<=",
    "(?P<n>",
    ")",
    ")",
    "|",
    "{",
    "[",
    "]",
    "[]a]",
    "[^]",
    "[a-",
    "[\\w-.]",
    "[b-a]",
    "{1",
    "}",
    "\\",
    "++",
    "(?>",
    "(?i)",
    "\\x4",
    "\\x41",
    "\\0",
    "\\101",
    "\\8",
    "\\-",
    "(?i:",
    "(?s-i:",
    "(?#c)",
    "(?x: ",
    " ",
    "#a\n",
]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(SCRAPS), max_size=6).map("".join))
def test_what_re_refuses_is_refused(pattern: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        try:
            re.compile(pattern, re.ASCII)
            message = None
        except re.error as error:
            message = str(error)
    try:
        Pattern(pattern)
        refused = False
    except (UnsupportedError, LimitError):
        return
    except GrammarError:
        refused = True
    assert refused is (message is not None and "fixed-width" not in message)
