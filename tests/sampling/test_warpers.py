"""Temperature, top-k, top-p, min-p and typical-p, against transformers' own.

All in float64: where a sum of float32 probabilities passes a mass depends on the order of summing,
so no two implementations agree there.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import (
    LogitsProcessorList,
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
    TypicalLogitsWarper,
)

from guided.sampling import Sampling, warp
from tests.sampling.rows import KINDS, random_rows

TEMPERATURES = (0.3, 2.5)
COUNTS = (None, 0, 3, 50, 5000)
MASSES = (None, 0.0, 0.3, 0.9)
SHARES = (None, 0.05, 0.5, 1.0)
TYPICAL = (None, 0.2, 0.95)

ROWS, WIDTH = 250, 300  # of each kind: 1000 rows an option


def transformers_warp(logits: Tensor, options: Sampling) -> Tensor:
    """What `model.generate` does to logits (R, V), in its order, as probabilities."""
    warpers = LogitsProcessorList([TemperatureLogitsWarper(options.effective_temperature)])
    if options.top_k:
        warpers.append(TopKLogitsWarper(options.top_k))
    if options.top_p is not None and options.top_p < 1.0:
        warpers.append(TopPLogitsWarper(options.top_p))
    if options.min_p is not None:
        warpers.append(MinPLogitsWarper(options.min_p))
    if options.typical_p is not None and options.typical_p < 1.0:
        warpers.append(TypicalLogitsWarper(options.typical_p))
    warped: Tensor = warpers(torch.LongTensor([[]]), logits)
    return warped.softmax(-1)


def our_warp(logits: Tensor, options: Sampling) -> Tensor:
    """The same by `warp`, row by row."""
    tokens = torch.arange(logits.shape[1])
    probabilities = torch.zeros_like(logits)
    for row, scores in zip(probabilities, logits, strict=True):
        kept, chances = warp(tokens, scores, options)
        row[kept] = chances
    return probabilities


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(
            [{"temperature": value} for value in (0.2, 0.7, 1.0, 1.9, 5.0)], id="temperature"
        ),
        pytest.param([{"top_k": count} for count in (1, 2, 7, 50, 299)], id="top-k"),
        pytest.param(
            [{"top_p": mass} for mass in (0.137, 0.3331, 0.71, 0.9017, 0.9931)], id="top-p"
        ),
        pytest.param(
            [{"min_p": share} for share in (0.011, 0.0517, 0.13, 0.501, 0.97)], id="min-p"
        ),
        pytest.param(
            [{"typical_p": mass} for mass in (0.0713, 0.2001, 0.501, 0.9017, 0.9931)],
            id="typical-p",
        ),
    ],
)
def test_what_is_kept_is_what_transformers_keeps(kind: str, options: list[dict[str, Any]]) -> None:
    logits = random_rows(kind, ROWS, WIDTH)
    for part, option in zip(logits.chunk(len(options)), options, strict=True):
        ours = our_warp(part, Sampling(**option))
        theirs = transformers_warp(part, Sampling(**{"temperature": 1.0} | option))
        if kind == "ties" and "top_p" in option:  # their sort does not say which of equals stay
            ours, theirs = ours.sort().values, theirs.sort().values
        assert torch.equal(ours > 0, theirs > 0), option
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=0.0)


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize("allowed", [1, 40, 1000])
def test_the_options_are_applied_in_transformers_order(temperature: float, allowed: int) -> None:
    torch.manual_seed(allowed)
    logits = 3 * torch.randn(1, allowed, dtype=torch.float64)
    for top_k, top_p, min_p, typical_p in itertools.product(COUNTS, MASSES, SHARES, TYPICAL):
        options = Sampling(
            temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p, typical_p=typical_p
        )
        theirs = transformers_warp(logits, options)
        torch.testing.assert_close(our_warp(logits, options), theirs, msg=str(options))


@pytest.mark.parametrize("spread", [0.01, 1.0, 6.0])  # nearly all stay, or a handful
@pytest.mark.parametrize("mass", [0.2, 0.95])
def test_top_p_of_many_tokens_is_that_of_transformers(spread: float, mass: float) -> None:
    torch.manual_seed(0)
    logits = spread * torch.randn(1, 20_000).double()
    options = Sampling(top_p=mass)
    assert torch.equal(our_warp(logits, options) > 0, transformers_warp(logits, options) > 0)


def kept(logits: list[float], options: Sampling) -> list[int]:
    tokens = torch.arange(len(logits))
    return warp(tokens, torch.tensor(logits, dtype=torch.float64), options)[0].tolist()


def test_ties_with_the_kth_token_stay() -> None:
    assert kept([1.0, 2.0, 2.0, 2.0, 0.0], Sampling(top_k=2)) == [1, 2, 3]


@pytest.mark.parametrize(
    ("mass", "left"), [(0.0, [0]), (0.2, [0]), (0.25, [0]), (0.3, [0, 1]), (0.75, [0, 1, 2])]
)
def test_top_p_keeps_as_few_of_equals_as_suffice_the_first_ones(
    mass: float, left: list[int]
) -> None:
    assert kept([1.0, 1.0, 1.0, 1.0], Sampling(top_p=mass)) == left


def test_something_always_stays() -> None:
    strict = Sampling(temperature=0.01, top_k=1, top_p=0.0, min_p=1.0, typical_p=1e-9)
    assert kept([1.0, 5.0, 2.0], strict) == [1]


@pytest.mark.parametrize("temperature", [5e-324, 1e-300, 1e-40, 1e300])
def test_no_temperature_is_too_extreme(temperature: float) -> None:
    tokens, scores = torch.arange(3), torch.tensor([-3e38, 3e38, 0.0], dtype=torch.float64)
    left, chances = warp(tokens, scores, Sampling(temperature=temperature))
    assert (left.tolist() == [1]) is (temperature < 1)
    assert float(chances.sum()) == pytest.approx(1.0)
