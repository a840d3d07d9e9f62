"""The tree of outputs: the matcher of each place is one that read the output from its beginning."""

from __future__ import annotations

import random

import pytest

import guided
from guided.errors import TokenRejected
from guided.integrations import prefixes
from guided.integrations.prefixes import OutputTree

TOKENS = [b"a", b"b", b"ab", b"ba", b"c", b"!", None, None]
END, PAD = 6, 7
VOCABULARY = guided.Vocabulary.from_tokens(TOKENS, eos=[END])
AUTOMATON = guided.Grammar.from_regex(r"(a|ba?|cc){0,12}!?").compile(VOCABULARY)


def fresh(tokens: list[int]) -> guided.Matcher:
    matcher = AUTOMATON.matcher()
    matcher.accept_all(tokens)
    return matcher


@pytest.mark.parametrize("matchers", [1, 3, 512])
def test_a_walk_to_and_fro_finds_the_right_matcher_each_time(matchers: int) -> None:
    tree = OutputTree(AUTOMATON, matchers=matchers)
    source = random.Random(5)
    outputs: list[list[int]] = [[]]
    for _ in range(600):
        output = list(source.choice(outputs[-40:]))
        place = tree.follow(output)
        if place.is_over:
            assert output[-1] == END
            continue
        expected = fresh(output)
        assert tree.matcher(place).tokens == output
        assert tree.matcher(place).allowed_tokens() == expected.allowed_tokens()
        token = source.choice(expected.allowed_tokens())
        outputs.append([*output, token])
        assert tree.step(place, token) is tree.follow(outputs[-1])
    assert len(outputs) > 300


def test_only_the_last_matchers_are_kept() -> None:
    tree = OutputTree(AUTOMATON, matchers=2)
    places = [tree.follow([0] * length) for length in range(1, 6)]
    assert [place.matcher is not None for place in places] == [False, False, False, True, True]
    assert tree.matcher(places[0]).tokens == [0]
    assert [place.matcher is not None for place in places] == [True, False, False, False, True]


def test_a_tree_that_is_full_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefixes, "PLACES", 4)
    tree = OutputTree(AUTOMATON, matchers=2)
    place, output = tree.root, []
    for token in (0, 1, 2, 3, 0, 4, 4, 5):
        place = tree.step(place, token)
        output.append(token)
        assert tree.matcher(place).tokens == output
        assert tree.matcher(tree.follow(output)).tokens == output


def test_nothing_comes_after_the_end() -> None:
    tree = OutputTree(AUTOMATON)
    place = tree.follow([0, END])
    assert place.is_over
    assert tree.follow([0, END, PAD, PAD, 0]) is place


def test_padding_ends_what_something_else_has_stopped() -> None:
    tree = OutputTree(AUTOMATON, ends={END, PAD})
    assert not tree.follow([4]).is_over
    assert tree.follow([4, PAD]).is_over
    assert tree.follow([4, END]).is_over  # "c" is no text of the grammar


def test_a_token_that_is_refused_is_named_by_its_number() -> None:
    tree = OutputTree(AUTOMATON, ends={END})
    with pytest.raises(TokenRejected) as raised:
        tree.follow([0, 4, 0])
    assert raised.value.place == "at token 2 of the output"
    assert raised.value.token == 0
    with pytest.raises(TokenRejected, match="at token 12 of the output"):
        tree.follow([0], tree.follow([0, 4]), before=12)
    assert OutputTree(AUTOMATON, refused="end").follow([0, 4, 0]).is_over
