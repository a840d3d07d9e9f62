"""Mask rows on a device: numbers stand for the masks of matchers, whatever was there before."""

from __future__ import annotations

import random

import pytest
import torch

import guided
from guided.errors import LimitError
from guided.masks import RowMirror

TOKENS: list[bytes | None] = [bytes([byte]) for byte in range(97, 123)]
VOCABULARY = guided.Vocabulary.from_tokens([*TOKENS, None], eos=[26], size=70)


def automaton(pattern: str) -> guided.Automaton:
    return guided.Grammar.from_regex(pattern).compile(VOCABULARY)


def check(mirror: RowMirror, matchers: list[guided.Matcher | None]) -> None:
    """Hold masked logits to what each matcher's own mask gives."""
    logits = torch.randn(len(matchers), VOCABULARY.size)
    wanted = logits.clone()
    for row, matcher in zip(wanted, matchers, strict=True):
        if matcher is not None:
            mask = guided.allocate_mask(1, VOCABULARY)
            matcher.fill_mask(mask[0])
            guided.apply_mask(row, mask[0])
    guided.apply_mask(logits, mirror.rows, numbers=mirror.numbers(matchers))
    assert torch.equal(logits, wanted)


def test_numbers_stand_for_the_masks_of_their_matchers() -> None:
    mirror = RowMirror(VOCABULARY, "cpu", rows=8)
    walk = automaton("abc|xyz").matcher()
    matchers = [automaton("[a-m]+").matcher(), None, walk, automaton("[n-z]").matcher()]
    check(mirror, matchers)
    walk.accept(0)
    check(mirror, matchers)


def test_a_row_is_sent_once() -> None:
    mirror = RowMirror(VOCABULARY, "cpu", rows=8)
    one = automaton("[a-m]+")
    for _ in range(3):
        mirror.numbers([one.matcher(), one.matcher(), None])
    assert (mirror.misses, mirror.hits) == (1, 2)


def test_rows_used_longest_ago_make_room() -> None:
    mirror = RowMirror(VOCABULARY, "cpu", rows=2)
    a, b, c = (automaton(pattern).matcher() for pattern in ("a", "b", "c"))
    check(mirror, [a, b])
    check(mirror, [a])
    check(mirror, [c])  # in the place of b
    check(mirror, [a, c])
    assert mirror.misses == 3
    check(mirror, [b, c])  # in the place of a
    assert mirror.misses == 4


def test_random_steps_over_a_mirror_that_is_too_small() -> None:
    generator = random.Random(4)
    mirror = RowMirror(VOCABULARY, "cpu", rows=4)
    automata = [automaton(pattern) for pattern in ("[a-f]*", "(ab|ba)+", "x?yz", "[^q]+", "abcdef")]
    for _ in range(40):
        matchers: list[guided.Matcher | None] = []
        for made in generator.sample(automata, 4):
            matcher = made.matcher()
            for _ in range(generator.randrange(3)):
                if allowed := [token for token in matcher.allowed_tokens() if token < 26]:
                    matcher.accept(generator.choice(allowed))
            matchers.append(generator.choice([matcher, matcher, matcher, None]))
        check(mirror, matchers)


def test_more_rows_at_once_than_there_are_is_refused() -> None:
    mirror = RowMirror(VOCABULARY, "cpu", rows=1)
    with pytest.raises(LimitError) as caught:
        mirror.numbers([automaton("a").matcher(), automaton("b").matcher()])
    assert str(caught.value) == (
        "a step needs 2 different mask rows on the device: over the limit of 1 rows of a mirror\n"
        "  mend: raise rows (now 1)"
    )
    check(mirror, [automaton("a").matcher(), None])


def test_a_mirror_has_a_row() -> None:
    with pytest.raises(ValueError, match="a mirror has at least one row, found 0"):
        RowMirror(VOCABULARY, "cpu", rows=0)
