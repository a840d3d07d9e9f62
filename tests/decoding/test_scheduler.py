"""Who runs when: budgets, chunks, priorities, and a cache that is too small."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

import pytest

from guided.decoding import Job, Model
from guided.decoding.models import Allowed, Logits, OutOfPages, Piece
from guided.errors import GuidedError, LimitError
from guided.grammar import Grammar
from guided.sampling import Sampling
from tests.decoding.simple_runner import SimpleRunner
from tests.decoding.test_loop import finish, job, loop_over, run

LONG = "a prompt of a good many tokens, all of them letters: " * 2


def test_a_long_prompt_runs_in_chunks_beside_those_that_write(model: Model) -> None:
    [short, long] = [run(model, job(model, prompt))[0] for prompt in ("Hi", LONG)]
    runner = SimpleRunner(model)
    loop = loop_over(model, runner, max_batch=4, token_budget=16)
    first, second = job(model, "Hi"), job(model, LONG)
    loop.add(first)
    loop.step()
    finish(loop, second)
    assert [first.tokens, second.tokens] == [short, long]
    sizes = [[len(piece.tokens) for piece in step] for step in runner.steps]
    assert max(sum(step) for step in sizes) == 16
    assert sizes[1:3] == [[1, 15], [1, 15]]  # the one that writes goes first
    chunks = [piece for step in runner.steps for piece in step if piece.sequence == 2]
    prefill = -(-len(second.prompt) // 15)
    assert [piece.logits for piece in chunks[:prefill]] == [0] * (prefill - 1) + [1]
    assert second.timings.forwards == len(chunks)


def test_no_more_run_than_the_batch_holds(model: Model) -> None:
    runner = SimpleRunner(model)
    jobs = [job(model, letter, Grammar.from_regex("[a-z]{4}")) for letter in "abcdef"]
    finish(loop_over(model, runner, max_batch=2), *jobs)
    assert max(map(len, runner.steps)) == 2
    assert [asked.finish_reason for asked in jobs] == ["stop"] * 6


def test_of_equals_the_first_to_come_is_the_first_to_run(model: Model) -> None:
    loop = loop_over(model, max_batch=1)
    jobs = [job(model, letter, max_tokens=3) for letter in "abc"]
    for asked in jobs:
        loop.add(asked)
    over: list[int] = []
    while not loop.is_idle:
        loop.step()
        over += [place for place, one in enumerate(jobs) if one.is_over and place not in over]
    assert over == [0, 1, 2]


def test_a_higher_priority_takes_the_place_of_a_lower_one(model: Model) -> None:
    wanted = [run(model, job(model, letter, max_tokens=10))[0] for letter in "ab"]
    loop = loop_over(model, max_batch=1)
    low, high = (job(model, letter, max_tokens=10) for letter in "ab")
    high.priority = 1
    loop.add(low)
    loop.step()
    loop.step()
    loop.add(high)
    while not high.is_over:
        loop.step()
        assert len(low.tokens) == 2
    finish(loop)
    assert [low.tokens, high.tokens] == wanted
    assert low.timings.preemptions == 1


@pytest.mark.parametrize("pages", [10, 12, 20])
def test_the_youngest_gives_its_pages_and_its_text_stays_the_same(model: Model, pages: int) -> None:
    prompts = ["Hello", "abc abc", "1 2 3", "x", "What?"]
    wanted = [run(model, job(model, prompt, max_tokens=30))[0] for prompt in prompts]
    runner = SimpleRunner(model, pages=pages, page_size=4)
    loop = loop_over(model, runner)
    jobs = [job(model, prompt, max_tokens=30) for prompt in prompts]
    assert finish(loop, *jobs) == wanted
    assert runner.most <= pages
    assert runner.sequences == {}
    assert jobs[0].timings.preemptions == 0
    assert runner.room() == pages * 4


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(temperature=2.0, seed=3)], ids=str)
def test_pages_are_taken_from_the_youngest(model: Model, sampling: Sampling) -> None:
    def make(letter: str) -> Job:
        return job(model, letter, Grammar.from_regex("[d-q]{60}"), 60, sampling)

    wanted = [run(model, make(letter))[0] for letter in "ab"]
    runner = SimpleRunner(model, pages=24, page_size=4)
    jobs = [make(letter) for letter in "ab"]
    assert finish(loop_over(model, runner), *jobs) == wanted
    assert [asked.timings.preemptions for asked in jobs] == [0, 1]
    assert [len(asked.tokens) for asked in jobs] == [60, 60]


def test_a_prompt_that_can_never_fit_is_refused_with_numbers(model: Model) -> None:
    runner = SimpleRunner(model, pages=4, page_size=4)
    loop = loop_over(model, runner)
    with pytest.raises(LimitError) as caught:
        loop.add(job(model, LONG))
    count = len(job(model, LONG).prompt)
    assert str(caught.value) == (
        f"the prompt has {count} tokens and can never fit: over the limit of 16 tokens of cache\n"
        "  mend: make the input smaller"
    )
    assert loop.is_idle


def test_a_text_that_fills_the_whole_cache_is_cut_there(model: Model) -> None:
    runner = SimpleRunner(model, pages=4, page_size=4)
    asked = job(model, "Hello", Grammar.from_regex("[a-z]{60}"), 60)
    finish(loop_over(model, runner), asked)
    assert asked.finish_reason == "length"
    # The token that was chosen last need not be in the cache.
    assert len(asked.prompt) + len(asked.tokens) == 17
    assert runner.sequences == {}


def test_a_forced_text_longer_than_the_room_is_cut_in_pieces_that_fit(model: Model) -> None:
    runner = SimpleRunner(model, pages=4, page_size=4)
    asked = job(model, "Hello", Grammar.from_regex("(a|b)(xyz){9}c*"), 60)
    finish(loop_over(model, runner), asked)
    assert asked.finish_reason == "length"
    assert asked.error is None
    assert runner.most == 4


def test_a_job_that_waits_for_its_grammar_keeps_nobody_waiting(model: Model) -> None:
    loop = loop_over(model, max_batch=2)
    slow, quick = job(model, "Hello"), job(model, "Hello")
    slow.compiling = Future()
    for asked in (slow, quick):
        loop.add(asked)
    while not quick.is_over:
        assert loop.step()
    assert not slow.tokens
    slow.compiling.set_result(None)
    finish(loop)
    assert slow.tokens == quick.tokens


class Liar(SimpleRunner):
    """Says that it has more room than it has, and raises when it is believed."""

    def room(self) -> int:
        return super().room() + 8

    def run(self, pieces: Sequence[Piece], allowed: Allowed | None = None) -> Logits:
        needed, room = self.needs(pieces), super().room()
        if needed > room:
            raise OutOfPages(needed, room)
        return super().run(pieces, allowed)


def test_a_runner_that_is_out_of_pages_all_the_same_is_heard(model: Model) -> None:
    wanted = [run(model, job(model, letter, max_tokens=30))[0] for letter in "ab"]
    jobs = [job(model, letter, max_tokens=30) for letter in "ab"]
    assert finish(loop_over(model, Liar(model, pages=10, page_size=4)), *jobs) == wanted


def test_a_runner_with_few_sequences_keeps_the_others_waiting(model: Model) -> None:
    class Two(SimpleRunner):
        def open(self, prompt: Sequence[int] = ()) -> tuple[int, int]:
            if len(self.sequences) == 2:
                raise GuidedError("there are no more sequences")
            return super().open(prompt)

    runner = Two(model)
    jobs = [job(model, letter, Grammar.from_regex("[d-q]{4}")) for letter in "abcde"]
    finish(loop_over(model, runner, max_batch=4), *jobs)
    assert [asked.finish_reason for asked in jobs] == ["stop"] * 5
    assert max(map(len, runner.steps)) == 2


def test_a_single_job_that_a_runner_has_no_pages_for_fails(model: Model) -> None:
    asked = job(model, "Hello", Grammar.from_regex("[d-q]{60}"), 60)
    finish(loop_over(model, Liar(model, pages=4, page_size=4)), asked)
    assert isinstance(asked.error, OutOfPages)
