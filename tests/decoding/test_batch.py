"""Packed batches: where rows go, what they see; padded input comes in without its padding."""

from __future__ import annotations

import pytest
import torch

from guided.decoding.batch import Batch, SequenceRows, unpad
from guided.errors import ShapeError

TREE = SequenceRows([5, 6, 7, 8], 9, [3, 8, 2], (-1, 0, 0, 2))
CHAIN = SequenceRows([9, 1], 6, [5, 6])


def test_the_tensors_of_a_batch() -> None:
    batch = Batch([CHAIN, SequenceRows([4], 1, [7])], 4)
    assert batch.tokens.tolist() == [9, 1, 4]
    assert batch.positions.tolist() == [4, 5, 0]
    assert batch.starts.tolist() == [0, 2, 3]
    assert batch.lengths.tolist() == [6, 1]
    assert batch.tables.tolist() == [[5, 6], [7, 0]]
    assert batch.slots.tolist() == [24, 25, 28]
    assert batch.visible is None
    assert (batch.size, batch.most_rows, batch.longest) == (3, 2, 6)
    assert batch.starts.dtype == batch.lengths.dtype == batch.tables.dtype == torch.int32
    assert batch.tokens.dtype == batch.positions.dtype == batch.slots.dtype == torch.int64


def test_rows_of_a_tree_stand_at_their_depth_and_see_their_ancestors() -> None:
    batch = Batch([CHAIN, TREE], 4)
    assert batch.positions.tolist() == [4, 5, 5, 6, 6, 7]
    assert batch.slots.tolist() == [24, 25, 33, 34, 35, 8]
    assert batch.visible is not None
    assert batch.visible.int().tolist() == [
        [1, 0, 0, 0],
        [1, 1, 0, 0],
        [1, 0, 0, 0],
        [1, 1, 0, 0],
        [1, 0, 1, 0],
        [1, 0, 1, 1],
    ]


def test_consecutive_slots_are_known() -> None:
    assert Batch([CHAIN], 4).first_slot == 24
    assert Batch([CHAIN, SequenceRows([2], 11, [1, 3, 6])], 4).first_slot == 24
    assert Batch([CHAIN, SequenceRows([2], 1, [9])], 4).first_slot is None


def test_a_batch_is_built_once_a_device() -> None:
    batch = Batch([CHAIN], 4)
    assert batch.to(torch.device("cpu")) is batch
    meta = batch.to(torch.device("meta"))
    assert meta.tokens.device.type == "meta"
    assert meta.to(torch.device("cpu")) is batch


def test_padding_is_taken_off_on_either_side() -> None:
    tokens = torch.tensor([[0, 0, 5, 6], [7, 8, 9, 0]])
    mask = torch.tensor([[0, 0, 1, 1], [1, 1, 1, 0]])
    assert unpad(tokens, mask) == [[5, 6], [7, 8, 9]]
    assert unpad(tokens) == [[0, 0, 5, 6], [7, 8, 9, 0]]


@pytest.mark.parametrize(
    ("tokens", "mask", "complaint"),
    [
        (torch.zeros(3), None, r"wanted \(B, T\), found \(3,\)"),
        (torch.zeros(2, 3), torch.ones(2, 4), r"wanted \(2, 3\), found \(2, 4\)"),
        (torch.zeros(2, 3), torch.tensor([[1, 1, 1], [0, 0, 0]]), "row 1 of attention_mask"),
    ],
)
def test_other_shapes_are_refused(
    tokens: torch.Tensor, mask: torch.Tensor | None, complaint: str
) -> None:
    with pytest.raises(ShapeError, match=complaint):
        unpad(tokens.long(), mask)
