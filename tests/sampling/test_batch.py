"""Masks and best tokens of several rows at once, over all columns or some of them."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
import torch
from torch import Tensor

from guided.errors import GuidedError
from guided.masks import unpack_bits
from guided.sampling import Sampler, Sampling, best_tokens, mask_logits

ROWS, WIDTH = 4, 70


def random_masks(generator: random.Random) -> Tensor:
    """(R, W) int32, a tenth of the bits set, at least one in each row."""
    allowed = torch.tensor(
        [[generator.random() < 0.1 for _ in range(96)] for _ in range(ROWS)]
    )  # (R, 96)
    allowed[:, generator.randrange(WIDTH)] = True
    allowed[:, WIDTH:] = False
    weights = torch.tensor([1 << bit for bit in range(32)])
    words = (allowed.reshape(ROWS, 3, 32) * weights).sum(-1)  # (R, W) int64
    return torch.where(words >= 1 << 31, words - (1 << 32), words).to(torch.int32)


def columns_of(masks: Tensor) -> Tensor:
    """The ids that any row allows, ascending."""
    return unpack_bits(masks)[:, :WIDTH].any(0).nonzero().squeeze(1)


@pytest.mark.parametrize("seed", range(10))
def test_some_columns_are_masked_as_all_of_them_are(seed: int) -> None:
    masks = random_masks(random.Random(seed))
    whole = torch.randn(ROWS, WIDTH, generator=torch.Generator().manual_seed(seed))
    columns = columns_of(masks)
    some = whole[:, columns]
    mask_logits(whole, masks)
    mask_logits(some, masks, columns)
    assert torch.equal(some, whole[:, columns])
    assert (whole > -torch.inf).sum() == (some > -torch.inf).sum() > 0


@pytest.mark.parametrize("seed", range(10))
def test_the_best_tokens_are_those_of_each_row_alone(seed: int) -> None:
    masks = random_masks(random.Random(seed))
    whole = torch.randn(ROWS, WIDTH, generator=torch.Generator().manual_seed(seed)).round()  # ties
    columns = columns_of(masks)
    some = whole[:, columns]
    greedy = Sampler(Sampling())
    alone = [greedy.choose(row.clone(), mask) for row, mask in zip(whole, masks, strict=True)]
    mask_logits(whole, masks)
    mask_logits(some, masks, columns)
    assert best_tokens(whole) == best_tokens(some, columns) == alone


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_a_row_whose_best_is_not_finite_is_left_to_the_sampler(bad: float) -> None:
    logits = torch.zeros(3, WIDTH)
    logits[1] = bad
    assert best_tokens(logits) == [0, None, 0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("seed", range(5))
def test_a_sampler_draws_from_some_columns_as_from_all(seed: int, dtype: torch.dtype) -> None:
    masks = random_masks(random.Random(seed))
    logits = torch.randn(ROWS, WIDTH, generator=torch.Generator().manual_seed(seed)).to(dtype)
    columns = columns_of(masks)
    options = Sampling(temperature=1.3, top_k=5, seed=seed)
    all_of_them, some_of_them = Sampler(options), Sampler(options)
    drawn: Counter[int] = Counter()
    for _ in range(50):
        for row, mask in zip(logits, masks, strict=True):
            token = all_of_them.choose(row.clone(), mask)
            assert some_of_them.choose(row[columns], mask, columns) == token
            drawn[token] += 1
    assert len(drawn) > 1


@pytest.mark.parametrize("value", [torch.nan, -torch.inf, torch.inf])
def test_columns_that_say_nothing_leave_it_to_the_mask(value: float) -> None:
    masks = random_masks(random.Random(3))
    columns = columns_of(masks)
    lowest = int(unpack_bits(masks[0]).nonzero()[0])
    logits = torch.full((len(columns),), value)
    sampler = Sampler(Sampling())
    if value != value:
        with pytest.warns(RuntimeWarning, match="the model gave NaN"):
            assert sampler.choose(logits, masks[0], columns) == lowest
    else:
        assert sampler.choose(logits, masks[0], columns) == lowest


def test_an_empty_mask_over_some_columns_is_refused() -> None:
    with pytest.raises(GuidedError, match="no token is allowed"):
        Sampler(Sampling()).choose(
            torch.zeros(2), torch.zeros(3, dtype=torch.int32), torch.tensor([4, 9])
        )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("width", [1, 31, 512, 513, 1500])
def test_the_best_tokens_are_those_of_a_loop(dtype: torch.dtype, width: int) -> None:
    draw = random.Random(width)
    odd = [math.nan, -math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0]
    few = [-math.inf, 0.0, -0.0, 2.0, -5.0]
    for _ in range(60):
        pool = draw.choice([odd, few, few[1:3], [-math.inf]])
        rows = torch.tensor(
            [[draw.choice(pool) for _ in range(width)] for _ in range(3)], dtype=dtype
        )
        wide = torch.full((3, 2 * width), 7.0, dtype=dtype)
        wide[:, :width] = rows
        for given in (rows, wide[:, :width]):  # and strided
            assert best_tokens(given) == list(map(_best_by_a_loop, rows.tolist()))


def _best_by_a_loop(row: list[float]) -> int | None:
    if any(math.isnan(value) for value in row) or not math.isfinite(max(row)):
        return None
    return row.index(max(row))  # the first; minus zero is zero
