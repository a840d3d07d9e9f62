"""The loop against stock generation, and under constraints; over the simple runner."""

from __future__ import annotations

import re
from concurrent.futures import Future

import pytest
import torch
from torch import Tensor
from transformers import GenerationMixin

from guided.decoding import Job, Loop, Model, load
from guided.errors import LimitError
from guided.grammar import Grammar, Matcher
from guided.sampling import Sampler, Sampling, mask_logits
from tests.decoding.simple_runner import SimpleRunner, network_of
from tests.decoding.tiny_model import tiny_network, tiny_tokenizer


def job(
    model: Model,
    prompt: str,
    grammar: Grammar | None = None,
    max_tokens: int = 40,
    sampling: Sampling | None = None,
) -> Job:
    return Job(
        prompt=model.tokenizer(prompt)["input_ids"],
        max_tokens=max_tokens,
        sampler=Sampler(sampling or Sampling()),
        matcher=None if grammar is None else grammar.compile(model.vocabulary).matcher(),
    )


def loop_over(
    model: Model, runner: SimpleRunner | None = None, max_batch: int = 8, token_budget: int = 64
) -> Loop:
    runner = runner or SimpleRunner(model)
    return Loop(runner, model.vocabulary, max_batch=max_batch, token_budget=token_budget)


def finish(loop: Loop, *jobs: Job, most: int = 2000) -> list[list[int]]:
    """Run until all are over; a step that does nothing would never end."""
    for asked in jobs:
        loop.add(asked)
    steps = 0
    while not loop.is_idle:
        assert loop.step()
        steps += 1
        assert steps < most
    return [asked.tokens for asked in jobs]


def run(model: Model, *jobs: Job) -> list[list[int]]:
    loop = loop_over(model)
    tokens = finish(loop, *jobs)
    assert isinstance(loop.runner, SimpleRunner)
    assert loop.runner.sequences == {}
    return tokens


def text(model: Model, tokens: list[int]) -> str:
    spellings = [model.vocabulary.token_bytes(token) for token in tokens]
    return b"".join(spelling or b"" for spelling in spellings).decode("utf-8")


@pytest.mark.parametrize("prompt", ["Hello", "abc abc abc", "1", "Ωmega"])
def test_free_greedy_text_is_that_of_stock_generation(model: Model, prompt: str) -> None:
    ids = torch.tensor([model.tokenizer(prompt)["input_ids"]])  # (1, T)
    network = network_of(model)
    assert isinstance(network, GenerationMixin)
    stock = network.generate(
        ids, max_new_tokens=40, do_sample=False, attention_mask=torch.ones_like(ids)
    )[0, ids.shape[1] :].tolist()
    ours = job(model, prompt)
    [tokens] = run(model, ours)
    ended = stock[-1:] == [1]
    assert tokens == (stock[:-1] if ended else stock)
    assert ours.finish_reason == ("stop" if ended else "length")
    assert ours.is_complete is ended


def test_greedy_under_a_mask_takes_the_best_allowed_token(model: Model) -> None:
    """The same by hand: no cache, no batch, allowed tokens tried one by one."""
    grammar = Grammar.from_regex("[a-f]{3,6}x?")
    prompt = "Hello"
    matcher = grammar.compile(model.vocabulary).matcher()
    ids: list[int] = model.tokenizer(prompt)["input_ids"]
    network = network_of(model)
    expected: list[int] = []
    while True:
        with torch.no_grad():
            logits = network(input_ids=torch.tensor([ids + expected])).logits[0, -1]
        allowed = [token for token in range(model.vocabulary.size) if matcher.can_accept(token)]
        best = max(allowed, key=lambda token: float(logits[token]))
        if best in model.vocabulary.eos:
            break
        matcher.accept(best)
        expected.append(best)
    assert run(model, job(model, prompt, grammar)) == [expected]


@pytest.mark.parametrize("pattern", ["[0-9]{4}-[0-9]{2}", "(yes|no) [a-z]*", "true|false", "é{3}"])
@pytest.mark.parametrize("sampling", [Sampling(), Sampling(temperature=1.5, seed=4)], ids=str)
def test_what_comes_out_fits(model: Model, pattern: str, sampling: Sampling) -> None:
    asked = job(model, "Write: ", Grammar.from_regex(pattern), 30, sampling)
    [tokens] = run(model, asked)
    if asked.finish_reason == "stop":
        assert re.fullmatch(pattern, text(model, tokens))
    else:
        assert len(tokens) == 30


@pytest.mark.parametrize("pattern", ["true|false", "(yes|no) [a-f]{2}", "[0-9]{4}-[0-9]{2}"])
@pytest.mark.parametrize("sampling", [Sampling(), Sampling(temperature=2, seed=4)], ids=str)
def test_columns_of_the_head_give_what_the_whole_head_gives(
    model: Model, pattern: str, sampling: Sampling
) -> None:
    outputs = []
    for picks_columns in (True, False):
        runner = SimpleRunner(model, picks_columns=picks_columns)
        asked = job(model, "Well: ", Grammar.from_regex(pattern), 30, sampling)
        outputs.append(finish(loop_over(model, runner), asked))
    assert outputs[0] == outputs[1]


PROMPTS = ["a", "A much longer prompt than that", "abc", "12 12 12 12"]
PATTERNS = ["[a-z]{2,9}", '\\{"name": "[a-z]{1,5}", "age": [0-9]{1,3}\\}', "true|false", "[0-9.]*"]


@pytest.mark.parametrize("kind", ["constrained", "free", "mixed"])
def test_a_batch_gives_what_each_prompt_gives_alone(model: Model, kind: str) -> None:
    grammars = [
        None if kind == "free" or (kind == "mixed" and place % 2) else Grammar.from_regex(pattern)
        for place, pattern in enumerate(PATTERNS)
    ]
    cases = list(zip(PROMPTS, grammars, strict=True))
    alone = [run(model, job(model, prompt, grammar))[0] for prompt, grammar in cases]
    assert run(model, *(job(model, prompt, grammar) for prompt, grammar in cases)) == alone
    assert len({len(tokens) for tokens in alone}) > 1 or kind == "free"  # they leave at times


def test_jobs_join_and_leave_between_steps(model: Model) -> None:
    cases = list(zip(PROMPTS, PATTERNS, strict=True))
    alone = [run(model, job(model, prompt, Grammar.from_regex(p)))[0] for prompt, p in cases]
    loop = loop_over(model)
    jobs = [job(model, prompt, Grammar.from_regex(pattern)) for prompt, pattern in cases]
    for asked in jobs:
        loop.add(asked)
        loop.step()
        loop.step()
    assert finish(loop) == []
    assert [asked.tokens for asked in jobs] == alone
    assert max(asked.timings.batch for asked in jobs) > 1


def test_a_text_that_can_only_be_one_costs_no_forward(model: Model) -> None:
    asked = job(model, "Say it: ", Grammar.from_choices(["always the same"]))
    [tokens] = run(model, asked)
    assert text(model, tokens) == "always the same"
    assert asked.finish_reason == "stop"
    assert asked.is_complete
    assert asked.forced == len(tokens)
    assert asked.timings.forwards == 0


def test_forced_tokens_are_run_together_with_the_chosen_one(model: Model) -> None:
    asked = job(model, "x", Grammar.from_regex("(Xone|Yeno) and nothing more than that"))
    [tokens] = run(model, asked)
    assert asked.timings.forwards == 1
    assert asked.forced == len(tokens) - 1
    assert asked.finish_reason == "stop"


def test_room_bounds_forced_tokens_too(model: Model) -> None:
    asked = job(model, "Say it: ", Grammar.from_choices(["always the same"]), max_tokens=3)
    [tokens] = run(model, asked)
    assert len(tokens) == 3
    assert asked.finish_reason == "length"
    assert not asked.is_complete


class Scripted(Sampler):
    """Chooses the tokens it was given, as a model that is sure of them would."""

    def __init__(self, *tokens: int) -> None:
        super().__init__(Sampling(temperature=1.0, seed=0))
        self._tokens = list(tokens)

    def choose(
        self, logits: Tensor, mask: Tensor | None = None, tokens: Tensor | None = None
    ) -> int:
        token = self._tokens.pop(0)
        if mask is not None:
            mask_logits(logits, mask, tokens)
            place = token if tokens is None else tokens.tolist().index(token)
            assert logits[place] > -torch.inf
        return token


def scripted(model: Model, grammar: Grammar | None, *tokens: int, max_tokens: int = 40) -> Job:
    asked = job(model, "Hi", grammar, max_tokens)
    asked.sampler = Scripted(*tokens)
    return asked


def token_of(model: Model, character: str) -> int:
    [token] = model.tokenizer(character)["input_ids"]
    return int(token)


def test_a_text_that_fits_when_its_room_ends_is_complete_but_was_cut(model: Model) -> None:
    a = token_of(model, "a")
    asked = scripted(model, Grammar.from_regex("a{2,}"), a, a, max_tokens=2)
    assert run(model, asked) == [[a, a]]
    assert asked.finish_reason == "length"
    assert asked.is_complete


def test_a_text_that_lacks_something_when_its_room_ends_is_not_complete(model: Model) -> None:
    a = token_of(model, "a")
    asked = scripted(model, Grammar.from_regex("(a|b){3}"), a, a, max_tokens=2)
    run(model, asked)
    assert asked.finish_reason == "length"
    assert not asked.is_complete


def test_a_text_that_can_only_end_when_its_room_ends_was_not_cut(model: Model) -> None:
    a = token_of(model, "a")
    asked = scripted(model, Grammar.from_regex("(a|b){2}"), a, a, max_tokens=2)
    run(model, asked)
    assert asked.finish_reason == "stop"


@pytest.mark.parametrize("end", [1, 2])
@pytest.mark.parametrize("pattern", ["[a-z]*", None])
def test_each_end_token_ends_and_is_not_part_of_the_output(end: int, pattern: str | None) -> None:
    network = tiny_network()
    network.generation_config.eos_token_id = [1, 2]
    model = load(network, tiny_tokenizer())
    assert sorted(model.vocabulary.eos) == [1, 2]
    a = token_of(model, "a")
    grammar = None if pattern is None else Grammar.from_regex(pattern)
    asked = scripted(model, grammar, a, a, end)
    assert run(model, asked) == [[a, a]]
    assert asked.finish_reason == "stop"
    assert asked.is_complete


def test_several_end_tokens_alone_need_no_forward_to_choose_between() -> None:
    network = tiny_network()
    network.generation_config.eos_token_id = [1, 2]
    model = load(network, tiny_tokenizer())
    asked = job(model, "Hi", Grammar.from_choices(["a", "b"]))
    [tokens] = run(model, asked)
    assert text(model, tokens) in {"a", "b"}
    assert asked.timings.forwards == 1


def test_nothing_runs_before_it_is_asked_for(model: Model) -> None:
    loop, asked = loop_over(model), job(model, "Hello")
    loop.add(asked)
    assert asked.timings.forwards == 0
    loop.step()
    assert asked.timings.forwards == 1
    assert len(asked.tokens) == 1


def test_a_job_that_is_cancelled_or_late_keeps_what_it_wrote(model: Model) -> None:
    loop = loop_over(model)
    jobs = [job(model, "Hello", Grammar.from_regex("[a-z]{30}")) for _ in range(3)]
    for asked in jobs:
        loop.add(asked)
    loop.step()
    loop.step()
    jobs[0].cancelled = True
    jobs[1].deadline = 0.0
    finish(loop)
    assert [asked.finish_reason for asked in jobs] == ["cancelled", "timeout", "stop"]
    assert jobs[0].tokens == jobs[1].tokens == jobs[2].tokens[: len(jobs[0].tokens)]
    assert 0 < len(jobs[0].tokens) < 30
    assert not jobs[0].is_complete
    assert loop.totals.cancelled == 2
    assert loop.totals.finished == 1


def test_the_prompt_is_run_while_the_grammar_is_compiled(model: Model) -> None:
    grammar = Grammar.from_regex("(yes|no), of course")
    [wanted] = run(model, job(model, "A question? ", grammar))
    runner = SimpleRunner(model)
    loop, asked = loop_over(model, runner), job(model, "A question? ")
    asked.compiling = compiling = Future[Matcher | None]()
    loop.add(asked)
    assert loop.step()
    assert not loop.step()  # nothing to do until the grammar is there
    assert not asked.tokens
    [[piece]] = runner.steps
    assert list(piece.tokens) == asked.prompt[:-1]
    assert piece.logits == 0
    compiling.set_result(grammar.compile(model.vocabulary).matcher())
    assert finish(loop) == []
    assert asked.tokens == wanted
    assert list(runner.steps[1][0].tokens) == asked.prompt[-1:]


def test_a_grammar_that_fails_fails_its_job_alone(model: Model) -> None:
    loop = loop_over(model)
    jobs = [job(model, "Hello", Grammar.from_regex("[a-z]{5}")) for _ in range(2)]
    error = LimitError("too much", limit="nodes", value=1)
    jobs[1].compiling = Future()
    jobs[1].compiling.set_exception(error)
    finish(loop, *jobs)
    assert jobs[0].finish_reason == "stop"
    assert jobs[1].error is error
    assert jobs[1].finish_reason is None
    assert loop.totals.failed == 1


class Failing(Matcher):
    """A matcher that runs out of memory at a mask, as a grammar of the worst kind may."""

    def fill_mask(self, row: object) -> None:
        raise MemoryError

    def fork(self) -> Matcher:
        return Failing(self)


@pytest.mark.parametrize("count", [1, 3])
def test_a_mask_that_fails_fails_its_job_alone(
    model: Model, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill_each(matchers: list[Matcher], rows: Tensor, **_: object) -> bool:
        for matcher, row in zip(matchers, rows, strict=True):
            matcher.fill_mask(row)
        return True

    monkeypatch.setattr("guided.decoding.masking.fill_masks", fill_each)
    automaton = Grammar.from_regex("[a-z]{5}").compile(model.vocabulary)
    [wanted] = run(model, job(model, "Hello", Grammar.from_regex("[a-z]{5}")))
    jobs = [job(model, "Hello", Grammar.from_regex("[a-z]{5}")) for _ in range(count)]
    jobs[0].matcher = Failing(automaton)
    run(model, *jobs)
    assert isinstance(jobs[0].error, MemoryError)
    assert [asked.tokens for asked in jobs[1:]] == [wanted] * (count - 1)


def test_a_forward_that_fails_fails_its_jobs_and_the_loop_goes_on(model: Model) -> None:
    runner = SimpleRunner(model)
    loop = loop_over(model, runner)
    [wanted] = run(model, job(model, "Hello"))

    def fail(pieces: object) -> None:
        raise RuntimeError("the device is gone")

    runner.hook = fail
    first = job(model, "Hello")
    finish(loop, first)
    assert str(first.error) == "the device is gone"
    assert runner.sequences == {}
    runner.hook = lambda pieces: None
    assert finish(loop, job(model, "Hello")) == [wanted]


def test_an_interrupted_forward_is_done_again(model: Model) -> None:
    runner = SimpleRunner(model)
    loop, asked = loop_over(model, runner), job(model, "Hello")
    [wanted] = run(model, job(model, "Hello"))
    loop.add(asked)
    loop.step()

    def interrupt(pieces: object) -> None:
        raise KeyboardInterrupt

    runner.hook = interrupt
    with pytest.raises(KeyboardInterrupt):
        loop.step()
    assert runner.sequences == {}
    runner.hook = lambda pieces: None
    finish(loop)
    assert asked.tokens == wanted


def test_the_sums_are_those_of_the_jobs(model: Model) -> None:
    loop = loop_over(model)
    jobs = [job(model, p, Grammar.from_regex(q)) for p, q in zip(PROMPTS, PATTERNS, strict=True)]
    finish(loop, *jobs)
    totals = loop.totals
    assert totals.finished == len(jobs)
    assert totals.prompt_tokens == sum(len(asked.prompt) for asked in jobs)
    assert totals.output_tokens == sum(len(asked.tokens) for asked in jobs)
    assert totals.forced_tokens == sum(asked.forced for asked in jobs)
    assert totals.steps == max(asked.timings.forwards for asked in jobs)
    assert 0 < totals.run_seconds < totals.step_seconds
    assert all(asked.timings.first_token > 0 for asked in jobs)
