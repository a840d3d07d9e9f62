"""The allowed tokens by name, where they are few."""

from __future__ import annotations

import random

import pytest
import torch

from guided.masks import allocate_mask
from guided.masks.allowed import allowed_tokens


def row_of(tokens: list[int], size: int) -> torch.Tensor:
    row = allocate_mask(1, size)[0]  # (W,)
    for token in tokens:
        word = int(row[token // 32]) & 0xFFFFFFFF | 1 << token % 32
        row[token // 32] = word - (1 << 32) if word >> 31 else word
    return row


@pytest.mark.parametrize("seed", range(20))
def test_they_are_the_bits_that_are_set(seed: int) -> None:
    generator = random.Random(seed)
    size = generator.choice([1, 31, 32, 33, 1000])
    tokens = sorted(generator.sample(range(size), generator.randint(0, min(size, 40))))
    found = allowed_tokens(row_of(tokens, size), 40)
    assert found is not None
    assert found.dtype == torch.int64
    assert found.tolist() == tokens


@pytest.mark.parametrize("tokens", [[0, 1, 2], [0, 32, 64], [31, 63, 95]])
def test_more_than_asked_for_are_not_named(tokens: list[int]) -> None:
    row = row_of(tokens, 100)
    assert allowed_tokens(row, 2) is None
    found = allowed_tokens(row, 3)
    assert found is not None
    assert found.tolist() == tokens
