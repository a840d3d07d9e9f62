"""Random patterns: what compiles from them matches what Python's `re` matches."""

from __future__ import annotations

import itertools
import re

from hypothesis import strategies as st

from guided import _core
from guided.text.regex import compile_regex
from tests.laws.law import law

# Short texts over the alphabet of the patterns, and a line break, which "." does not match.
TEXTS = ["".join(text) for n in range(5) for text in itertools.product("ab1é", repeat=n)]
TEXTS += ["\n", "a\nb", "ab\n", "a b", "_", "A", "aB", "abab1abab", "a" * 9, "é" * 6]

LETTERS = ["a", "b", "ab", "é", "1", "_", "(?:)", "", r"\x61", r"\u00e9"]
CLASSES = [".", r"\d", r"\w", r"\W", r"\s", r"\D", "[ab]", "[^a]", "[^b1]", "[a-é]", r"[\d_]"]
ATOMS = st.sampled_from(LETTERS) | st.sampled_from(CLASSES)
QUANTIFIERS = st.sampled_from(
    ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,3}", "{2,}", "{,2}", "{1,3}?", "{0}"]
)


def patterns() -> st.SearchStrategy[str]:
    return st.recursive(
        ATOMS,
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map("".join),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
            inner.map("({})".format),
            st.tuples(inner, QUANTIFIERS).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
            st.tuples(st.sampled_from(["(?i:", "(?s:"]), inner).map(lambda p: f"{p[0]}{p[1]})"),
        ),
        max_leaves=6,
    )


@law(patterns())
def test_a_pattern_matches_whole_texts_as_in_python(pattern: str) -> None:
    arena = _core.Arena()
    node = compile_regex(arena, pattern)
    wanted = re.compile(pattern, re.ASCII)
    for text in TEXTS:
        assert arena.matches(node, text) is (wanted.fullmatch(text) is not None), text


@law(patterns())
def test_a_pattern_is_found_as_in_python(pattern: str) -> None:
    arena = _core.Arena()
    node = compile_regex(arena, pattern, search=True)
    wanted = re.compile(pattern, re.ASCII)
    for text in TEXTS:
        assert arena.matches(node, text) is (wanted.search(text) is not None), text


@law(st.tuples(*[patterns()] * 3), st.sampled_from(["^", r"\b", r"\B", "$", r"\Z", r"\A", ""]))
def test_anchors_inside_patterns_mean_what_they_do_in_python(
    parts: tuple[str, str, str], anchor: str
) -> None:
    first, second, third = parts
    pattern = f"(?:{first}|{anchor}{second}){anchor}{third}"
    arena = _core.Arena()
    node = compile_regex(arena, pattern, search=True)
    wanted = re.compile(pattern, re.ASCII)
    for text in TEXTS:
        # In Python "$" also matches before a final line break, and \B not in the empty text.
        if not (anchor == "$" and text.endswith("\n")) and not (anchor == r"\B" and text == ""):
            assert arena.matches(node, text) is (wanted.search(text) is not None), text


LOOKS = st.sampled_from(["(?=", "(?!"])


@law(patterns(), LOOKS, patterns(), patterns())
def test_looking_ahead_means_what_it_does_in_python(
    first: str, look: str, second: str, third: str
) -> None:
    pattern = f"{first}{look}{second}){third}"
    arena = _core.Arena()
    node = compile_regex(arena, pattern)
    wanted = re.compile(pattern, re.ASCII)
    for text in TEXTS:
        assert arena.matches(node, text) is (wanted.fullmatch(text) is not None), text
