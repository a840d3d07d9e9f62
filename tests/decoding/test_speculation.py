"""Drafts change how fast a text is written, and nothing else."""

from __future__ import annotations

import pytest

from guided.decoding import Job, Loop
from guided.decoding.drafts import Drafter
from guided.grammar import Grammar
from guided.sampling import Sampler, Sampling
from guided.vocabulary import Vocabulary
from tests.decoding.simple_drafters import EagerPace, Scripted
from tests.decoding.table_runner import TableRunner, letters

GRAMMARS = {
    "free": None,
    "letters": "[ab]*c",
    "counted": "(ab|c){2,9}",
    "one text": "abcabcabc",
    "forced parts": "(ab|c)abab(a|c)",
}
SAMPLINGS = {
    "greedy": Sampling(),
    "warm": Sampling(temperature=1.3, seed=5),
    "top-k": Sampling(temperature=0.8, top_k=3, seed=6),
    "top-p": Sampling(top_p=0.8, min_p=0.05, seed=7),
}
DRAFTERS: dict[str, tuple[Drafter, ...]] = {
    "chain": (Scripted(6, chain=True),),
    "tree": (Scripted(6, 12),),
    "several": (Scripted(6, 4, chain=True, seed=1), Scripted(6, 9, seed=2), Scripted(6, 3, seed=3)),
}


def write(
    runner: TableRunner,
    vocabulary: Vocabulary,
    grammar: str | None,
    sampling: Sampling,
    drafters: tuple[Drafter, ...] = (),
    count: int = 3,
    max_tokens: int = 24,
) -> list[Job]:
    """Write some texts in a batch."""
    loop = Loop(runner, vocabulary, max_batch=4, token_budget=64)
    loop.speculator.pace = EagerPace()
    jobs = []
    for index in range(count):
        matcher = None
        if grammar is not None:
            matcher = Grammar.from_regex(grammar).compile(vocabulary).matcher()
        job = Job([index], max_tokens, Sampler(sampling, index), matcher, drafters=drafters)
        jobs.append(job)
        loop.add(job)
    while not loop.is_idle:
        assert loop.step()
    assert runner.sequences == {}
    return jobs


@pytest.mark.parametrize("trees", [True, False], ids=["trees", "chains"])
@pytest.mark.parametrize("drafters", DRAFTERS.values(), ids=DRAFTERS)
@pytest.mark.parametrize("sampling", SAMPLINGS.values(), ids=SAMPLINGS)
@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_guesses_without_chance_change_nothing(
    grammar: str | None, sampling: Sampling, drafters: tuple[Drafter, ...], trees: bool
) -> None:
    vocabulary = letters()
    for seed in range(4):
        runner = TableRunner(vocabulary.size, seed)
        plain = write(runner, vocabulary, grammar, sampling)
        runner.trees = trees
        forwards, runner.forwards = runner.forwards, 0
        drafted = write(runner, vocabulary, grammar, sampling, drafters)
        for one, other in zip(plain, drafted, strict=True):
            assert one.error is None
            assert other.error is None
            assert (one.tokens, one.finish_reason) == (other.tokens, other.finish_reason)
            assert one.is_complete == other.is_complete
        assert runner.forwards <= forwards
