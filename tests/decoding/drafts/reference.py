"""What an assistant should draft, worked out slowly: whole forwards, tokens tried one by one."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from guided.decoding import Job, Model
from guided.grammar import Grammar, Matcher
from guided.sampling import Sampler, Sampling
from tests.decoding.simple_runner import network_of


def new_job(
    model: Model,
    prompt: str,
    pattern: str | None = None,
    sampling: Sampling | None = None,
    max_tokens: int = 60,
) -> Job:
    """A job that the loop has taken in: what is forced at its beginning is written."""
    matcher = None
    if pattern is not None:
        matcher = Grammar.from_regex(pattern).compile(model.vocabulary).matcher()
    job = Job(
        prompt=model.tokenizer(prompt)["input_ids"],
        max_tokens=max_tokens,
        sampler=Sampler(sampling or Sampling()),
        matcher=matcher,
    )
    job.sampler.begin(job.prompt, model.vocabulary.eos)
    return job


def write(job: Job, tokens: list[int]) -> None:
    """Let a job write tokens as the loop does."""
    if job.matcher is not None:
        job.matcher.accept_all(tokens)
    job.write(tokens)


def last_logits(model: Model, tokens: list[int]) -> NDArray[np.float64]:
    """The logits after a text, (V,), by one forward without a cache."""
    with torch.no_grad():
        logits = network_of(model)(input_ids=torch.tensor([tokens]), use_cache=False).logits
    row: NDArray[np.float64] = logits[0, -1].double().numpy()
    return row


def allowed(matcher: Matcher | None, size: int) -> list[int]:
    """All tokens that may come next, tried one by one."""
    if matcher is None:
        return list(range(size))
    return [token for token in range(size) if matcher.can_accept(token)]


def greedy_draft(model: Model, job: Job, most: int) -> list[int]:
    """The most likely tokens one after the other, and what is forced between them."""
    matcher = None if job.matcher is None else job.matcher.fork()
    ends = set(model.vocabulary.eos)
    drafted: list[int] = []
    while len(drafted) < most:
        forced = [] if matcher is None else matcher.forced_tokens()
        if forced:
            assert matcher is not None
            matcher.accept_all(forced)
            drafted.extend(forced)
            continue
        tokens = allowed(matcher, model.vocabulary.size)
        if set(tokens) <= ends:
            break
        logits = last_logits(model, job.history + drafted)
        best = max(tokens, key=lambda token: float(logits[token]))
        drafted.append(best)
        if best in ends:
            break
        if matcher is not None:
            matcher.accept(best)
    return drafted[:most]


def probabilities(
    logits: NDArray[np.float64], tokens: list[int], options: Sampling
) -> dict[int, float]:
    """The distribution over the allowed tokens after temperature, top-k, top-p and min-p."""
    scores = logits[tokens] / options.effective_temperature  # (N,)
    order = np.argsort(-scores, kind="stable")
    kept = list(order[: options.top_k or None])
    weights = np.exp(scores - scores.max())
    if options.top_p is not None:
        total, mass, few = sum(weights[kept]), 0.0, []
        for place in kept:
            if mass < options.top_p:
                few.append(place)
            mass += weights[place] / total
        kept = few
    if options.min_p:
        kept = [place for place in kept if weights[place] >= options.min_p * weights[kept[0]]]
    total = sum(weights[kept])
    return {tokens[place]: float(weights[place] / total) for place in sorted(kept)}


def penalized(
    logits: NDArray[np.float64], prompt: list[int], written: list[int], options: Sampling
) -> NDArray[np.float64]:
    """Logits with the penalties for what stands in the text, one token after the other."""
    scores = logits.copy()
    for token in range(len(scores)):
        repetition = options.repetition_penalty or 1.0
        if token in prompt or token in written:
            scores[token] *= repetition if scores[token] < 0 else 1 / repetition
        count = written.count(token)
        scores[token] -= (options.frequency_penalty or 0.0) * count
        scores[token] -= (options.presence_penalty or 0.0) * (count > 0)
    return scores
