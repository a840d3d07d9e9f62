"""Many requests of all kinds through a cache that is too small: each is as if it were alone."""

from __future__ import annotations

import gc
import os
import random
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

from guided.decoding import Job, Loop, Model, load
from guided.errors import GrammarError
from guided.grammar import Grammar
from guided.results import Engine, Request
from guided.sampling import Sampler, Sampling
from tests.decoding.simple_runner import SimpleRunner
from tests.decoding.tiny_model import tiny_network, tiny_tokenizer

GRAMMARS: list[dict[str, Any]] = [
    {},
    {"regex": "[a-z]{1,60}"},
    {"regex": r"(\d{4}-\d{2}-\d{2} ){1,4}"},
    {"regex": "(one|two|three) and nothing more than that"},
    {"choices": ["yes", "no", "neither of these two"]},
    {"choices": ["only this"]},
    {"schema": {"type": "array", "items": {"type": "boolean"}, "maxItems": 6}},
    {"schema": {"properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "y"]}}}},
]
BROKEN: list[dict[str, Any]] = [{"regex": "(a"}, {"schema": {"type": "nothing"}}]
PAGE = 64 * 2 * 2 * 2 * 8 * 8  # tokens, layers, keys and values, heads, size, bytes


@dataclass
class Case:
    """A request, and how it is treated."""

    prompt: str
    constraint: dict[str, Any]
    sampling: Sampling
    max_tokens: int
    priority: int
    fate: str  # "kept", "cancelled", "late" or "broken"
    request: Request = field(init=False)


def make_cases(count: int, seed: int) -> list[Case]:
    generator = random.Random(seed)
    beginnings = ["", "The same beginning of many prompts, longer than a page of the cache: " * 2]
    return [make_case(generator, beginnings) for _ in range(count)]


def make_case(generator: random.Random, beginnings: list[str]) -> Case:
    fate = generator.choices(["kept", "cancelled", "late", "broken"], [80, 10, 5, 5])[0]
    letters = "".join(generator.choices("abc xyz 123", k=generator.choice([1, 5, 40, 80])))
    sampling = Sampling()
    if generator.random() < 0.5:
        sampling = Sampling(temperature=generator.choice([0.7, 2.0]), seed=generator.randrange(99))
    return Case(
        prompt=generator.choice(beginnings) + letters,
        constraint=generator.choice(BROKEN if fate == "broken" else GRAMMARS),
        sampling=sampling,
        max_tokens=generator.choice([1, 5, 30, 60]),
        priority=generator.choice([0, 0, 0, 1]),
        fate=fate,
    )


def alone(model: Model, case: Case) -> Job:
    """The same by the stock forward over the whole text, without a cache or a batch."""
    constraint = case.constraint
    grammar = None
    if "regex" in constraint:
        grammar = Grammar.from_regex(constraint["regex"])
    elif "choices" in constraint:
        grammar = Grammar.from_choices(constraint["choices"])
    elif "schema" in constraint:
        grammar = Grammar.from_json_schema(constraint["schema"])
    tokens: list[int] = model.tokenizer(case.prompt)["input_ids"]
    job = Job(
        prompt=tokens,
        max_tokens=min(case.max_tokens, 256 - len(tokens)),
        sampler=Sampler(case.sampling),
        matcher=None if grammar is None else grammar.compile(model.vocabulary).matcher(),
    )
    loop = Loop(SimpleRunner(model), model.vocabulary, max_batch=1, token_budget=256)
    loop.add(job)
    while not job.is_over:
        loop.step()
    return job


def ask(engine: Engine, cases: list[Case]) -> None:
    """Submit, cancel, and wait for all of them."""
    for case in cases:
        case.request = engine.submit(
            case.prompt,
            sampling=case.sampling,
            max_tokens=case.max_tokens,
            priority=case.priority,
            timeout=1e-4 if case.fate == "late" else None,
            **case.constraint,
        )
        if case.fate == "cancelled":
            next(iter(case.request), None)
            case.request.cancel()
    for case in cases:
        if case.fate != "broken":
            case.request.result(timeout=300)


def run_all(engine: Engine, cases: list[Case], threads: int = 4) -> None:
    asking = [
        threading.Thread(target=ask, args=(engine, cases[place::threads]))
        for place in range(threads)
    ]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()


def check(model: Model, case: Case) -> None:
    if case.fate == "broken":
        assert isinstance(case.request.error, GrammarError) or "type" in str(case.request.error)
        return
    wanted, found = alone(model, case), case.request.result()
    whole = found.finish_reason in ("stop", "length")
    assert whole or case.fate in ("cancelled", "late")
    assert found.tokens == wanted.tokens[: len(found.tokens)], case
    if whole:
        assert (found.tokens, found.finish_reason) == (wanted.tokens, wanted.finish_reason), case
        assert found.is_complete == wanted.is_complete


def resident() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def count_jobs() -> int:
    """Jobs that something still holds."""
    gc.collect()
    return sum(type(thing) is Job for thing in gc.get_objects())


def soak(count: int, rounds: int, seed: int) -> None:
    # In double precision, so that no choice hangs on how a batch is summed up.
    model = load(tiny_network(), tiny_tokenizer(), dtype=torch.float64)
    memory: list[int] = []
    others = count_jobs()
    with Engine(model, max_batch=6, token_budget=48, memory=8 * PAGE) as engine:
        assert engine.stats().pages == 7  # a request takes up to 4
        for turn in range(rounds):
            cases = make_cases(count, seed + turn)
            run_all(engine, cases)
            for case in cases:
                check(model, case)
            stats = engine.stats()
            assert (stats.running, stats.waiting) == (0, 0)
            assert stats.free_pages == stats.pages
            del cases, case
            assert count_jobs() == others
            memory.append(resident())
        assert stats.finished + stats.failed + stats.cancelled == count * rounds
        assert stats.cached_tokens > 0
        # Who meets whom in the cache hangs on how fast grammars are made; of many requests some
        # must meet. (tests/results/test_engine.py has a case where all do.)
        assert stats.preemptions > 0 or count * rounds < 100
    assert memory[-1] - memory[0] < 32 << 20, memory


def test_each_of_many_is_as_if_it_were_alone() -> None:
    soak(30, 2, seed=1)


@pytest.mark.nightly
def test_each_of_a_thousand_is_as_if_it_were_alone() -> None:
    soak(500, 2, seed=10)
