"""The processor for vLLM: requests that join, leave and move, and those that go wrong."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import logging
import re
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

import guided
from guided.decoding import Model
from guided.integrations.request_grammar import read_grammar
from guided.integrations.vllm_requests import read_vocabulary
from tests.decoding.tiny_model import VOCABULARY
from tests.integrations import stand_ins
from tests.integrations.stand_ins import allowed

INSTALLED = importlib.util.find_spec("vllm") is not None
END = 1
EVERYTHING = list(range(VOCABULARY))


@pytest.fixture
def adapter(
    vllm_modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> Iterator[ModuleType]:
    """The module, on classes that are restated here, or on those of vLLM."""
    yield from stand_ins.imported("guided.integrations.vllm", vllm_modules, monkeypatch)


@pytest.fixture
def processor(adapter: ModuleType, model: Model, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(adapter, "read_vocabulary", lambda config: model.vocabulary)
    config = SimpleNamespace(model_config=None)
    return adapter.GuidedLogitsProcessor(config, torch.device("cpu"), is_pin_memory=False)


class Engine:
    """A batch of requests as vLLM keeps it: rows are filled, emptied, moved and exchanged."""

    def __init__(self, processor: Any) -> None:
        self.processor = processor
        names = importlib.import_module("vllm.v1.sample.logits_processor")
        self.names: Any = names
        self.size = 0

    def update(
        self,
        *,
        removed: list[int] | None = None,
        added: Sequence[tuple[int, object, list[int]]] | None = None,
        moved: list[tuple[int, int, str]] | None = None,
        size: int,
    ) -> None:
        self.size = size
        self.processor.update_state(
            self.names.BatchUpdate(
                batch_size=size,
                removed=removed or [],
                added=[
                    (index, parameters(constraint), [5, 6], output)
                    for index, constraint, output in added or []
                ],
                moved=[
                    (source, target, self.names.MoveDirectionality[kind])
                    for source, target, kind in moved or []
                ],
            )
        )

    def step(self) -> list[list[int]]:
        """What each row may write next."""
        self.processor.update_state(None)
        logits = torch.zeros(self.size, VOCABULARY)
        assert self.processor.apply(logits) is logits
        return allowed(logits)


def parameters(constraint: object) -> Any:
    return SimpleNamespace(extra_args=None if constraint is None else {"guided": constraint})


@pytest.fixture
def engine(processor: Any) -> Engine:
    return Engine(processor)


def ids(model: Model, text: str) -> list[int]:
    return list(model.tokenizer(text)["input_ids"])


def next_tokens(model: Model, pattern: str, written: str) -> list[int]:
    """What may come, by a matcher of its own."""
    matcher = guided.Grammar.from_regex(pattern).compile(model.vocabulary).matcher()
    matcher.accept_bytes(written.encode())
    return matcher.allowed_tokens()


def test_rows_without_grammar_are_left_alone(engine: Engine, model: Model) -> None:
    engine.update(added=[(0, None, []), (1, {"regex": "ax+"}, []), (2, None, [])], size=3)
    assert engine.step() == [EVERYTHING, ids(model, "a"), EVERYTHING]


def test_a_batch_without_grammars_is_not_touched(engine: Engine) -> None:
    engine.update(added=[(0, None, [])], size=1)
    logits = torch.randn(1, VOCABULARY)
    before = logits.clone()
    assert torch.equal(engine.processor.apply(logits), before)


def test_lists_of_tokens_that_grow_are_followed(engine: Engine, model: Model) -> None:
    output: list[int] = []
    engine.update(added=[(0, {"regex": "(xy|z9)?q"}, output)], size=1)
    for written in ("", "x", "xy", "xyq"):
        output[:] = ids(model, written)
        assert engine.step() == [next_tokens(model, "(xy|z9)?q", written)]


def test_several_tokens_at_once_and_tokens_taken_back(engine: Engine, model: Model) -> None:
    output: list[int] = []
    engine.update(added=[(0, {"regex": "[xyz]{4}"}, output)], size=1)
    for written in ("", "xyz", "x", "yy", "yyzz", ""):
        output[:] = ids(model, written)
        assert engine.step() == [next_tokens(model, "[xyz]{4}", written)]


def test_a_request_that_comes_back_brings_its_output(engine: Engine, model: Model) -> None:
    output = ids(model, "xy")
    engine.update(added=[(0, {"regex": "xyz"}, output)], size=1)
    assert engine.step() == [ids(model, "z")]


def test_requests_move_exchange_and_replace_their_rows(engine: Engine, model: Model) -> None:
    letters = "pqrs"
    outputs: list[list[int]] = [[] for _ in letters]
    added = [(row, {"regex": letter + "!"}, outputs[row]) for row, letter in enumerate(letters)]
    engine.update(added=added, size=4)
    p, q, r, s = (ids(model, letter) for letter in letters)
    assert engine.step() == [p, q, r, s]

    engine.update(moved=[(0, 3, "SWAP")], size=4)
    assert engine.step() == [s, q, r, p]

    # Row 1 leaves, and the last row moves into its place.
    engine.update(removed=[1], moved=[(3, 1, "UNIDIRECTIONAL")], size=3)
    assert engine.step() == [s, p, r]

    # A request that joins takes the row of one that leaves, with a grammar or without.
    engine.update(removed=[], added=[(0, None, []), (1, {"regex": "z"}, [])], size=3)
    assert engine.step() == [EVERYTHING, ids(model, "z"), r]

    # A row without grammar is moved over one with, and exchanged with one.
    engine.update(moved=[(0, 2, "SWAP")], size=3)
    assert engine.step() == [r, ids(model, "z"), EVERYTHING]
    engine.update(removed=[0], moved=[(2, 0, "UNIDIRECTIONAL")], size=2)
    assert engine.step() == [EVERYTHING, ids(model, "z")]
    engine.update(moved=[(0, 1, "UNIDIRECTIONAL")], size=2)
    assert engine.step() == [EVERYTHING, EVERYTHING]

    # And the one that was moved first is still at its own output.
    outputs[2] += r
    engine.update(added=[(0, {"regex": "r!"}, outputs[2])], size=1)
    assert engine.step() == [ids(model, "!")]


def test_a_row_that_was_left_is_free(engine: Engine, model: Model) -> None:
    engine.update(added=[(row, {"regex": "x"}, []) for row in (0, 1)], size=2)
    engine.update(removed=[0], size=2)
    assert engine.step() == [EVERYTHING, ids(model, "x")]


def test_a_request_ends_at_the_end_token(engine: Engine, model: Model) -> None:
    output = ids(model, "x")
    engine.update(added=[(0, {"choices": ["x"]}, output)], size=1)
    assert engine.step() == [[END]]
    output.append(END)
    assert engine.step() == [[END]]


def test_a_text_that_can_only_end_ends_though_more_tokens_are_asked_for(
    engine: Engine, model: Model
) -> None:
    engine.update(added=[(0, {"choices": ["x"]}, ids(model, "x"))], size=1)
    logits = torch.zeros(1, VOCABULARY)
    logits[0, END] = -torch.inf  # min_tokens
    engine.processor.apply(logits)
    assert allowed(logits) == [[END]]


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        pytest.param([-1], "vLLM does not tell its tokens", id="tokens that are not told"),
        pytest.param([9], "is not allowed here", id="a token that something else chose"),
    ],
)
def test_what_goes_wrong_ends_its_request_alone(
    engine: Engine,
    model: Model,
    caplog: pytest.LogCaptureFixture,
    written: list[int],
    reason: str,
) -> None:
    outputs: list[list[int]] = [[], []]
    constraint = {"regex": "xy"}
    engine.update(added=[(row, constraint, outputs[row]) for row in (0, 1)], size=2)
    engine.step()
    outputs[0] += written
    outputs[1] += ids(model, "x")
    with caplog.at_level(logging.ERROR):
        assert engine.step() == [[END], ids(model, "y")]
    assert reason in caplog.text


def test_a_grammar_that_fails_late_ends_its_request_alone(
    engine: Engine, caplog: pytest.LogCaptureFixture, model: Model
) -> None:
    with caplog.at_level(logging.ERROR):
        engine.update(added=[(0, {"regex": "("}, []), (1, {"regex": "x"}, [])], size=2)
    assert engine.step() == [[END], ids(model, "x")]
    assert "its grammar cannot be used" in caplog.text


@pytest.mark.parametrize(
    ("constraint", "text"),
    [
        ({"regex": "a|b"}, "b"),
        ({"choices": ["yes", "no"]}, "no"),
        ({"schema": {"type": "boolean"}}, "true"),
        ({"schema": '{"type": "boolean"}'}, "false"),
        ({"schema": {"type": "array", "maxItems": 2}, "whitespace": "compact"}, "[1,2]"),
        ({"lark": 'start: "a" "b"'}, "ab"),
        ({"gbnf": 'other ::= "a"', "start": "other"}, "a"),
        (json.dumps({"regex": "a+"}), "aa"),  # as it comes over HTTP
    ],
    ids=str,
)
def test_all_kinds_of_grammars_can_be_asked_for(
    adapter: ModuleType, model: Model, constraint: Any, text: str
) -> None:
    adapter.GuidedLogitsProcessor.validate_params(parameters(constraint))
    matcher = read_grammar(constraint).compile(model.vocabulary).matcher()
    matcher.accept_bytes(text.encode())
    assert matcher.is_complete


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        ("[1", "is no JSON text"),
        (3, "found int"),
        ({}, "found none"),
        ({"regex": "a", "schema": True}, "found 'regex', 'schema'"),
        ({"json": {}}, "found 'json'"),
        ({"regex": "a", "whitespace": "compact"}, "'regex' has no option 'whitespace'"),
        ({"regex": 1}, "a pattern must be a str, found int"),
        ({"regex": "[a-z"}, "line 1, column"),
        ({"schema": {"type": "strng"}}, "/type"),
        ({"gbnf": "root = 1"}, "line 1"),
        ({"choices": []}, "at least one"),
    ],
    ids=str,
)
def test_a_request_at_fault_is_refused_when_it_comes_in(
    adapter: ModuleType, constraint: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        adapter.GuidedLogitsProcessor.validate_params(parameters(constraint))


def test_requests_without_grammar_are_valid(adapter: ModuleType) -> None:
    for extra in (None, {}, {"other": 1}):
        adapter.GuidedLogitsProcessor.validate_params(SimpleNamespace(extra_args=extra))


def test_what_vllm_asks_of_a_processor(processor: Any) -> None:
    assert processor.is_argmax_invariant() is False
    assert processor.needs_output_token_ids() is True


def test_the_vocabulary_is_that_of_the_model(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, module in stand_ins.vllm_modules(model.tokenizer).items():
        monkeypatch.setitem(sys.modules, name, module)
    config = SimpleNamespace(
        get_vocab_size=lambda: VOCABULARY,
        try_get_generation_config=lambda: {"eos_token_id": [1, 2]},
    )
    vocabulary = read_vocabulary(config)
    assert (vocabulary.size, sorted(vocabulary.eos)) == (VOCABULARY, [1, 2])


@pytest.mark.skipif(not INSTALLED, reason="vLLM is not installed (make engines)")
def test_nothing_that_vllm_wants_is_left_out() -> None:
    processors: Any = importlib.import_module("vllm.v1.sample.logits_processor")
    ours: Any = importlib.import_module("guided.integrations.vllm").GuidedLogitsProcessor
    assert issubclass(ours, processors.LogitsProcessor)
    assert not inspect.isabstract(ours)
