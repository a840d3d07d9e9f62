"""Failures of other engines' samplers, as they were reported: area "sampling" of the corpus."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import guided
from guided.errors import GuidedError
from guided.sampling import Sampler, Sampling, mask_logits, token_logprobs
from tests.sampling.rows import mask_of

WORDS: list[bytes | None] = [
    b"!", b"t", b"r", b"u", b"e", b"f", b"a", b"l", b"s", b"true", b"false",
    b"y", b"n", b"o", b"yes", b"no", None,
]  # fmt: skip
END = len(WORDS) - 1

Case = dict[str, Any]
HANDLERS: dict[str, Callable[[Case], None]] = {}


def handles(name: str) -> Callable[[Callable[[Case], None]], Callable[[Case], None]]:
    def register(handler: Callable[[Case], None]) -> Callable[[Case], None]:
        HANDLERS[name] = handler
        return handler

    return register


def write(grammar: guided.Grammar, sampler: Sampler, logits: Tensor) -> bytes:
    """Write under a grammar until its end, with the same logits at each step."""
    vocabulary = guided.Vocabulary.from_tokens(WORDS, eos=[END])
    matcher, written = grammar.compile(vocabulary).matcher(), b""
    sampler.begin([], [END])
    mask = guided.allocate_mask(1, vocabulary)[0]
    while not matcher.is_terminated:
        matcher.fill_mask(mask)
        token = sampler.choose(logits.clone(), mask)
        matcher.accept(token)
        sampler.observe(token)
        written += WORDS[token] or b""
    return written


@handles("samp-min-tokens-conflict")
def the_grammar_wins_over_min_tokens(case: Case) -> None:
    grammar = guided.Grammar.from_json_schema(case["constraint"]["value"])
    for seed in range(10):
        logits = torch.randn(len(WORDS), generator=torch.Generator().manual_seed(seed))
        logits[END] = 9.0
        sampler = Sampler(Sampling(**case["params"]))
        assert write(grammar, sampler, logits).strip() in (b"true", b"false")


@handles("samp-greedy-index-zero-fallback")
def an_emptied_row_is_not_token_0(case: Case) -> None:
    logits = torch.tensor([float(logit) for logit in case["logits"]])
    Sampler(Sampling(**case["params"])).choose(logits, mask_of())


@handles("samp-nan-logit")
def one_nan_does_not_make_every_token_0(case: Case) -> None:
    logits = torch.tensor([float(logit) for logit in case["logits"]])
    sampler, mask = Sampler(Sampling(**case["params"])), mask_of(*case["allowed"])
    assert {sampler.choose(logits.clone(), mask) for _ in range(100)} == set(case["allowed"])


@handles("samp-empty-intersection")
def banning_all_that_the_grammar_allows_is_said(case: Case) -> None:
    banned = {WORDS.index(word.encode()): -torch.inf for word in case["params"]["bad_words"]}
    sampler = Sampler(Sampling(logit_bias=banned))
    write(guided.Grammar.from_regex(case["constraint"]["value"]), sampler, torch.zeros(len(WORDS)))


@handles("samp-logprobs-definition")
def logprobs_are_the_models_own(case: Case) -> None:
    assert "logprobs" in case["value"]
    logits = torch.tensor([[5.0, 1.0, 0.0]])
    raw = token_logprobs(logits, torch.tensor([1]))
    masked = logits.clone()
    mask_logits(masked, mask_of(1).unsqueeze(0))
    chosen = Sampler(Sampling(logprobs=True)).choose(masked[0])
    assert chosen == 1
    assert float(raw) == pytest.approx(1 - torch.tensor([5.0, 1.0, 0.0]).logsumexp(0).item())
    assert float(raw) < -4 < float(masked.log_softmax(-1)[0, 1])
    assert "before masks" in (Path(__file__).parents[2] / "docs/sampling.md").read_text()


@handles("samp-penalty-on-masked")
def a_penalty_leaves_minus_infinity_alone(case: Case) -> None:
    logits = torch.tensor([float(logit) for logit in case["logits"]])
    for temperature in (0.0, 1.0):
        sampler = Sampler(Sampling(temperature=temperature, **case["params"]))
        for token in case["history"]:
            sampler.observe(token)
        for mask in (mask_of(*case["allowed"]), mask_of(0, *case["allowed"])):
            drawn = {sampler.choose(logits.clone(), mask) for _ in range(60)}
            assert drawn == ({2} if temperature == 0 else set(case["allowed"]))
            ids, chances = sampler.distribution(logits, mask)
            assert ids.tolist() == ([2] if temperature == 0 else case["allowed"])
    wanted = torch.tensor([-1.0, 2 / 1.3 - 1.0]).double().softmax(-1)
    torch.testing.assert_close(chances, wanted)


def test_reported_cases(corpora: Path, subtests: pytest.Subtests) -> None:
    lines = (corpora / "reported-cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["area"] == "sampling"]
    assert {case["id"] for case in cases} == set(HANDLERS)
    for case in cases:
        with subtests.test(case["id"]):
            if case["expect_error"]:
                with pytest.raises(GuidedError) as caught:
                    HANDLERS[case["id"]](case["input"])
                for wanted in case["error_must_mention"]:
                    assert re.search(wanted, str(caught.value)), str(caught.value)
            else:
                HANDLERS[case["id"]](case["input"])
