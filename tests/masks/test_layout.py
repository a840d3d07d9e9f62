"""The bits of a mask."""

from __future__ import annotations

import pytest
import torch

from guided.errors import ShapeError
from guided.masks import allocate_mask, unpack_bits


@pytest.mark.parametrize(("size", "words"), [(1, 1), (31, 1), (32, 1), (33, 2), (128_256, 4008)])
def test_a_row_has_a_word_for_each_32_tokens_begun(size: int, words: int) -> None:
    assert allocate_mask(3, size).shape == (3, words)


def test_a_new_mask_allows_nothing() -> None:
    mask = allocate_mask(2, 70)
    assert mask.dtype == torch.int32
    assert mask.is_contiguous()
    assert not unpack_bits(mask).any()


def test_the_width_may_come_from_a_vocabulary() -> None:
    class Sized:
        size = 65

    assert allocate_mask(1, Sized()).shape == (1, 3)


@pytest.mark.parametrize(("batch", "size"), [(-1, 10), (1, 0)])
def test_a_mask_without_width_is_refused(batch: int, size: int) -> None:
    with pytest.raises(ValueError, match="batch >= 0 and a width >= 1"):
        allocate_mask(batch, size)


def test_bit_j_of_word_w_is_token_32w_plus_j() -> None:
    mask = torch.tensor([[1 << 5, -(1 << 31)], [-1, 0]], dtype=torch.int32)
    bits = unpack_bits(mask)
    assert bits.shape == (2, 64)
    assert bits[0].nonzero().flatten().tolist() == [5, 63]
    assert bits[1].nonzero().flatten().tolist() == list(range(32))


def test_one_row_alone_is_unpacked_too() -> None:
    assert unpack_bits(torch.tensor([2], dtype=torch.int32)).nonzero().tolist() == [[1]]


def test_words_of_another_type_are_refused() -> None:
    with pytest.raises(ShapeError) as caught:
        unpack_bits(torch.zeros((2, 3), dtype=torch.int64))
    assert str(caught.value) == (
        "a mask cannot be unpacked: wanted (..., W) int32, found (2, 3) int64"
    )
