"""`distribution` is what `choose` draws from, and `draw_from` does what it does."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from guided.masks import unpack_bits
from guided.sampling import Sampler, Sampling
from guided.sampling.random_stream import uniform
from tests.sampling.rows import mask_of

# 99.9 % of the sums for so many degrees of freedom lie below.
CHI_SQUARE = {1: 10.83, 2: 13.82, 3: 16.27, 4: 18.47, 5: 20.52}
DRAWS = 2000

LOGITS = torch.tensor([1.0, 0.0, -1.0, 2.0, 0.5, 0.5, 1.5, -0.5])
ALLOWED = (0, 1, 3, 4, 5, 6)

OPTIONS: list[dict[str, Any]] = [
    {"temperature": 1.0},
    {"temperature": 2.5},
    {"temperature": 0.6, "top_k": 4},
    {"top_p": 0.8},
    {"min_p": 0.2},
    {"typical_p": 0.7},
    {"temperature": 1.0, "repetition_penalty": 1.5, "frequency_penalty": 0.4},
    {"temperature": 1.0, "logit_bias": {1: 1.0, 3: -float("inf")}, "min_tokens": 9},
]


def sampler_of(options: dict[str, Any]) -> Sampler:
    sampler = Sampler(Sampling(**{"seed": 11} | options))
    sampler.begin([0, 6], [4])
    for token in (5, 5, 1):
        sampler.observe(token)
    return sampler


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_choices_come_as_often_as_the_distribution_says(options: dict[str, Any]) -> None:
    sampler, mask = sampler_of(options), mask_of(*ALLOWED)
    ids, chances = sampler.distribution(LOGITS, mask)
    drawn = [sampler.choose(LOGITS.clone(), mask) for _ in range(DRAWS)]
    found = torch.tensor([drawn.count(int(token)) for token in ids])
    assert int(found.sum()) == DRAWS
    wanted = DRAWS * chances
    assert len(ids) > 1
    assert float(((found - wanted) ** 2 / wanted).sum()) < CHI_SQUARE[len(ids) - 1]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_distribution_is_ascending_and_sums_to_1(options: dict[str, Any]) -> None:
    before = LOGITS.clone()
    ids, chances = sampler_of(options).distribution(LOGITS, mask_of(*ALLOWED))
    assert ids.tolist() == sorted(set(ids.tolist()) & set(ALLOWED))
    assert (ids.dtype, chances.dtype) == (torch.int64, torch.float64)
    assert bool((chances > 0).all())
    assert float(chances.sum()) == pytest.approx(1.0, abs=1e-15)
    assert torch.equal(LOGITS, before)


@pytest.mark.parametrize("logits", [[1.0, 3.0, 3.0], [-float("inf")] * 3, [1.0, float("inf"), 2.0]])
def test_the_distribution_of_greedy_is_a_single_token(logits: list[float]) -> None:
    sampler = Sampler(Sampling())
    ids, chances = sampler.distribution(torch.tensor(logits))
    assert chances.tolist() == [1.0]
    assert ids.tolist() == [sampler.choose(torch.tensor(logits))]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_drawing_from_the_distribution_is_choosing(options: dict[str, Any]) -> None:
    chooses, draws, by_hand = (sampler_of(options) for _ in range(3))
    mask = mask_of(*ALLOWED)
    for _ in range(50):
        ids, chances = draws.distribution(LOGITS, mask)
        point, reached, wanted = by_hand.uniform(), 0.0, -1
        for token, chance in zip(ids.tolist(), chances.tolist(), strict=True):
            reached += chance
            if reached > point:
                wanted = token
                break
        assert chooses.choose(LOGITS.clone(), mask) == wanted
        assert draws.draw_from(ids, chances) == wanted


def test_a_choice_takes_one_random_number_and_greedy_none() -> None:
    chance, greedy = Sampler(Sampling(seed=4)), Sampler(Sampling())
    for sampler in (chance, greedy):
        sampler.choose(LOGITS.clone())
        sampler.distribution(LOGITS)
        sampler.choose(torch.full((4,), float("inf")))
    assert (chance.stream.counter, greedy.stream.counter) == (2, 0)
    assert chance.uniform() == uniform(4, 2)


def dense(options: Sampling, logits: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return what a sampler gives when it is shown the whole row, masked by hand, and no mask."""
    masked = logits.double()
    masked[~unpack_bits(mask)[: len(logits)]] = -torch.inf
    return Sampler(options).distribution(masked)


@pytest.mark.parametrize("count", [1, 2, 20, 400, 3000])
@pytest.mark.parametrize("options", [each for each in OPTIONS if "logit_bias" not in each], ids=str)
def test_few_allowed_tokens_are_gathered_with_the_result_of_the_whole_row(
    count: int, options: dict[str, Any]
) -> None:
    generator = torch.Generator().manual_seed(count)
    logits = 3 * torch.randn(3200, generator=generator)
    tokens = torch.randperm(3200, generator=generator)[:count].sort().values
    mask = mask_of(*tokens.tolist(), words=100)
    sampling = Sampling(**{"seed": 1} | options)
    ids, chances = Sampler(sampling).distribution(logits, mask)
    dense_ids, dense_chances = dense(sampling, logits, mask)
    assert torch.equal(ids, dense_ids)
    torch.testing.assert_close(chances, dense_chances, rtol=1e-13, atol=0.0)
    # Columns or all of them: not even a bit differs.
    column_ids, column_chances = Sampler(sampling).distribution(logits[tokens], mask, tokens)
    assert torch.equal(ids, column_ids)
    assert torch.equal(chances, column_chances)
    one, other = Sampler(sampling), Sampler(sampling)
    drawn = [one.choose(logits.clone(), mask) for _ in range(10)]
    assert drawn == [other.choose(logits[tokens], mask, tokens) for _ in range(10)]
