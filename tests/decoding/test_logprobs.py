"""How likely the tokens were, with the grammar and without it."""

from __future__ import annotations

import math

import pytest
import torch

from guided.decoding import Job, Loop, TokenLogprob
from guided.decoding.drafts import Drafter
from guided.grammar import Grammar
from guided.sampling import Sampler, Sampling
from tests.decoding.simple_drafters import EagerPace, Scripted
from tests.decoding.table_runner import TableRunner, letters

VOCABULARY = letters()


def write(pattern: str | None, sampling: Sampling, *drafters: Drafter) -> tuple[Job, TableRunner]:
    runner = TableRunner(VOCABULARY.size, seed=2)
    loop = Loop(runner, VOCABULARY, max_batch=1, token_budget=64)
    loop.speculator.pace = EagerPace()
    matcher = None
    if pattern is not None:
        matcher = Grammar.from_regex(pattern).compile(VOCABULARY).matcher()
    job = Job([0, 1], 12, Sampler(sampling), matcher, drafters=drafters)
    loop.add(job)
    while not loop.is_idle:
        loop.step()
    assert job.error is None
    return job, runner


def expected(job: Job, runner: TableRunner, pattern: str | None) -> list[TokenLogprob]:
    """By the raw logits after each beginning, in float64."""
    matcher = None
    if pattern is not None:
        matcher = Grammar.from_regex(pattern).compile(VOCABULARY).matcher()
    found = []
    for place, token in enumerate(job.tokens):
        logits = runner.logits(job.prompt + job.tokens[:place]).double()
        model = logits.log_softmax(0)
        allowed = list(range(VOCABULARY.size)) if matcher is None else matcher.allowed_tokens()
        share = float(model[allowed].exp().sum())
        own = float(model[token])
        found.append(TokenLogprob(token, own - math.log(share), own, share))
        if matcher is not None:
            matcher.accept(token)
    return found


@pytest.mark.parametrize("drafters", [(), (Scripted(6, 9),)], ids=["plain", "drafts"])
@pytest.mark.parametrize("pattern", [None, "[ab]{4}c", "(ab|c)*"])
@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_logprobs_are_those_at_temperature_one(
    pattern: str | None, temperature: float, drafters: tuple[Drafter, ...]
) -> None:
    sampling = Sampling(temperature=temperature, seed=4, logprobs=True)
    job, runner = write(pattern, sampling, *drafters)
    wanted = expected(job, runner, pattern)
    assert [found.token for found in job.logprobs] == job.tokens
    for found, one in zip(job.logprobs, wanted, strict=True):
        if found.model_logprob is None:  # there was no choice
            assert found.logprob == 0.0
            assert one.logprob == pytest.approx(0.0, abs=1e-9)
            continue
        assert found.allowed is not None
        assert found.logprob == pytest.approx(one.logprob, abs=1e-6)
        assert found.model_logprob == pytest.approx(one.model_logprob, abs=1e-6)
        assert found.allowed == pytest.approx(one.allowed, abs=1e-6)


def test_a_text_that_is_given_has_no_chances() -> None:
    job, _ = write("ccac", Sampling(logprobs=True))
    assert {found.model_logprob for found in job.logprobs} == {None}
    assert [found.logprob for found in job.logprobs] == [0.0] * len(job.tokens)


def test_they_are_made_only_when_asked_for() -> None:
    job, _ = write("[ab]{4}", Sampling())
    assert job.logprobs == []


def test_the_model_that_excludes_all_gives_finite_numbers() -> None:
    class Silent(TableRunner):
        def logits(self, tokens: object) -> torch.Tensor:
            values = torch.full((self.width,), -torch.inf)
            values[-1] = 1.0
            return values

    loop = Loop(Silent(VOCABULARY.size), VOCABULARY, max_batch=1, token_budget=8)
    matcher = Grammar.from_regex("(a|b)(a|c)").compile(VOCABULARY).matcher()
    job = Job([0], 4, Sampler(Sampling(logprobs=True)), matcher)
    loop.add(job)
    while not loop.is_idle:
        loop.step()
    assert job.error is None
    for found in job.logprobs:
        assert math.isfinite(found.logprob)
        assert found.allowed == pytest.approx(0.0)
