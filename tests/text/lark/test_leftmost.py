"""Terminals against Python's `re`: the match ends where `re` ends it, on all short texts."""

from __future__ import annotations

import contextlib
import itertools
import re
import signal
import time
import warnings
from collections.abc import Iterable
from functools import reduce
from importlib import import_module
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guided._core import Arena
from guided.errors import GrammarError, LimitError, UnsupportedError
from guided.text.lark.leftmost import Leftmost, leftmost_first

STRING = r"""([ubf]?r?|r[ubf])("(?!"").*?(?<!\\)(\\\\)*?"|'(?!'').*?(?<!\\)(\\\\)*?')"""
LONG_STRING = r'''([ubf]?r?|r[ubf])(""".*?(?<!\\)(\\\\)*?"""|\'\'\'.*?(?<!\\)(\\\\)*?\'\'\')'''
DEC_NUMBER = r"(?:[1-9](?:_?[0-9])*|0(?:_?0)*(?![1-9]))"


def texts_over(alphabet: str, length: int) -> list[str]:
    lengths = range(length + 1)
    return ["".join(each) for n in lengths for each in itertools.product(alphabet, repeat=n)]


def give_up(*_: object) -> None:
    raise TimeoutError


class Terminal:
    """A pattern in an arena of its own."""

    def __init__(self, pattern: str, flags: str = "") -> None:
        self.arena = Arena()
        self.found: Leftmost = leftmost_first(self.arena, pattern, flags)
        bits = (getattr(re, letter.upper()) for letter in flags)
        self.oracle = re.compile(pattern, reduce(lambda a, b: a | b, bits, re.RegexFlag(0)))

    def is_body(self, text: str) -> bool:
        return self.arena.matches(self.found.node, text)

    def is_longer(self, text: str) -> bool:
        other = self.found.not_before
        return self.is_body(text) or (other is not None and self.arena.matches(other, text))

    def matches_of_re(self, texts: Iterable[str]) -> dict[str, re.Match[str] | None] | None:
        """What `re` finds at the beginning of each text; None if that takes it for ever.

        It goes back over nested repetitions, which takes exponential time in some random patterns.
        """
        before = signal.signal(signal.SIGALRM, give_up)
        signal.setitimer(signal.ITIMER_REAL, 5)
        try:
            return {text: self.oracle.match(text) for text in texts}
        except TimeoutError:
            return None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def check(self, texts: Iterable[str]) -> None:
        """Compare with `re` on texts, of which each beginning is one of them too."""
        texts = list(texts)
        matches = self.matches_of_re(texts)
        if matches is None:
            return
        body = {text: self.is_body(text) for text in texts}
        longer = {text: self.is_longer(text) for text in texts}
        for text in texts:
            if not text and r"\B" in self.oracle.pattern:
                continue  # before Python 3.14 `\B` did not match in the empty text
            match = matches[text]
            wanted = [] if match is None else [match.end()]
            assert body[text] is (wanted == [len(text)]), (self.oracle.pattern, text)
            ends = [
                end
                for end in range(len(text) + 1)
                if body[text[:end]]
                and not any(longer[text[:other]] for other in range(end + 1, len(text) + 1))
            ]
            if ends or self.found.is_exact:
                assert ends == wanted, (self.oracle.pattern, text)


@pytest.mark.parametrize(
    ("pattern", "alphabet"),
    [
        ("a|ab", "ab"),
        ("ab|a", "ab"),
        ("a|ab|abc", "abc"),
        ("(a|ab)(c|bcd)", "abcd"),
        ("(?:a|ab)*", "ab"),
        ("(?:a|ab)*?b", "ab"),
        ('".*?"', '"a\n'),
        ("a*?b", "ab"),
        ("a??b?", "ab"),
        ("a{2,3}?", "ab"),
        ("(?:|a)*", "ab"),
        ("(?:|a)+?b", "ab"),
        ("(?:a?){2,}?b", "ab"),
        ("(?:a*?)*b?", "ab"),
        (r"/\*(.|\n)*?\*/", "/*\n"),
        (r'".*?(?<!\\)(\\\\)*?"', '"\\a'),
        (r"\/(?!\/)(\\\/|\\\\|[^\/])*?\/[imslux]*", "/\\i"),
        (r"\/\*(\*(?!\/)|[^*])*\*\/", "/*a"),
        (r"[+*]|[?](?![a-z])", "+?a"),
        (LONG_STRING, '"\\a'),
    ],
)
def test_match_ends_where_that_of_re_ends(pattern: str, alphabet: str) -> None:
    Terminal(pattern).check(texts_over(alphabet, 6))


@pytest.mark.parametrize(
    ("pattern", "flags", "alphabet"),
    [
        ("a|AB", "i", "aAbB"),
        ("a.*?b", "s", "ab\n"),
        ("a.*?b", "", "ab\n"),
        ("^a+?$\n", "m", "a\n"),
        ("a *? b", "x", "ab "),
        (r"\w+?\d", "", "a1é٣"),
        ("ſ+?k", "i", "sSſkK"),
        (STRING, "i", "\"'r\\"),
    ],
)
def test_flags_have_the_meaning_of_re(pattern: str, flags: str, alphabet: str) -> None:
    Terminal(pattern, flags).check(texts_over(alphabet, 5))


def test_where_order_is_without_effect_the_node_is_that_of_the_plain_pattern() -> None:
    for pattern in [r"[^\W\d]\w*", "a*?b", "ab|a", r"-?\d+(\.\d+)?", "(?:a|b)*a(?:a|b){20}"]:
        terminal = Terminal(pattern)
        assert terminal.arena.node(terminal.found.node)[0] != "dfa", pattern


def test_text_that_a_look_ahead_forbids_is_told_apart() -> None:
    terminal = Terminal("a(?!b)")
    assert terminal.found.is_exact
    other = terminal.found.not_before
    assert other is not None
    assert [text for text in texts_over("ab", 3) if terminal.arena.matches(other, text)] == ["ab"]


@pytest.mark.parametrize("pattern", ["a$", r"a\b", r"a\Z", "a+(?!b)", "a(?=b|$)", "a(?!b(?!c))"])
def test_look_aheads_beyond_the_end_are_kept(pattern: str) -> None:
    try:
        terminal = Terminal(pattern)
    except UnsupportedError:
        assert pattern == "a(?!b(?!c))"  # `a` is none in `ab`, and is one in `abc`
        return
    terminal.check(texts_over("ab \n", 5))


def test_shorter_match_that_was_passed_over_is_forbidden_and_said_to_be() -> None:
    terminal = Terminal(DEC_NUMBER)
    assert not terminal.found.is_exact
    terminal.check(texts_over("01_", 6))


def test_look_ahead_that_requires_text_beyond_the_end_is_refused() -> None:
    with pytest.raises(UnsupportedError) as caught:
        Terminal("ab(?=c)")
    assert str(caught.value) == (
        "a look-ahead, (?=, requires text beyond the end of the terminal (scope: docs/regex.md)\n"
        "  line 1, column 3\n"
        "    1 | ab(?=c)\n"
        "      |   ^^^\n"
        "  mend: match the text that it looks at, or forbid text by (?!...)"
    )


def test_look_behind_beyond_the_start_is_said_to_be() -> None:
    assert Terminal(r"\ba").found.looks_before
    assert Terminal("a|(?<=ab)c").found.looks_before
    assert not Terminal(r'".*?(?<!\\)"').found.looks_before


@pytest.mark.parametrize(
    ("pattern", "keyword"),
    [
        ("(?>a|ab)c", "an atomic group or possessive quantifier"),
        ("a*+b|c", "an atomic group or possessive quantifier"),
        (r"(a)\1", r"\1"),
        (r"a(?<=(?=a)a)", "a look-ahead within a look-behind"),
    ],
)
def test_what_is_not_supported_is_named(pattern: str, keyword: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        leftmost_first(Arena(), pattern)
    assert caught.value.keyword == keyword


def test_flag_that_no_terminal_has_is_refused() -> None:
    with pytest.raises(GrammarError) as caught:
        leftmost_first(Arena(), "a", "l")
    assert str(caught.value) == (
        'there is no flag "l" for a terminal\n  mend: the flags are i, m, s, u, x'
    )


@pytest.mark.parametrize(
    "pattern",
    [
        "(a|b)*a(a|b){20}",
        ".*?a.{20}b",
        "(.*?){50}",
        "(?:a{0,100}){0,100}?b",
        "(?:(a?){1000}){1000}",
        "(?:a?){30}a{30}",
        "(?!" * 100 + "a" + ")" * 100,
        "(?:" * 1000 + "a" + ")*?" * 1000,
        "(?:(?=a*b)?(?=a*c)?(?=a*d)?a?){50}?.*?e",
        "a??" + "".join(map(chr, range(0x4E00, 0x5E00))),
        "[a-z]{1,100000}",
    ],
)
def test_hostile_patterns_take_no_long(pattern: str) -> None:
    start = time.process_time()
    with contextlib.suppress(LimitError, UnsupportedError):
        leftmost_first(Arena(), pattern)
    assert time.process_time() - start < 10


@pytest.mark.parametrize("name", ["common", "python", "lark", "unicode"])
def test_terminals_of_the_grammars_that_come_with_lark_compile(name: str) -> None:
    load: Any = import_module("lark.load_grammar").load_grammar
    text = files("lark.grammars").joinpath(f"{name}.lark").read_text("utf-8")
    grammar, _ = load(text, name, [], False)
    terminals, _, _ = grammar.compile([], {str(each[0]) for each in grammar.term_defs})
    assert terminals
    for terminal in terminals:
        found = leftmost_first(Arena(), terminal.pattern.to_regexp())
        assert found.is_exact or terminal.name == "DEC_NUMBER"


ATOMS = ["a", "b", "-", "ab", ".", "[ab]", "[^a]", r"\w", r"\n", ""]
QUANTIFIERS = ["", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{1,2}?", "{,2}?", "{2,}?"]
LOOKS = ["^", "$", r"\b", r"\B", r"\A", r"\Z", "(?<=a)", "(?<!ab)", "(?<=b|-)", "(?<!(?<!a)b)"]
TEXTS = texts_over("ab-\n", 4)


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeated = st.builds("(?:{}){}".format, inner, st.sampled_from(QUANTIFIERS))
    items = st.lists(repeated, max_size=3).map("".join)
    return st.one_of(items, st.builds("(?:{}|{})".format, items, items))


def grown_looking(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    ahead = st.builds("(?{}{})".format, st.sampled_from("=!"), inner)
    return grown(st.one_of(inner, ahead, st.sampled_from(LOOKS)))


def check_random(pattern: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        try:
            terminal = Terminal(pattern)
        except (re.error, UnsupportedError, LimitError):
            return
    terminal.check(TEXTS)


@settings(max_examples=150, deadline=None)
@given(st.recursive(st.sampled_from(ATOMS), grown, max_leaves=8))
def test_random_patterns_match_as_in_re(pattern: str) -> None:
    check_random(pattern)


@settings(max_examples=150, deadline=None)
@given(st.recursive(st.sampled_from(ATOMS), grown_looking, max_leaves=8))
def test_random_patterns_that_look_around_match_as_in_re(pattern: str) -> None:
    check_random(pattern)


@pytest.mark.nightly
@settings(max_examples=3_000, deadline=None)
@given(st.recursive(st.sampled_from(ATOMS), grown_looking, max_leaves=10))
def test_many_random_patterns_match_as_in_re(pattern: str) -> None:
    check_random(pattern)
