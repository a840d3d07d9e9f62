"""Masks that are left out until a token is refused change no text and no distribution."""

from __future__ import annotations

from collections import Counter

import pytest

from guided.decoding import Job, Loop
from guided.grammar import Grammar
from guided.sampling import Sampler, Sampling
from tests.decoding.table_runner import TableRunner, letters
from tests.decoding.test_distribution import chances, chi_square, chi_square_bound

VOCABULARY = letters()


def loop_of(seed: int, leave_open: bool) -> Loop:
    loop = Loop(TableRunner(VOCABULARY.size, seed), VOCABULARY, max_batch=16, token_budget=64)
    loop._filler._waiting = 1e9 if leave_open else 0.0
    return loop


def run(loop: Loop, jobs: list[Job]) -> list[list[int]]:
    for job in jobs:
        loop.add(job)
    while not loop.is_idle:
        loop.step()
    assert [job.error for job in jobs] == [None] * len(jobs)
    return [job.tokens for job in jobs]


@pytest.mark.parametrize("pattern", ["[ab]{3,9}c", "(ab|c)*a", "(ba|cc){2,4}"])
@pytest.mark.parametrize("sampling", [Sampling(), Sampling(temperature=1.0, seed=2)], ids=str)
def test_texts_are_the_same(pattern: str, sampling: Sampling) -> None:
    for seed in range(10):
        # A grammar of its own each time, so that no mask is known.
        found = []
        for leave_open in (False, True):
            grammar = Grammar.from_regex(f"{pattern}|a{{{40 + seed + 20 * leave_open}}}")
            matcher = grammar.compile(VOCABULARY).matcher()
            jobs = [Job([0], 12, Sampler(sampling, i), matcher.fork()) for i in range(3)]
            found.append(run(loop_of(seed, leave_open), jobs))
        assert found[0] == found[1]


def test_masks_are_left_out_where_the_first_choice_is_allowed() -> None:
    automaton = Grammar.from_regex("[abc]{3,30}").compile(VOCABULARY)
    before = automaton.stats()["masks"]
    run(loop_of(1, leave_open=True), [Job([0], 12, Sampler(Sampling()), automaton.matcher())])
    assert automaton.stats()["masks"] - before < 3  # most of 12 were never needed


def test_draws_at_temperature_alone_keep_their_distribution() -> None:
    counts: Counter[bytes] = Counter()
    wanted: dict[bytes, float] = {}
    for part in range(60):
        automaton = Grammar.from_regex(f"(ab|c){{1,2}}a?|c{{{5 + part}}}b").compile(VOCABULARY)
        loop = loop_of(3, leave_open=True)
        sampling = Sampling(temperature=1.2)
        jobs = [Job([0, 1], 90, Sampler(sampling), automaton.matcher()) for _ in range(16)]
        for tokens in run(loop, jobs):
            counts[b"".join(VOCABULARY.token_bytes(token) or b"" for token in tokens)] += 1
        runner = loop.runner
        assert isinstance(runner, TableRunner)
        for text, chance in chances(runner, automaton, sampling, [0, 1]).items():
            wanted[text] = wanted.get(text, 0.0) + 16 * chance
    common = [text for text, count in wanted.items() if count >= 5]
    observed, expected = [counts[text] for text in common], [wanted[text] for text in common]
    assert chi_square(observed, expected) < chi_square_bound(len(common) - 1)
