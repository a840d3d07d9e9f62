"""Jobs without a loop, and what a drafter proposes for them."""

from __future__ import annotations

from collections.abc import Sequence

from guided.decoding import Job
from guided.decoding.drafts import Draft, Drafter
from guided.grammar import Matcher
from guided.sampling import Sampler, Sampling


def job_of(prompt: Sequence[int], matcher: Matcher | None = None) -> Job:
    return Job(prompt=list(prompt), max_tokens=10**6, sampler=Sampler(Sampling()), matcher=matcher)


def ask(drafter: Drafter, job: Job, most: int = 8) -> Draft:
    """What is proposed; it is a tree of at most so many tokens."""
    (draft,) = drafter.propose([job], [most])
    assert len(draft.tokens) == len(draft.parents) == len(draft.classes) <= most
    assert len(draft.distributions) == len(draft)
    assert all(-1 <= parent < place for place, parent in enumerate(draft.parents))
    assert len(set(zip(draft.parents, draft.tokens, strict=True))) == len(draft)
    return draft


def write(drafter: Drafter, job: Job, tokens: Sequence[int]) -> None:
    """Write tokens as the loop does, end tokens at the end among them."""
    states = []
    for token in tokens:
        if job.matcher is not None:
            states.append(job.matcher.state())
            job.matcher.accept(token)
    ends = job.matcher is not None and job.matcher.is_terminated
    job.write(list(tokens[:-1] if ends else tokens))
    drafter.observe(job, tokens, states)


def paths(draft: Draft) -> list[list[int]]:
    """The tokens from the root to each leaf."""
    texts: list[list[int]] = []
    for token, parent in zip(draft.tokens, draft.parents, strict=True):
        texts.append([*(texts[parent] if parent >= 0 else []), token])
    return [text for place, text in enumerate(texts) if place not in draft.parents]
