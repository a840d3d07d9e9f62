"""Temperature, top-k, top-p and min-p, against transformers' own."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor
from transformers import (
    LogitsProcessorList,
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from guided.sampling import Sampling, warp

TEMPERATURES = (0.3, 1.0, 2.5)
COUNTS = (None, 0, 1, 3, 50, 5000)
MASSES = (None, 0.0, 0.3, 0.9, 1.0)
SHARES = (None, 0.0, 0.05, 0.5, 1.0)


def transformers_warp(logits: Tensor, options: Sampling) -> Tensor:
    """What `model.generate` does to the logits, in its order; logits (V,)."""
    warpers = LogitsProcessorList([TemperatureLogitsWarper(options.effective_temperature)])
    if options.top_k:
        warpers.append(TopKLogitsWarper(options.top_k))
    if options.top_p is not None and options.top_p < 1.0:
        warpers.append(TopPLogitsWarper(options.top_p))
    if options.min_p is not None:
        warpers.append(MinPLogitsWarper(options.min_p))
    no_tokens = torch.LongTensor([[]])
    warped: Tensor = warpers(no_tokens, logits.unsqueeze(0))[0]
    return warped


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize("allowed", [1, 2, 40, 1000])
def test_the_distribution_is_that_of_transformers_after_the_mask(
    temperature: float, allowed: int
) -> None:
    torch.manual_seed(allowed)
    logits = 3 * torch.randn(1000)
    tokens = torch.randperm(1000)[:allowed].sort().values
    masked = torch.full_like(logits, -torch.inf)
    masked[tokens] = logits[tokens]
    for top_k, top_p, min_p in itertools.product(COUNTS, MASSES, SHARES):
        options = Sampling(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
        ours = torch.zeros(1000)
        ours[tokens] = warp(logits[tokens], options).softmax(-1)
        theirs = transformers_warp(masked, options).softmax(-1)
        torch.testing.assert_close(ours, theirs, msg=str(options))


@pytest.mark.parametrize("spread", [0.01, 1.0, 6.0])  # nearly all stay, or a handful
@pytest.mark.parametrize("mass", [0.2, 0.95])
def test_top_p_of_many_tokens_is_that_of_transformers(spread: float, mass: float) -> None:
    torch.manual_seed(0)
    logits = spread * torch.randn(20_000).double()  # in float32 rounding moves the border by more
    options = Sampling(top_p=mass)
    ours, theirs = warp(logits, options), transformers_warp(logits, options)
    assert int((ours.isfinite() != theirs.isfinite()).sum()) <= 1


def test_ties_with_the_kth_token_stay() -> None:
    kept = warp(torch.tensor([1.0, 2.0, 2.0, 2.0, 0.0]), Sampling(top_k=2))
    assert kept.isfinite().tolist() == [False, True, True, True, False]


def test_something_always_stays() -> None:
    strict = Sampling(temperature=0.01, top_k=1, top_p=0.0, min_p=1.0)
    assert warp(torch.tensor([1.0, 5.0, 2.0]), strict).isfinite().tolist() == [False, True, False]
