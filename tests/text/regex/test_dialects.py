"""Escapes, classes and flags, as each dialect has them."""

from __future__ import annotations

import re
from typing import Literal

import pytest

from guided.errors import GrammarError
from tests.text.regex.matching import Pattern

ACCEPT, REJECT = True, False


@pytest.mark.parametrize(
    ("pattern", "text", "verdict"),
    [
        (r"\u{1F600}", "😀", ACCEPT),
        (r"\uD83D\uDE00", "😀", ACCEPT),
        (r"[\uD83D\uDE00-\u{1F64F}]", "🙏", ACCEPT),
        (r"\cJ", "\n", ACCEPT),
        (r"\c", r"\c", ACCEPT),
        (r"[\c]", "\\", ACCEPT),
        (r"\x4", "x4", ACCEPT),
        (r"\u12", "u12", ACCEPT),
        (r"\Z\-\_", "Z-_", ACCEPT),
        (r"\101\8", "A8", ACCEPT),
        (r"[^]", "\n", ACCEPT),
        (r"[]", "]", REJECT),
        (r"a{,3}", "a{,3}", ACCEPT),
        (r"a{", "a{", ACCEPT),
        (r"]", "]", ACCEPT),
        (r"[\w-.]", "-", ACCEPT),
        (r"[\b]", "\b", ACCEPT),
        (r".", "\u2028", REJECT),
        (r"\s", "\ufeff", ACCEPT),
        (r"\s", "\x85", REJECT),
        (r"(?<name>a)", "a", ACCEPT),
        (r"\p{Script=Greek}\P{L}", "α1", ACCEPT),
        (r"\p{Letter}\p{gc=Nd}\p{scx=Han}\p{Alphabetic}", "é٣〆x", ACCEPT),
    ],
)
def test_ecma_syntax(pattern: str, text: str, verdict: bool) -> None:
    assert Pattern(pattern, dialect="ecma").matches(text) is verdict


@pytest.mark.parametrize(
    ("pattern", "text", "verdict"),
    [
        (r"\N{BULLET}\U0001F600", "•😀", ACCEPT),
        (r"\0\01\101\377", "\0\x01A\xff", ACCEPT),
        (r"[]a]+", "]a", ACCEPT),
        (r"[^]a]", "]", REJECT),
        (r"[]-a]", "^", ACCEPT),
        (r"[a-]", "-", ACCEPT),
        (r"a{,2}", "aa", ACCEPT),
        (r"a{,}", "aaa", ACCEPT),
        (r"a{}", "a{}", ACCEPT),
        (r"a{1", "a{1", ACCEPT),
        (r"(?P<n>a)(?<m>b)", "ab", ACCEPT),
        (r"(?x) a  b # and so on", "ab", ACCEPT),
        (r"(?x)[ ] \ a", "  a", ACCEPT),
        (r"(?x: a )\b b", "a b", ACCEPT),
        (r"a(?#not b)c", "ac", ACCEPT),
        (r"(?i)straße", "STRAßE", ACCEPT),
        (r"(?i)é", "É", REJECT),
        (r"(?iu)é", "É", ACCEPT),
        (r"(?i:a)b", "AB", REJECT),
        (r"(?s).(?-s:.)", "\na", ACCEPT),
        (r"\d\w\s", "٣é\xa0", REJECT),
        (r"(?u)\d\w\s", "٣é\xa0", ACCEPT),
        (r"\p{Lu}\P{Lu}", "Éé", ACCEPT),
        (r"\A\Ba\b\Z", "a", REJECT),
        (r"<.+?>", "<a>b>", ACCEPT),
    ],
)
def test_python_syntax(pattern: str, text: str, verdict: bool) -> None:
    assert Pattern(pattern).matches(text) is verdict


@pytest.mark.parametrize(
    ("pattern", "accepted", "rejected"),
    [
        (r"[\w--[aeiou]]", "b_9", "ae-"),
        (r"[\p{L}&&\p{ASCII}]", "aZ", "é1"),
        (r"[[a-c][x-z]_]", "az_", "d"),
        (r"[^\d--[0-4]]", "a03", "59"),
        (r"[[^a-z]&&[^0-9]]", "A-", "a0"),
    ],
)
def test_sets_within_sets_under_the_flag_v(pattern: str, accepted: str, rejected: str) -> None:
    compiled = Pattern(pattern, dialect="ecma", flags="v")
    assert all(map(compiled.matches, accepted))
    assert not any(map(compiled.matches, rejected))


def test_case_folding_of_ecma_is_that_of_unicode() -> None:
    word = Pattern(r"\w", dialect="ecma", flags="i")
    assert word.matches("\u017f")  # long s folds to s
    assert word.matches("\u212a")  # the Kelvin sign folds to k
    assert not Pattern(r"i", dialect="ecma", flags="i").matches("\u0130")


@pytest.mark.parametrize(
    ("flags", "pattern", "text", "verdict"),
    [
        ("i", "a", "A", ACCEPT),
        ("s", ".", "\n", ACCEPT),
        ("m", "a$\n^b", "a\nb", ACCEPT),
        ("x", "a b", "ab", ACCEPT),
        ("u", r"\w", "é", ACCEPT),
        ("a", r"\w", "é", REJECT),
    ],
)
def test_flags_may_be_given_for_the_whole(
    flags: str, pattern: str, text: str, verdict: bool
) -> None:
    assert Pattern(pattern, flags=flags).matches(text) is verdict


@pytest.mark.parametrize(("dialect", "flag"), [("python", "v"), ("ecma", "x")])
def test_unknown_flags_are_named(dialect: Literal["python", "ecma"], flag: str) -> None:
    with pytest.raises(GrammarError, match=f'there is no flag "{flag}"'):
        Pattern("a", dialect=dialect, flags=flag)


@pytest.mark.parametrize("pattern", ["a{1000}", "[a-z]{1,256}", "(?:ab|c){0,100000}"])
def test_counts_are_not_unrolled(pattern: str) -> None:
    assert len(Pattern(pattern).arena) < 12


def test_a_search_for_an_anchored_pattern_is_the_pattern() -> None:
    pattern = Pattern(r"^\d{4}-\d{2}$", search=True, dialect="ecma")
    assert pattern.kinds() == {"sequence", "repeat", "class", "literal"}
    assert len(pattern.arena) <= len(Pattern(r"\d{4}-\d{2}").arena) + 4


def test_the_final_newline_is_pythons_only_when_searching() -> None:
    assert Pattern("^a$", search=True).matches("a\n")
    assert not Pattern("^a$").matches("a\n")
    assert not Pattern("^a$", search=True, dialect="ecma").matches("a\n")
    assert re.search("^a$", "a\n")


def test_an_unknown_dialect_is_named() -> None:
    with pytest.raises(ValueError, match='dialect must be "python" or "ecma", not \'pcre\''):
        Pattern("a", dialect="pcre")  # type: ignore[arg-type]
