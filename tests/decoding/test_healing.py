"""How many tokens are taken back from a prompt: as many as may be the beginning of a longer one."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from guided import Vocabulary
from guided.decoding.healing import spelled, taken_back
from tests.laws.law import law

TOKENS = [b"a", b"b", b"c", b"ab", b"abc", b"bca", b"cabb", b"\xc3", b"\xa9", b"\xc3\xa9a", None]
VOCABULARY = Vocabulary.from_tokens(TOKENS, eos=[len(TOKENS) - 1])
A, B, C, AB, ABC, BCA, CABB, LEAD, TAIL, _, END = range(len(TOKENS))


@pytest.mark.parametrize(
    ("prompt", "count"),
    [
        pytest.param([B, C, A], 2, id="both begin cabb"),
        pytest.param([B, AB], 1, id="ab begins abc"),
        pytest.param([C, B], 1, id="b begins bca"),
        pytest.param([B, C, AB], 2, id="the most that there are"),
        pytest.param([A, ABC], 0, id="nothing is longer"),
        pytest.param([A], 0, id="the model must be shown something"),
        pytest.param([C, A, B], 2, id="the first token stays"),
        pytest.param([A, C, A, B], 3, id="of three tokens none by itself"),
        pytest.param([C, END, A], 1, id="up to a special token"),
        pytest.param([C, A, END], 0, id="a special token at the end"),
        pytest.param([B, LEAD, TAIL], 2, id="halves of a character"),
    ],
)
def test_tokens_are_taken_back(prompt: list[int], count: int) -> None:
    assert taken_back(prompt, VOCABULARY) == count


@law(st.lists(st.integers(0, END), min_size=1, max_size=6))
def test_the_count_is_the_greatest_that_begins_a_longer_token(prompt: list[int]) -> None:
    found = [0]
    for count in range(1, len(prompt)):
        last = prompt[-count:]
        if END in last:
            break
        text = spelled(last, VOCABULARY)
        if any(token and token != text and token.startswith(text) for token in TOKENS):
            found.append(count)
    assert taken_back(prompt, VOCABULARY) == max(found)


def test_a_vocabulary_of_single_bytes_takes_nothing_back() -> None:
    bytes_only = Vocabulary.from_tokens([bytes([each]) for each in range(256)] + [None], [256])
    assert taken_back([1, 2, 3], bytes_only) == 0
