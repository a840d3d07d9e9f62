"""A mask applied to logits, against the loop that defines it."""

from __future__ import annotations

import itertools
import random

import pytest
import torch
from torch import Tensor

from guided.errors import ShapeError
from guided.masks import apply_mask
from guided.masks.apply import apply_by_torch

DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float64]


def defined(logits: Tensor, mask: Tensor) -> Tensor:
    """The definition, bit by bit; logits (B, V), mask (B, W)."""
    masked = logits.clone()
    words = mask.tolist()
    for b, v in itertools.product(range(logits.shape[0]), range(logits.shape[1])):
        if v >= 32 * mask.shape[1] or not (words[b][v // 32] >> (v % 32)) & 1:
            masked[b, v] = -torch.inf
    return masked


def random_mask(batch: int, words: int, generator: random.Random) -> Tensor:
    """Words of all kinds: empty, full, and mixed ones."""

    def word() -> int:
        return generator.choice([0, -1, generator.randrange(-(1 << 31), 1 << 31)])

    rows = [[word() for _ in range(words)] for _ in range(batch)]
    return torch.tensor(rows, dtype=torch.int32).reshape(batch, words)


def same(left: Tensor, right: Tensor) -> bool:
    """Equal, with NaN equal to NaN."""
    return bool(torch.equal(left.isnan(), right.isnan())) and bool(
        torch.equal(left.nan_to_num(nan=0.0), right.nan_to_num(nan=0.0))
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_forbidden_logits_become_minus_infinity_and_the_rest_stays(dtype: torch.dtype) -> None:
    generator = random.Random(1)
    for width in [1, 2, 31, 32, 33, 63, 64, 65, 100, 160, 200]:
        for words in {0, (width // 32), -(-width // 32)}:
            logits = torch.randn(3, width).to(dtype)
            logits[torch.rand(3, width) < 0.1] = torch.nan
            mask = random_mask(3, words, generator)
            wanted = defined(logits, mask)
            apply_mask(logits, mask)
            assert same(logits, wanted), (width, words)


def test_rows_may_be_strided_and_nothing_between_them_is_touched() -> None:
    memory = torch.randn(4, 2, 80)
    before = memory.clone()
    logits = memory[:, 0, :70]  # rows 160 apart
    mask = random_mask(4, 3, random.Random(2))
    wanted = defined(logits, mask)
    apply_mask(logits, mask)
    assert torch.equal(logits, wanted)
    assert torch.equal(memory[:, 1], before[:, 1])
    assert torch.equal(memory[:, 0, 70:], before[:, 0, 70:])


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda x: x.t().contiguous().t(), id="columns first"),
        pytest.param(lambda x: x.repeat(1, 2)[:, ::2].clone()[:, :], id="plain"),
        pytest.param(lambda x: x.repeat_interleave(2, dim=1)[:, ::2], id="every other element"),
    ],
)
def test_any_stride_of_the_elements_will_do(make: object) -> None:
    assert callable(make)
    logits = make(torch.randn(3, 70))
    mask = random_mask(3, 3, random.Random(3))
    wanted = defined(logits, mask)
    apply_mask(logits, mask)
    assert torch.equal(logits, wanted)


def test_a_strided_mask_will_do() -> None:
    wide = random_mask(3, 6, random.Random(4))
    for mask in [wide[:, :3], wide[:, ::2], wide.t().contiguous().t()[:, :3]]:
        logits = torch.randn(3, 90)
        wanted = defined(logits, mask)
        apply_mask(logits, mask)
        assert torch.equal(logits, wanted)


def test_one_sequence_needs_no_batch_dimension() -> None:
    logits, mask = torch.randn(50), torch.tensor([7, 0], dtype=torch.int32)
    kept = logits[:3].clone()
    apply_mask(logits, mask)
    assert torch.equal(logits[:3], kept)
    assert (logits[3:] == -torch.inf).all()


def test_many_threads_give_the_same() -> None:
    logits = torch.randn(7, 700_000)  # large enough to be shared out
    mask = torch.randint(-(1 << 31), 1 << 31, (7, 21_875)).int()
    alone = logits.clone()
    apply_mask(logits, mask, threads=3)
    apply_mask(alone, mask, threads=1)
    assert torch.equal(logits, alone)
    assert torch.equal(logits[:, :640], defined(logits[:, :640], mask[:, :20]))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_torch_operations_do_the_same_as_the_kernel(dtype: torch.dtype) -> None:
    mask = random_mask(4, 5, random.Random(5))
    logits = torch.randn(4, 170).to(dtype)
    other = logits.clone()
    apply_mask(logits, mask)
    apply_by_torch(other, mask)
    assert torch.equal(logits, other)


def test_a_nan_at_a_forbidden_place_goes_away() -> None:
    logits = torch.tensor([torch.nan, 1.0, torch.nan, torch.inf])
    apply_mask(logits, torch.tensor([0b0010], dtype=torch.int32))
    assert logits.tolist() == [-torch.inf, 1.0, -torch.inf, -torch.inf]


def test_nothing_is_done_to_an_empty_batch() -> None:
    apply_mask(torch.zeros(0, 40), torch.zeros((0, 2), dtype=torch.int32))


def test_autograd_sees_the_mask() -> None:
    weights = torch.ones(40, requires_grad=True)
    logits = weights * 2
    apply_mask(logits, torch.tensor([0b11, 0], dtype=torch.int32))
    [gradient] = torch.autograd.grad(logits[:2].sum(), weights)
    assert gradient.tolist() == [2.0, 2.0] + [0.0] * 38


INT32 = torch.int32


@pytest.mark.parametrize(
    ("logits", "mask", "message"),
    [
        pytest.param(
            torch.zeros(2, 40),
            torch.zeros((3, 2), dtype=INT32),
            "the mask does not belong to logits of width 40:"
            " wanted (2, W) int32 on cpu with W at most 2, found (3, 2) int32 on cpu",
            id="another batch",
        ),
        pytest.param(
            torch.zeros(2, 40),
            torch.zeros((2, 3), dtype=INT32),
            "the mask does not belong to logits of width 40:"
            " wanted (2, W) int32 on cpu with W at most 2, found (2, 3) int32 on cpu",
            id="too many words",
        ),
        pytest.param(
            torch.zeros(40),
            torch.zeros((1, 2), dtype=INT32),
            "the mask does not belong to logits of width 40:"
            " wanted (W) int32 on cpu with W at most 2, found (1, 2) int32 on cpu",
            id="another number of dimensions",
        ),
        pytest.param(
            torch.zeros(2, 40),
            torch.zeros((2, 40), dtype=torch.bool),
            "the mask does not belong to logits of width 40:"
            " wanted (2, W) int32 on cpu with W at most 2, found (2, 40) bool on cpu",
            id="a mask of booleans",
        ),
        pytest.param(
            torch.zeros(2, 40),
            torch.zeros((2, 2), dtype=INT32, device="meta"),
            "the mask does not belong to logits of width 40:"
            " wanted (2, W) int32 on cpu with W at most 2, found (2, 2) int32 on meta",
            id="another device",
        ),
        pytest.param(
            torch.zeros((2, 40), dtype=torch.int64),
            torch.zeros((2, 2), dtype=INT32),
            "these logits cannot be masked: wanted (B, V) or (V,) of float32, float16, bfloat16 or"
            " float64, found (2, 40) int64 on cpu",
            id="whole numbers",
        ),
        pytest.param(
            torch.zeros(2, 1, 40),
            torch.zeros((2, 1, 2), dtype=INT32),
            "these logits cannot be masked: wanted (B, V) or (V,) of float32, float16, bfloat16 or"
            " float64, found (2, 1, 40) float32 on cpu",
            id="three dimensions",
        ),
    ],
)
def test_what_does_not_fit_is_refused_and_named(logits: Tensor, mask: Tensor, message: str) -> None:
    before = logits.clone()
    with pytest.raises(ShapeError) as caught:
        apply_mask(logits, mask)
    assert str(caught.value) == message
    assert torch.equal(logits, before)
