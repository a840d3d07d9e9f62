"""The lexing of the oracle against `re`, whose longest matches it must find, on all short texts."""

from __future__ import annotations

import itertools
import re

import pytest

from tests.reference import Arena, accepts, is_viable_prefix

TEXTS = ["".join(text) for n in range(6) for text in itertools.product("abc", repeat=n)]
LITERALS = ["a", "ab", "abc", "b", "bc", "c"]


@pytest.mark.parametrize("words", [("a", "ab", "c"), ("a", "abc", "bc"), ("ab", "b"), ("abc", "a")])
def test_a_text_of_longest_matches_is_read_as_by_re(words: tuple[str, ...]) -> None:
    arena = Arena()
    longest = arena.choice([arena.literal(word) for word in words])
    start = arena.repeat(arena.lexeme(longest, longest))
    lexer = re.compile("|".join(sorted(words, key=len, reverse=True)))
    for text in TEXTS:
        place = 0
        while match := lexer.match(text, place):
            place = match.end()
        assert accepts(arena, start, text) is (place == len(text)), text


def test_a_run_is_as_long_as_it_can_be() -> None:
    arena = Arena()
    letters, word = arena.repeat(arena.literal("a"), 1), arena.literal("ab")
    longer = arena.choice([letters, word])
    run, pair = arena.lexeme(letters, longer), arena.lexeme(word, longer)
    start = arena.sequence([run, arena.repeat(run, 0, 1), arena.repeat(pair, 0, 1)])
    verdicts = {"a": True, "aaa": True, "ab": False, "aab": False}
    assert {text: accepts(arena, start, text) for text in verdicts} == verdicts
    assert not is_viable_prefix(arena, start, "ab")


def test_a_keyword_is_no_name_and_no_beginning_of_one() -> None:
    arena = Arena()
    word = arena.repeat(arena.char_class([(0x61, 0x7A)]), 1, None)
    name = arena.lexeme(arena.minus(word, arena.literal("if")), word)
    keyword = arena.lexeme(arena.literal("if"), word)
    mark, end = (arena.lexeme(arena.literal(text), arena.literal(text)) for text in "!.")
    start = arena.choice([arena.sequence([name, mark]), arena.sequence([keyword, end])])
    verdicts = {"if!": False, "if.": True, "iff!": True, "iff.": False, "i!": True, "i.": False}
    assert {text: accepts(arena, start, text) for text in verdicts} == verdicts
    assert is_viable_prefix(arena, start, "if")
    assert not is_viable_prefix(arena, start, "if!")
