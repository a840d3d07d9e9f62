"""States and masks after the tokens of a draft, against a matcher that is moved there."""

from __future__ import annotations

import random

import numpy as np
import pytest

from guided._core import fill_masks
from guided.grammar import Grammar, Matcher
from guided.vocabulary import Vocabulary

TOKENS: list[bytes | None] = [b"a", b"b", b"ab", b"ba", b"c", b"", None, b"x"]
VOCABULARY = Vocabulary.from_tokens(TOKENS, eos=[6])
GRAMMARS = ["(ab|c)*", "a{2,5}(b|c)", "[abc]{0,4}", "x?abc"]


def make_draft(chance: random.Random, size: int) -> tuple[list[int], list[int]]:
    tokens = [chance.randrange(len(TOKENS)) for _ in range(size)]
    return tokens, [chance.randrange(-1, place) for place in range(size)]


def walk(matcher: Matcher, draft: tuple[list[int], list[int]]) -> list[Matcher | None]:
    """A matcher after each token of the draft, None where it is not allowed."""
    reached: list[Matcher | None] = []
    for token, parent in zip(*draft, strict=True):
        before = matcher if parent < 0 else reached[parent]
        after = before.fork() if before is not None and before.can_accept(token) else None
        if after is not None:
            after.accept(token)
        reached.append(after)
    return reached


def row_of(matcher: Matcher | None) -> list[int]:
    row = np.zeros(VOCABULARY.words, np.int32)
    if matcher is not None:
        matcher.fill_mask(row)
    return [int(word) for word in row]


@pytest.mark.parametrize("seed", range(40))
def test_drafts_are_as_walking_there(seed: int) -> None:
    chance = random.Random(seed)
    automata = [Grammar.from_regex(text).compile(VOCABULARY) for text in GRAMMARS]
    matchers = [chance.choice(automata).matcher() for _ in range(4)]
    drafts = [make_draft(chance, chance.randrange(9)) for _ in matchers]
    before = [matcher.state() for matcher in matchers]
    count = len(matchers) + sum(len(tokens) for tokens, _ in drafts)
    rows = np.full((count, VOCABULARY.words), -1, np.int32)
    if not fill_masks(matchers, rows, drafts=drafts, only_known=True):
        assert (rows == -1).all()
    assert fill_masks(matchers, rows, drafts=drafts)
    expected = []
    for matcher, draft in zip(matchers, drafts, strict=True):
        reached = walk(matcher, draft)
        expected += [row_of(matcher), *map(row_of, reached)]
        states = [-1 if after is None else after.state() for after in reached]
        assert matcher.states_after(*draft) == states
    assert [[int(word) for word in row] for row in rows] == expected
    assert [matcher.state() for matcher in matchers] == before
    again = np.zeros_like(rows)
    assert fill_masks(matchers, again, drafts=drafts, only_known=True)
    assert (again == rows).all()


def test_without_parents_a_draft_is_a_chain() -> None:
    matcher = Grammar.from_regex("abab").compile(VOCABULARY).matcher()
    assert matcher.states_after([0, 1, 2]) == matcher.states_after([0, 1, 2], [-1, 0, 1])
    assert matcher.states_after([0, 0, 1])[1:] == [-1, -1]
    rows = np.zeros((3, VOCABULARY.words), np.int32)
    fill_masks([matcher], rows, drafts=[([0, 1], None)])
    assert rows[:, 0].tolist() == [0b101, 0b1010, 0b101]


def test_a_mask_is_known_once_it_was_made() -> None:
    matcher = Grammar.from_regex("[a-c]x{3}").compile(VOCABULARY).matcher()
    matcher.accept(0)
    assert not matcher.has_mask
    row_of(matcher)
    assert matcher.has_mask


@pytest.mark.parametrize(
    ("draft", "error"),
    [
        (([0, 1], [-1]), "a parent for each of its tokens"),
        (([0, 1], [-1, 1]), "a token before it"),
        (([0], [-2]), "a token before it"),
    ],
)
def test_what_is_no_tree_is_refused(draft: tuple[list[int], list[int]], error: str) -> None:
    matcher = Grammar.from_regex("a*").compile(VOCABULARY).matcher()
    with pytest.raises(ValueError, match=error):
        matcher.states_after(*draft)
    with pytest.raises(ValueError, match="a draft for each matcher"):
        fill_masks([matcher], np.zeros((1, 1), np.int32), drafts=[])
