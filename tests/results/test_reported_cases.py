"""Failures of other libraries as a whole, as they were reported: areas "api" and "cache"."""

from __future__ import annotations

import dataclasses
import enum
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pydantic
import pytest

import guided
from guided import Engine, Grammar, GuidedError, IncompleteError, Vocabulary
from guided.decoding import Model, load
from guided.grammar.explain import explain
from tests.decoding.tiny_model import tiny_network, tiny_tokenizer

Case = dict[str, Any]
HANDLERS: dict[str, Callable[..., None]] = {}
POINT = {
    "type": "object",
    "properties": {"x": {"enum": [1, 2]}},
    "required": ["x"],
    "additionalProperties": False,
}


def handles(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def note(handler: Callable[..., None]) -> Callable[..., None]:
        HANDLERS[name] = handler
        return handler

    return note


def matches(grammar: Grammar, text: str) -> bool:
    return explain(grammar, text).verdict == "accepted"


@handles("api-one-bad-request-in-batch")
def a_bad_request_fails_alone(model: Model, cases: list[Case]) -> None:
    with Engine(model) as engine:
        requests = [engine.submit("Go: ", regex=regex, max_tokens=5) for regex in ("a+", "(", None)]
        with pytest.raises(guided.GrammarError, match="parenthesis"):
            requests[1].result()
        assert set(requests[0].result().text) == {"a"}
        assert requests[2].result().finish_reason in ("stop", "length")


@handles("api-truncation-is-visible")
def a_text_that_is_cut_says_so(model: Model, cases: list[Case]) -> None:
    result = guided.generate(model, schema={"const": "a" * 100}, max_tokens=5)
    assert result.finish_reason == "length"
    assert not result.is_complete
    assert result.text.startswith('"aaa')
    with pytest.raises(IncompleteError) as caught:
        _ = result.value
    assert caught.value.text == result.text


@handles("api-repeated-calls-no-leak")
def a_grammar_serves_many_calls(model: Model, cases: list[Case]) -> None:
    grammar = Grammar.from_regex("[ab]{2,4}!")
    texts = [
        guided.generate(model, "Go: ", grammar=grammar, temperature=2, seed=seed).text
        for seed in range(5)
    ]
    together: dict[int, str] = {}

    def write(seed: int) -> None:
        result = guided.generate(model, "Go: ", grammar=grammar, temperature=2, seed=seed)
        together[seed] = result.text

    threads = [threading.Thread(target=write, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[seed] for seed in range(4)] == texts[:4]
    assert all(matches(grammar, text) for text in texts)


@dataclasses.dataclass
class Point:
    x: Literal[1, 2]


class PointModel(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    x: Literal[1, 2]


class Side(enum.Enum):
    LEFT = "left"
    RIGHT = "right"


@handles("api-schema-inputs")
def equal_schemas_have_one_language(model: Model, cases: list[Case]) -> None:
    texts = ['{"x": 1}', '{"x":2}', '{"x":3}', "{}", '{"x":"1"}', '{"x":1,"y":0}']
    wanted = [True, True, False, False, False, False]
    schema: Any
    for schema in (POINT, json.dumps(POINT), PointModel, pydantic.TypeAdapter(Point), Point):
        grammar = Grammar.from_json_schema(schema)
        assert [matches(grammar, text) for text in texts] == wanted
    for schema in (Side, Literal["left", "right"], {"enum": ["left", "right"]}):
        grammar = Grammar.from_json_schema(schema)
        found = [matches(grammar, text) for text in ('"left"', '"right"', '"up"', "left")]
        assert found == [True, True, False, False]
    for schema in (list[int], {"type": "array", "items": {"type": "integer"}}):
        grammar = Grammar.from_json_schema(schema)
        assert [matches(grammar, text) for text in ("[1, 2]", "[]", "[true]")] == [
            True,
            True,
            False,
        ]
    with pytest.raises(guided.SchemaError, match="JSON"):
        Grammar.from_json_schema("a person with a name")


@handles("api-option-honoured-or-refused")
def options_change_the_language_or_are_refused(model: Model, cases: list[Case]) -> None:
    blank = Grammar.from_json_schema(POINT, whitespace=r" ?")
    compact = Grammar.from_json_schema(POINT, whitespace="compact")
    assert matches(blank, '{ "x" : 1 }')
    assert not matches(blank, '{  "x":1}')
    assert not matches(compact, '{"x": 1}')
    with pytest.raises(TypeError, match="whitespace_pattern"):
        Grammar.from_json_schema(POINT, whitespace_pattern=r" ?")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="whitespace"):
        guided.generate(model, regex="a", whitespace="compact")
    with pytest.raises((TypeError, ValueError, GuidedError), match="escapes"):
        Grammar.from_json_schema(POINT, escapes="all")  # type: ignore[arg-type]


class Mark(enum.Enum):
    INFINITE = "INF"
    BELOW = "-1"
    NONE = "0"
    HIGHEST = "9"


class Marked(pydantic.BaseModel):
    mark: Mark
    other: Mark | None


@handles("api-parse-result-type")
def enum_members_come_back(model: Model, cases: list[Case]) -> None:
    seen: set[Mark | None] = set()
    for seed in range(40):
        value = guided.generate(
            model, "Go: ", schema=Marked, whitespace="compact", temperature=5.0, seed=seed
        ).value
        assert isinstance(value, Marked)
        assert isinstance(value.mark, Mark)
        seen.add(value.mark)
        seen.add(value.other)
    assert seen == {*Mark, None}


@handles("api-error-is-typed")
def errors_are_ours(model: Model, cases: list[Case]) -> None:
    make: dict[str, Callable[[Any], Grammar]] = {
        "regex": Grammar.from_regex,
        "json_schema": Grammar.from_json_schema,
        "gbnf": Grammar.from_gbnf,
    }
    failing = [case for case in cases if case["expect_error"] is True]
    failing = [case for case in failing if case["input"]["kind"] in make]
    assert len(failing) > 15
    for case in failing:
        with pytest.raises(GuidedError) as caught:
            make[case["input"]["kind"]](case["input"]["value"])
        error = caught.value
        assert error.fact
        assert error.mend, case["id"]
        if isinstance(error, guided.SchemaError):
            assert error.place == f"at {error.pointer or 'the top of the schema'}"
        elif isinstance(error, guided.GrammarError) and error.line is not None:
            assert error.column is not None
            assert error.place is not None
            assert "^" in error.place


@handles("cache-key-completeness")
def automata_are_kept_by_all_that_they_hang_on(model: Model, cases: list[Case]) -> None:
    first = Vocabulary.from_tokens([b"a", b"b", b" ", None], eos=[3])
    other = Vocabulary.from_tokens([b"b", b"a", b" ", None], eos=[3])
    ends = Vocabulary.from_tokens([b"a", b"b", b" ", None, None], eos=[3, 4])
    rules = 'one: "a"\ntwo: "b"\n'
    for start, wanted in (("one", b"a"), ("two", b"b")):
        grammar = Grammar.from_lark(rules, start=start)
        for vocabulary in (first, other, ends, first):
            matcher = grammar.compile(vocabulary).matcher()
            [token] = matcher.allowed_tokens()
            assert vocabulary.token_bytes(token) == wanted
            matcher.accept(token)
            assert matcher.allowed_tokens() == list(vocabulary.eos)
    spaced, compact = (
        Grammar.from_json_schema({"enum": [[1, 2]]}, whitespace=kind)
        for kind in ("flexible", "compact")
    )
    assert matches(spaced, "[1, 2]")
    assert not matches(compact, "[1, 2]")
    assert matches(compact, "[1,2]")


@handles("cache-key-order-sensitive")
def the_order_of_properties_is_kept(model: Model, cases: list[Case]) -> None:
    [case] = [case for case in cases if case["id"] == "cache-key-order-sensitive"]
    schema = case["input"]["value"]
    turned = schema | {"properties": dict(reversed(schema["properties"].items()))}
    assert matches(Grammar.from_json_schema(turned), '{"a":2,"z":1}')
    grammar = Grammar.from_json_schema(schema)
    assert all(matches(grammar, text) for text in case["accept"])
    assert not any(matches(grammar, text) for text in case["reject"])
    for prefix in [*case["prefix_ok"], '{"z"']:
        assert explain(grammar, prefix).verdict != "rejected"
    assert explain(grammar, '{"a"').verdict == "rejected"


@handles("cache-matcher-follows-recompute")
def a_request_that_was_put_out_goes_on(model: Model, cases: list[Case]) -> None:
    """Its keys are dropped after some tokens, and computed again."""
    alone = guided.generate(model, "Go: ", regex="[0-9]{8}").text
    engine = Engine(model)
    request = engine.submit("Go: ", regex="[0-9]{8}")
    loop = engine._driver.loop
    while len(request.tokens) < 3:
        loop.step()
    [job] = loop.scheduler.running
    loop.scheduler.preempt(job)
    engine.run()
    assert request.result().text == alone
    assert len(alone) == 8
    assert engine.stats().preemptions == 1
    engine.close()


@handles("cache-trim-after-rejection")
def a_rejected_draft_leaves_nothing(model: Model, cases: list[Case]) -> None:
    """Wrong drafts in every step, a window that moves on, and the text as without them."""
    for options in ({}, {"sliding_window": 16}):
        network = tiny_network(**options)
        windowed = load(network, tiny_tokenizer())
        plain = guided.generate(windowed, "abcabc", regex="[a-c]{60}", speculate="off")
        drafted = guided.generate(windowed, "abcabc", regex="[a-c]{60}", speculate=["lookahead"])
        assert drafted.tokens == plain.tokens


@handles("cache-block-reuse-with-guidance")
def a_cached_prompt_has_a_new_matcher(model: Model, cases: list[Case]) -> None:
    prompt = "one two three " * 12
    engine = Engine(model)
    for letter in "ab":
        request = engine.submit(prompt, regex=f"[{letter}{letter.upper()}]{{3}}")
        engine.run()
        assert set(request.result().text.lower()) == {letter}
    assert request.result().stats.cached_tokens > 0
    engine.close()


def test_reported_cases(model: Model, corpora: Path, subtests: pytest.Subtests) -> None:
    lines = (corpora / "reported-cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    assert {case["id"] for case in cases if case["area"] in ("api", "cache")} == set(HANDLERS)
    for name, handler in HANDLERS.items():
        with subtests.test(name):
            handler(model, cases)
