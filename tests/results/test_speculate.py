"""The options `speculate` and `assistant`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import guided
from guided.decoding import Job, Model, load
from guided.results import Engine, generate, stream
from guided.sampling import Sampling
from tests.decoding.tiny_model import tiny_network, tiny_tokenizer

SCHEMA: Any = {"properties": {"true": {"enum": ["abc", "ab", "tru"]}}, "required": ["true"]}
OPTIONS: dict[str, Any] = {
    "auto": "auto",
    "forced": ["forced"],
    "all by name": ["forced", "states", "prompt", "lookahead"],
    "nothing": [],
}


class Fixed:
    """Proposes the same token over and over."""

    name, cost = "fixed", 0.0

    def __init__(self, token: int) -> None:
        self.token = token
        self.seen = 0

    def propose(self, jobs: Sequence[Job], most: Sequence[int]) -> list[guided.Draft]:
        drafts = [guided.Draft() for _ in jobs]
        for draft, limit in zip(drafts, most, strict=True):
            draft.add_chain([self.token] * min(4, limit))
        return drafts

    def observe(self, job: Job, tokens: Sequence[int], states: Sequence[int]) -> None:
        self.seen += len(tokens)


@pytest.fixture(scope="module")
def model() -> Model:
    return load(tiny_network(), tiny_tokenizer())


@pytest.fixture(scope="module")
def assistant() -> Model:
    return load(tiny_network(seed=1), tiny_tokenizer())


@pytest.mark.parametrize("speculate", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("constraint", [{"schema": SCHEMA}, {"regex": "(ab|c){20}"}, {}], ids=str)
def test_what_is_written_is_the_same(
    model: Model, speculate: Any, constraint: dict[str, Any]
) -> None:
    for sampling in ({}, {"temperature": 1.0, "seed": 5}):
        options = {**constraint, **sampling, "max_tokens": 30}
        plain = generate(model, "ab ab ab", speculate="off", **options)
        assert plain.stats.drafted_tokens == 0
        assert generate(model, "ab ab ab", speculate=speculate, **options).tokens == plain.tokens
        pieces = stream(model, "ab ab ab", speculate=speculate, **options)
        assert "".join(pieces) == plain.text


def test_an_assistant_changes_no_greedy_text(model: Model, assistant: Model) -> None:
    options: Any = {"regex": "[a-f]{30}", "max_tokens": 40}
    plain = generate(model, "Go: ", speculate="off", **options)
    sources: list[Any] = ["auto", ["assistant"], ["forced", "assistant"], ["layers"]]
    for speculate in sources:
        found = generate(model, "Go: ", speculate=speculate, assistant=assistant, **options)
        assert found.tokens == plain.tokens


def test_a_good_assistant_saves_forwards(model: Model) -> None:
    twin = load(tiny_network(), tiny_tokenizer())
    engine = Engine(model, speculate=["assistant"], assistant=twin)
    engine._driver.loop.speculator.pace.note_step(1, 1, 1.0)
    engine._driver.loop.speculator.pace.note_step(1, 17, 1.0)
    result = engine.submit("Go: ", regex="[a-f]{30}").result()
    assert result.stats.tokens_per_forward > 1.5
    drafted, accepted = engine.stats().drafts["assistant"]
    assert drafted == result.stats.drafted_tokens > 0
    assert accepted == result.stats.accepted_tokens > 0


def test_a_drafter_of_ones_own_is_asked(model: Model) -> None:
    drafter = Fixed(model.tokenizer("a")["input_ids"][0])
    result = generate(model, "Go: ", regex="a{30}|b{30}", speculate=[drafter], max_tokens=40)
    assert result.text in ("a" * 30, "b" * 30)
    assert drafter.seen >= 1


def test_each_request_of_an_engine_has_its_own(model: Model) -> None:
    engine = Engine(model, speculate="off")
    plain = engine.submit("1: ", regex="(ab|c){20}")
    drafted = engine.submit("1: ", regex="(ab|c){20}", speculate=["prompt", "states"])
    assert plain.result().tokens == drafted.result().tokens
    assert plain.result().stats.drafted_tokens == 0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"speculate": "fast"}, ValueError, 'speculate is "auto", "off", or a list of sources'),
        ({"speculate": ["magic"]}, ValueError, "sources of drafts are forced, states, prompt"),
        ({"speculate": 3}, ValueError, "found 3"),
        ({"speculate": [3]}, TypeError, "a drafter has the methods of guided.Drafter"),
        ({"speculate": ["assistant"]}, ValueError, "needs assistant=, a smaller model"),
    ],
)
def test_what_is_no_source_is_refused(
    model: Model, options: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        generate(model, "x", regex="a", **options)
    with pytest.raises(error, match=message):
        Engine(model, **options)


def test_an_assistant_that_is_the_model_is_refused(model: Model) -> None:
    with pytest.raises(guided.GuidedError, match="itself"):
        generate(model, "x", regex="a", assistant=model)


def test_min_tokens_beyond_max_tokens_is_refused_by_an_engine(model: Model) -> None:
    with pytest.raises(ValueError, match="min_tokens"):
        Engine(model).submit("x", sampling=Sampling(min_tokens=9), max_tokens=5)


def test_logprobs_and_mass(model: Model) -> None:
    result = generate(model, "x", regex="[a-f]{5}", logprobs=True)
    assert result.logprobs is not None
    assert [found.token for found in result.logprobs] == result.tokens
    assert result.grammar_mass is not None
    assert 0.5 < result.grammar_mass < 1  # six letters of 320 tokens
    assert generate(model, "x", regex="a").grammar_mass is None
    free = generate(model, "x", max_tokens=3, logprobs=True)
    assert free.grammar_mass == pytest.approx(0.0, abs=1e-6)
