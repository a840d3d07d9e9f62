"""The choice: never a forbidden token, repeatable, and with the right chances."""

from __future__ import annotations

import pytest
import torch

from guided.errors import GuidedError
from guided.sampling import Sampler, Sampling, draw
from tests.sampling.rows import mask_of

NAN, INF = float("nan"), float("inf")
GREEDY, CHANCE = Sampling(), Sampling(seed=0)


def choose(logits: list[float], allowed: list[int] | None, options: Sampling) -> int:
    mask = None if allowed is None else mask_of(*allowed)
    return Sampler(options).choose(torch.tensor(logits), mask)


def test_greedy_takes_the_most_likely_allowed_token() -> None:
    assert choose([9.0, 1.0, 2.0, 3.0], [1, 2], GREEDY) == 2


def test_greedy_breaks_ties_to_the_lowest_id() -> None:
    assert choose([9.0, 2.0, 2.0, 2.0], [1, 2, 3], GREEDY) == 1


def test_without_a_mask_everything_is_allowed() -> None:
    assert choose([9.0, 1.0, 2.0], None, GREEDY) == 0


def test_the_only_allowed_token_is_chosen_whatever_its_logit() -> None:
    for options in (GREEDY, CHANCE):
        assert choose([9.0, 8.0, -1e30, 9.0], [2], options) == 2


@pytest.mark.parametrize("options", [GREEDY, CHANCE, Sampling(temperature=0.1, top_k=1)])
def test_minus_infinity_everywhere_leaves_the_choice_to_the_mask(options: Sampling) -> None:
    assert choose([-INF, -INF, -INF, -INF], [2, 3], options) in {2, 3}


def test_minus_infinity_everywhere_is_an_even_chance() -> None:
    sampler = Sampler(Sampling(seed=1))
    drawn = [sampler.choose(torch.full((4,), -INF), mask_of(1, 3)) for _ in range(400)]
    assert set(drawn) == {1, 3}
    assert 120 < drawn.count(1) < 280


@pytest.mark.parametrize("options", [GREEDY, CHANCE])
@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_what_stands_at_a_forbidden_place_does_not_matter(bad: float, options: Sampling) -> None:
    assert choose([bad, -50.0, 50.0, bad], [1, 2], options) == 2


@pytest.mark.parametrize("options", [GREEDY, CHANCE])
def test_nan_at_an_allowed_place_counts_as_impossible_and_is_said(options: Sampling) -> None:
    with pytest.warns(RuntimeWarning, match="NaN for 1 of 2 allowed tokens"):
        assert choose([9.0, NAN, 2.0], [1, 2], options) == 2
    with pytest.warns(RuntimeWarning, match="NaN for 2 of 2 allowed tokens"):
        assert choose([9.0, NAN, NAN], [1, 2], options) in {1, 2}


@pytest.mark.parametrize("options", [GREEDY, CHANCE])
def test_plus_infinity_at_an_allowed_place_wins(options: Sampling) -> None:
    assert choose([0.0, 1.0, INF, 3.0], [1, 2, 3], options) == 2


@pytest.mark.parametrize("options", [GREEDY, CHANCE])
@pytest.mark.parametrize("logits", [[1.0, 2.0], [-INF, -INF], [NAN, NAN]])
def test_an_empty_mask_is_an_error(logits: list[float], options: Sampling) -> None:
    with pytest.raises(GuidedError, match="no token is allowed: the mask is empty"):
        choose(logits, [], options)


def test_one_seed_gives_one_sequence_of_choices() -> None:
    def draw(seed: int | None, index: int = 0) -> list[int]:
        sampler = Sampler(Sampling(temperature=1.0, seed=seed), index)
        return [sampler.choose(torch.zeros(32)) for _ in range(20)]

    assert draw(5) == draw(5)
    assert draw(5) != draw(6)
    assert draw(5) != draw(5, index=1)
    assert draw(None) != draw(None)
    assert len(draw((1 << 64) - 1, index=1)) == 20


def test_without_a_seed_torchs_own_rules() -> None:
    drawn = []
    for _ in range(2):
        torch.manual_seed(11)
        sampler = Sampler(Sampling(temperature=1.0))
        drawn.append([sampler.choose(torch.zeros(32)) for _ in range(20)])
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_chances_are_those_of_the_softmax_over_the_allowed(dtype: torch.dtype) -> None:
    logits = torch.tensor([5.0, 0.0, 1.0, -1.0, 7.0]).to(dtype)
    sampler, draws = Sampler(Sampling(temperature=2.0, seed=3)), 3000
    drawn = [sampler.choose(logits.clone(), mask_of(1, 2, 3)) for _ in range(draws)]
    wanted = (torch.tensor([0.0, 1.0, -1.0]) / 2).softmax(-1)
    found = torch.tensor([drawn.count(token) / draws for token in (1, 2, 3)])
    assert sum(drawn.count(token) for token in (1, 2, 3)) == draws
    assert (found - wanted).abs().max() < 0.037  # four standard deviations


def test_a_draw_never_takes_what_has_no_chance() -> None:
    probabilities = torch.tensor([0.0, 0.0, 0.2, 0.0, 0.8, 0.0])
    points = [place / 1000 for place in range(1000)]
    drawn = [draw(probabilities, point) for point in [*points, 1 - 2**-53]]
    assert (drawn.count(2), drawn.count(4)) == (200, 801)
