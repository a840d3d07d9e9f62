"""Bias, penalties and `min_tokens`: what they do to the logits before chance."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import RepetitionPenaltyLogitsProcessor

from guided.errors import GuidedError
from guided.sampling import Sampler, Sampling
from guided.sampling.history import History
from guided.sampling.processors import penalize
from tests.sampling.rows import KINDS, mask_of, random_rows

INF = float("inf")
END = 3


def sampler_of(
    prompt: list[int] | None = None, output: list[int] | None = None, **options: Any
) -> Sampler:
    """Return a sampler that has seen a prompt and an output; the end token is 3."""
    sampler = Sampler(Sampling(**options))
    sampler.begin(prompt or [], [END])
    for token in output or []:
        sampler.observe(token)
    return sampler


def penalized(logits: Tensor, prompt: list[int], output: list[int], **options: Any) -> Tensor:
    history = History(prompt)
    for token in output:
        history.write(token)
    return penalize(torch.arange(len(logits)), logits, Sampling(**options), history)


@pytest.mark.parametrize("kind", KINDS)
def test_the_repetition_penalty_is_that_of_transformers(kind: str) -> None:
    generator = random.Random(1)
    for number, logits in enumerate(random_rows(kind, 250, 300)):
        penalty = (0.5, 0.9, 1.1, 1.3, 5.0)[number % 5]
        prompt, output = ([generator.randrange(300) for _ in range(20)] for _ in range(2))
        theirs = RepetitionPenaltyLogitsProcessor(penalty)(
            torch.tensor([prompt + output]), logits.unsqueeze(0).clone()
        )[0]
        assert torch.equal(penalized(logits, prompt, output, repetition_penalty=penalty), theirs)


@pytest.mark.parametrize("kind", KINDS)
def test_presence_and_frequency_are_subtracted_as_vllm_does(kind: str) -> None:
    generator = random.Random(2)
    for number, logits in enumerate(random_rows(kind, 250, 300)):
        presence, frequency = ((0.5, 0.0), (0.0, 1.5), (-2.0, 0.3), (2.0, -2.0))[number % 4]
        prompt, output = ([generator.randrange(30) for _ in range(20)] for _ in range(2))
        counts = torch.bincount(torch.tensor(output), minlength=300)  # of the output alone
        wanted = logits - frequency * counts
        wanted = wanted - presence * (counts > 0)
        found = penalized(
            logits, prompt, output, presence_penalty=presence, frequency_penalty=frequency
        )
        assert torch.equal(found, wanted)


def test_they_come_in_order_bias_repetition_presence_and_frequency() -> None:
    found = penalized(
        torch.tensor([1.0, -1.0, 4.0], dtype=torch.float64),
        [0],
        [1, 1],
        logit_bias={0: 2.0, 1: -1.0, 2: 0.5, 77: 9.0},
        repetition_penalty=2.0,
        presence_penalty=0.25,
        frequency_penalty=1.0,
    )
    assert found.tolist() == [(1 + 2) / 2, (-1 - 1) * 2 - 0.25 - 2 * 1.0, 4.5]


def test_temperature_comes_after_them() -> None:
    logits = torch.tensor([0.0, 1.0, 2.0])
    sampler = sampler_of(output=[2], temperature=0.5, presence_penalty=1.5)
    wanted = (torch.tensor([0.0, 1.0, 0.5]) / 0.5).double().softmax(-1)
    torch.testing.assert_close(sampler.distribution(logits)[1], wanted)


def test_a_history_that_grows_is_looked_up_right_at_each_step() -> None:
    generator, history = random.Random(3), History([5, 5, 60])
    counts, seen = [0] * 100, [False] * 100
    seen[5] = seen[60] = True
    for step in range(60):
        width = 10 + step
        token = generator.randrange(90)
        history.write(token)
        counts[token], seen[token] = counts[token] + 1, True
        tokens = torch.arange(width)
        assert history.counts(tokens).tolist() == counts[:width]
        assert history.seen(tokens[::3]).tolist() == seen[:width:3]
    assert history.written == 60


def test_minus_infinity_stays_under_every_penalty_and_no_nan_comes() -> None:
    logits = torch.tensor([-INF, -1.0, 2.0, 0.0], dtype=torch.float64)
    for bias, repetition, presence, frequency in itertools.product(
        (-1e308, 0.0, 1e308), (5e-324, 1.0, 1.7e308), (-2.0, 2.0), (-2.0, 2.0)
    ):
        options = Sampling(
            temperature=1.0,
            logit_bias=dict.fromkeys(range(4), bias),
            repetition_penalty=repetition,
            presence_penalty=presence,
            frequency_penalty=frequency,
        )
        sampler = Sampler(options)
        sampler.begin([0, 1])
        for token in (0, 2, 2):
            sampler.observe(token)
        ids, chances = sampler.distribution(logits)
        assert bool(chances.isfinite().all())
        assert float(chances.sum()) == pytest.approx(1.0)
        # What is impossible becomes possible only where an overflow left nothing else.
        assert 0 not in ids.tolist() or len(ids) == 4


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_banned_token_is_never_chosen(temperature: float) -> None:
    logits = torch.tensor([1.0, 9.0, 8.0, 2.0])
    sampler = sampler_of(temperature=temperature, logit_bias={1: -INF, 2: -INF})
    assert {sampler.choose(logits.clone(), mask_of(1, 2, 3)) for _ in range(50)} == {3}
    assert 1 not in sampler.distribution(logits)[0].tolist()


def test_plus_infinity_at_a_banned_token_does_not_matter() -> None:
    logits = torch.tensor([INF, 1.0, 2.0])
    assert sampler_of(temperature=0.0, logit_bias={0: -INF}).choose(logits) == 2


def test_a_bias_that_leaves_nothing_is_an_error_that_names_it() -> None:
    sampler = sampler_of(logit_bias={1: -INF, 2: -INF, 3: 5.0})
    with pytest.raises(GuidedError) as caught:
        sampler.choose(torch.zeros(4), mask_of(1, 2))
    assert str(caught.value) == (
        "logit_bias leaves no allowed token: it bans all 2 that the grammar allows here\n"
        "  mend: ban fewer tokens, or say it in the grammar"
    )


def test_a_bias_for_a_token_that_there_is_not_is_an_error() -> None:
    with pytest.raises(GuidedError, match="logit_bias names token 4, but there are only 4 tokens"):
        sampler_of(logit_bias={4: 1.0}).choose(torch.zeros(4))


def test_a_bias_changes_the_greedy_choice() -> None:
    logits = torch.tensor([1.0, 2.0, 3.0])
    assert sampler_of(logit_bias={0: 2.5}).choose(logits.clone()) == 0
    assert sampler_of(logit_bias={0: 2.5}).choose(logits.clone(), mask_of(1, 2)) == 2


def test_no_end_before_min_tokens() -> None:
    sampler, logits = sampler_of(min_tokens=2), torch.tensor([0.0, 1.0, 2.0, 9.0])
    for _ in range(2):
        token = sampler.choose(logits.clone())
        assert token == 2
        sampler.observe(token)
    assert sampler.choose(logits) == END


@pytest.mark.parametrize("bias", [{}, {1: -INF}], ids=["nothing else", "all else is banned"])
def test_where_only_ends_are_left_min_tokens_gives_way(bias: dict[int, float]) -> None:
    sampler = sampler_of(min_tokens=5, logit_bias=bias)
    mask = mask_of(1, END) if bias else mask_of(END)
    assert sampler.choose(torch.zeros(4), mask) == END


def test_min_tokens_and_a_ban_together() -> None:
    sampler = sampler_of(min_tokens=5, logit_bias={1: -INF}, temperature=1.0)
    assert sampler.distribution(torch.zeros(4))[0].tolist() == [0, 2]
    sampler = sampler_of(min_tokens=5, logit_bias={END: -INF, 1: -INF}, temperature=1.0)
    with pytest.raises(GuidedError, match="logit_bias leaves no allowed token"):
        sampler.choose(torch.zeros(4), mask_of(1, END))


@pytest.mark.parametrize(
    ("options", "plain"),
    [
        ({}, True),
        ({"temperature": 0.0, "top_p": 0.5, "seed": 1}, True),
        ({"temperature": 1.0}, False),
        ({"repetition_penalty": 1.0, "presence_penalty": 0.0, "logit_bias": {}}, True),
        ({"repetition_penalty": 1.1}, False),
        ({"presence_penalty": 0.1}, False),
        ({"frequency_penalty": -0.1}, False),
        ({"logit_bias": {1: 1.0}}, False),
        ({"min_tokens": 0}, True),
        ({"min_tokens": 1}, False),
        ({"logprobs": True}, True),
    ],
)
def test_a_plain_choice_is_the_argmax(options: dict[str, Any], plain: bool) -> None:
    assert sampler_of(**options).is_plain is plain


def test_a_choice_becomes_plain_once_min_tokens_are_written() -> None:
    assert sampler_of(min_tokens=2, output=[1, 1]).is_plain
    assert not sampler_of(min_tokens=2, output=[1]).is_plain


def test_a_beginning_forgets_what_was_before() -> None:
    sampler = sampler_of(prompt=[0], output=[1], repetition_penalty=2.0, presence_penalty=1.0)
    sampler.begin([2])
    assert sampler.choose(torch.tensor([3.0, 2.0, 5.0])) == 0
