"""What was reported of other engines that draft under a grammar: area "spec-decode" of the corpus.

The cases that are scenarios of a matcher run in tests/grammar/test_reported_scenarios.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from guided import fill_masks
from guided.decoding import Job, Loop, Model, load
from guided.decoding.drafts import Draft, Drafter
from guided.decoding.drafts.forced import ForcedDrafter
from guided.decoding.drafts.prompt import PromptDrafter
from guided.grammar import Grammar
from guided.sampling import Sampler, Sampling
from guided.vocabulary import Vocabulary
from tests.decoding.simple_drafters import EagerPace
from tests.decoding.table_runner import TableRunner
from tests.decoding.tiny_model import tiny_network, tiny_tokenizer

Case = dict[str, Any]
HANDLERS: dict[str, Callable[[Case], None]] = {}


def handles(name: str) -> Callable[[Callable[[Case], None]], Callable[[Case], None]]:
    def register(handler: Callable[[Case], None]) -> Callable[[Case], None]:
        HANDLERS[name] = handler
        return handler

    return register


class Fixed:
    """Proposes the same tokens as a chain, once, at the beginning."""

    name, cost = "fixed", 0.0

    def __init__(self, tokens: Sequence[int]) -> None:
        self.tokens = list(tokens)

    def propose(self, jobs: Sequence[Job], most: Sequence[int]) -> list[Draft]:
        drafts = [Draft() for _ in jobs]
        for job, draft in zip(jobs, drafts, strict=True):
            if not job.tokens:
                draft.add_chain(self.tokens)
        return drafts

    def observe(self, job: Job, tokens: Sequence[int], states: Sequence[int]) -> None:
        pass


class Wishing(TableRunner):
    """A model that wants given tokens first, in this order, after any text."""

    def __init__(self, width: int, *wishes: int) -> None:
        super().__init__(width)
        self.wishes = wishes

    def logits(self, tokens: Sequence[int]) -> Tensor:
        values = torch.zeros(self.width)
        for place, token in enumerate(self.wishes):
            values[token] = 10.0 - place
        return values


def vocabulary_of(*words: str) -> tuple[Vocabulary, dict[str, int]]:
    """Words and the end, `<eos>`; and their ids."""
    ids = {word: id_ for id_, word in enumerate([*words, "<eos>"])}
    spelled: list[bytes | None] = [word.encode() for word in words]
    return Vocabulary.from_tokens([*spelled, None], eos=[len(words)]), ids


def write(
    runner: TableRunner, vocabulary: Vocabulary, grammar: Grammar, *drafters: Drafter
) -> tuple[Job, Loop]:
    loop = Loop(runner, vocabulary, max_batch=1, token_budget=64)
    loop.speculator.pace = EagerPace()
    matcher = grammar.compile(vocabulary).matcher()
    job = Job([0], 12, Sampler(Sampling()), matcher, drafters=drafters)
    loop.add(job)
    while not loop.is_idle:
        assert loop.step()
    assert job.error is None
    return job, loop


@handles("spec-per-position-masks")
def each_place_of_a_draft_has_its_mask(case: Case) -> None:
    vocabulary, ids = vocabulary_of(*"1234x")
    matcher = Grammar.from_regex(case["constraint"]["value"]).compile(vocabulary).matcher()
    draft = [ids[word] for word in case["draft"]]
    rows = np.full((case["expect_rows"] + 1, vocabulary.words), -1, np.int32)  # (K + 1, W)
    fill_masks([matcher], rows, drafts=[(draft, None)])
    digits = sum(1 << ids[word] for word in "1234")
    assert rows[:3, 0].tolist() == [digits] * 3
    assert rows[3:, 0].tolist() == [0, 0]  # after what is not allowed nothing is
    job, _ = write(Wishing(vocabulary.size, ids["x"], ids["1"]), vocabulary,
                   Grammar.from_regex(case["constraint"]["value"]), Fixed(draft))  # fmt: skip
    assert job.tokens == [ids["1"]] * 4


@handles("spec-bonus-token-mask")
def the_token_after_a_draft_is_masked(case: Case) -> None:
    vocabulary, ids = vocabulary_of(*"abcdez")
    draft = [ids[word] for word in case["draft"]]

    class Model(Wishing):
        def logits(self, tokens: Sequence[int]) -> Tensor:
            written = len(tokens) - 1
            wish = draft[written] if written < len(draft) else ids[case["target_argmax_after"]]
            self.wishes = (wish, ids["e"])
            return super().logits(tokens)

    grammar = Grammar.from_regex(case["constraint"]["value"])
    job, loop = write(Model(vocabulary.size), vocabulary, grammar, Fixed(draft))
    assert job.tokens == [ids[word] for word in "abce"]
    assert loop.totals.steps == 1


@handles("spec-reasoning-end-inside-draft")
def the_grammar_holds_from_the_marker_on(case: Case) -> None:
    vocabulary, ids = vocabulary_of("ok", "</think>", "```", "json", "{", "}")
    grammar = Grammar.from_lark('start: /(?s:.*?<\\/think>)/ "{}"', lexer="dynamic")
    matcher = grammar.compile(vocabulary).matcher()
    draft = [ids[word] for word in case["draft"]]
    assert matcher.accepted_prefix(draft) == 2
    runner = Wishing(vocabulary.size, ids["```"], ids["{"])

    class Model(Wishing):
        def logits(self, tokens: Sequence[int]) -> Tensor:
            place = len(tokens) - 1
            self.wishes = (draft[place],) if place < 2 else (ids["```"], ids["{"])
            return super().logits(tokens)

    job, _ = write(Model(runner.width), vocabulary, grammar, Fixed(draft))
    assert job.tokens == [*draft[:2], ids["{"], ids["}"]]


@handles("spec-finish-on-grammar-end")
def the_end_inside_a_draft_ends_the_text(case: Case) -> None:
    vocabulary, ids = vocabulary_of("yes", "no", "x")
    grammar = Grammar.from_regex(case["constraint"]["value"])
    runner = Wishing(vocabulary.size, ids["yes"], ids["<eos>"], ids["x"])
    job, _ = write(runner, vocabulary, grammar, Fixed([ids[word] for word in case["draft"]]))
    assert job.tokens == [ids["yes"]]
    assert job.finish_reason == "stop"
    assert runner.sequences == {}


def tiny() -> Model:
    return load(tiny_network(), tiny_tokenizer(), dtype=torch.float64)


KEYS = {
    "type": "object",
    "properties": {"true": {"enum": ["abc", "ab", "tru"]}, "12": {"type": "integer"}},
    "required": ["true", "12"],
    "additionalProperties": False,
}


def texts(
    model: Model, count: int, grammar: Grammar, sampling: Sampling, *drafters: Drafter
) -> Any:
    """The tokens of some prompts under one grammar."""
    from guided.results import Engine

    engine = Engine(model, speculate=list(drafters))
    engine._driver.loop.speculator.pace = EagerPace()
    requests = [
        engine.submit(f"{place} is: ", grammar=grammar, sampling=sampling, max_tokens=24)
        for place in range(count)
    ]
    engine.run()
    return [request.result().tokens for request in requests]


@handles("spec-forced-text-retokenization")
def forced_text_is_written_in_the_tokens_of_the_model(case: Case) -> None:
    model, grammar = tiny(), Grammar.from_json_schema(KEYS, whitespace="compact")
    plain = texts(model, 6, grammar, Sampling())
    assert texts(model, 6, grammar, Sampling(), ForcedDrafter()) == plain


@handles("spec-same-distribution")
def drafts_change_nothing(case: Case) -> None:
    """Under chance too: see test_distribution.py for whole distributions."""
    model = tiny()
    grammars = [
        Grammar.from_json_schema(KEYS),
        Grammar.from_regex("[a-f]{3,20}"),
        Grammar.from_choices(["yes", "no", "maybe"]),
    ]
    for grammar in grammars:
        for sampling in (Sampling(), Sampling(temperature=1.5, seed=3)):
            plain = texts(model, 20, grammar, sampling)
            drafted = texts(model, 20, grammar, sampling, ForcedDrafter(), PromptDrafter())
            assert drafted == plain


def test_reported_cases(corpora: Path, subtests: pytest.Subtests) -> None:
    lines = (corpora / "reported-cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["area"] == "spec-decode"]
    assert {case["id"] for case in cases if case["input"]["kind"] != "scenario"} == set(HANDLERS)
    for case in cases:
        if case["id"] in HANDLERS:
            with subtests.test(case["id"]):
                HANDLERS[case["id"]](case["input"])
