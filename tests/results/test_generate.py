"""`generate`: constraints, values, batches, and calls that make no sense."""

from __future__ import annotations

import dataclasses
import enum
import json
import re
from typing import Any, Literal

import pydantic
import pytest

from guided.decoding import Model
from guided.errors import IncompleteError, LimitError, ValueRejected
from guided.grammar import Grammar
from guided.results import Result, generate
from tests.decoding.tiny_model import tiny_network


class Answer(pydantic.BaseModel):
    sure: bool
    level: Literal["low", "high"]


SCHEMA = {
    "type": "object",
    "properties": {"sure": {"type": "boolean"}, "level": {"enum": ["low", "high"]}},
    "required": ["sure", "level"],
    "additionalProperties": False,
}


def test_a_schema_gives_parsed_json(model: Model) -> None:
    result = generate(model, "As JSON: ", schema=SCHEMA, max_tokens=200)
    assert result.finish_reason == "stop"
    assert result.value == json.loads(result.text)
    assert set(result.value) == {"sure", "level"}


def test_a_class_gives_an_instance(model: Model) -> None:
    result = generate(model, "As JSON: ", schema=Answer, max_tokens=200)
    assert isinstance(result.value, Answer)
    assert result.value == Answer.model_validate_json(result.text)
    assert result.value is result.value  # read once


@dataclasses.dataclass
class Point:
    x: Literal[1, 2]


class Kind(enum.Enum):
    ONE = "one"
    TWO = "two"


@pytest.mark.parametrize(
    ("python_type", "kind"),
    [
        (Point, Point),
        (Kind, Kind),
        (Literal[3, 4], int),
        (Kind | None, (Kind, type(None))),
        (tuple[Kind, Point], tuple),
        (bool, bool),
    ],
)
def test_a_python_type_gives_its_objects(model: Model, python_type: Any, kind: Any) -> None:
    result = generate(model, "As JSON: ", schema=python_type, max_tokens=200)
    assert isinstance(result.value, kind)
    if python_type == tuple[Kind, Point]:
        assert [type(part) for part in result.value] == [Kind, Point]


def test_options_of_a_schema(model: Model) -> None:
    options: dict[str, Any] = {"schema": Answer, "max_tokens": 200}
    indented = generate(model, "As JSON: ", whitespace=2, **options)
    assert indented.text == json.dumps(json.loads(indented.text), indent=2)
    assert " " not in generate(model, "As JSON: ", whitespace="compact", **options).text
    free = generate(model, "As JSON: ", property_order="any", **options)
    assert isinstance(free.value, Answer)
    assert set(json.loads(free.text)) >= {"sure", "level"}


def test_a_grammar_of_a_python_type_gives_its_objects(model: Model) -> None:
    grammar = Grammar.from_json_schema(list[Point] | None, whitespace="compact")
    value = generate(model, "As JSON: ", grammar=grammar, max_tokens=200).value
    assert value is None or all(isinstance(point, Point) for point in value)


def test_a_value_that_a_validator_refuses_keeps_its_text(model: Model) -> None:
    class Never(pydantic.BaseModel):
        x: Literal[1]

        @pydantic.model_validator(mode="after")
        def refuse(self) -> Never:
            raise ValueError("never")

    result = generate(model, "As JSON: ", grammar=Grammar.from_json_schema(Never), max_tokens=50)
    with pytest.raises(ValueRejected, match="Never: Value error, never") as caught:
        _ = result.value
    assert caught.value.text == result.text


def test_a_regex_gives_text(model: Model) -> None:
    result = generate(model, "When? ", regex=r"\d{4}-\d{2}")
    assert re.fullmatch(r"\d{4}-\d{2}", result.value)


def test_choices_give_one_of_them(model: Model) -> None:
    assert generate(model, "Well? ", choices=["yes", "no"]).value in {"yes", "no"}


def test_a_grammar_reads_as_its_language(model: Model) -> None:
    assert generate(model, grammar=Grammar.from_regex("[12]")).value in {"1", "2"}
    schema = Grammar.from_json_schema({"enum": [1, 2]})
    assert generate(model, grammar=schema).value in {1, 2}


def test_captures_of_a_grammar_are_those_of_the_result(model: Model) -> None:
    grammar = Grammar.from_lark('start: day "/" day\nday[capture]: /[0-3][0-9]/')
    result = generate(model, "When? ", grammar=grammar)
    assert result.captures == {"day": result.text.split("/")}
    assert generate(model, choices=["yes", "no"]).captures == {}
    with pytest.raises(IncompleteError):
        _ = generate(model, "When? ", grammar=grammar, max_tokens=1).captures


def test_without_a_constraint_the_text_is_free(model: Model) -> None:
    result = generate(model, "Hello", max_tokens=5)
    assert len(result.tokens) == 5
    assert result.finish_reason == "length"


def test_the_prompt_may_be_left_out(model: Model) -> None:
    assert generate(model, choices=["yes", "no"]).text in {"yes", "no"}


def test_messages_are_one_prompt(model: Model) -> None:
    result = generate(model, [{"role": "user", "content": "yes?"}], choices=["yes", "no"])
    assert isinstance(result, Result)


def test_a_list_of_prompts_gives_a_list_of_results(model: Model) -> None:
    prompts = ["a", "b and more", "c"]
    results = generate(model, prompts, regex="[a-z]{1,8}")
    alone = [generate(model, prompt, regex="[a-z]{1,8}") for prompt in prompts]
    assert [result.tokens for result in results] == [result.tokens for result in alone]
    assert {result.stats.batch for result in results} == {3}
    nothing: list[str] = []
    assert generate(model, nothing, regex="a") == []


def test_an_output_cut_short_keeps_its_text_but_has_no_value(model: Model) -> None:
    result = generate(model, "Write: ", regex="[a-z]{30}", max_tokens=3)
    assert result.finish_reason == "length"
    assert len(result.tokens) == 3
    with pytest.raises(IncompleteError) as caught:
        _ = result.value
    assert caught.value.text == result.text


def test_an_output_cut_short_where_it_may_end_has_a_value(model: Model) -> None:
    result = generate(model, "Write: ", regex="(ab)*", max_tokens=4)
    assert result.is_complete == bool(re.fullmatch("(ab)*", result.text))
    if result.is_complete:
        assert result.value == result.text


def test_the_context_bounds_the_output(model: Model) -> None:
    prompt = "xy" * 120  # 240 of 256 tokens
    result = generate(model, prompt, regex="[a-z]{500}")
    assert result.finish_reason == "length"
    assert result.stats.prompt_tokens + len(result.tokens) == 256
    with pytest.raises(LimitError, match="leaves no room for output"):
        generate(model, prompt * 2, regex="a")


def test_a_seed_repeats_and_another_differs(model: Model) -> None:
    def write(seed: int) -> str:
        return generate(model, "x", regex="[a-z]{20}", temperature=3.0, seed=seed).text

    assert write(1) == write(1)
    assert write(1) != write(2)


def test_prompts_of_a_batch_have_seeds_of_their_own(model: Model) -> None:
    first, second = generate(model, ["x", "x"], regex="[a-z]{20}", temperature=3.0, seed=1)
    assert first.text != second.text
    assert first.text == generate(model, "x", regex="[a-z]{20}", temperature=3.0, seed=1).text


def test_statistics_add_up(model: Model) -> None:
    stats = generate(model, "Say: ", regex="(Xone|Yeno) and nothing more").stats
    assert stats.forwards == 1
    assert stats.forced_tokens == stats.output_tokens - 1
    assert stats.prompt_tokens == len(model.tokenizer("Say: ")["input_ids"])
    assert stats.masks >= 2
    assert 0 < stats.first_mask_seconds <= stats.mask_seconds
    assert stats.prefill_seconds > 0
    assert stats.tokens_per_second == pytest.approx(stats.output_tokens / stats.seconds)
    assert f"{stats.output_tokens} tokens ({stats.forced_tokens} forced)" in str(stats)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"regex": "a", "choices": ["a"]},
            TypeError,
            "at most one constraint can be given, found regex and choices",
        ),
        ({"schema": {}, "grammar": "a"}, TypeError, "found schema and grammar"),
        ({"grammar": "root ::= 'a'"}, TypeError, "grammar must be a guided.Grammar, found str"),
        (
            {"schema": Grammar.from_regex("a")},
            TypeError,
            "schema is a guided.Grammar: give it as grammar",
        ),
        ({"choices": "yes"}, TypeError, "choices must be a list of strings"),
        (
            {"regex": "a", "whitespace": 2},
            TypeError,
            "whitespace goes with schema; for a grammar, give it to Grammar.from_json_schema",
        ),
        ({"property_order": "any"}, TypeError, "property_order goes with schema"),
        (
            {"schema": {}, "property_order": "random"},
            ValueError,
            'property_order must be "schema" or "any", not \'random\'',
        ),
        ({"max_tokens": 0}, ValueError, "max_tokens must be at least 1, found 0"),
        ({"max_tokens": 1.5}, TypeError, "max_tokens must be an int, found 1.5"),
        ({"top_p": 2.0}, ValueError, "top_p must be from 0 to 1, found 2.0"),
        ({"logit_bias": {-1: 1.0}}, ValueError, "logit_bias must name tokens by their ids"),
        (
            {"min_tokens": 9, "max_tokens": 8},
            ValueError,
            "min_tokens must be at most max_tokens, 8, found 9",
        ),
        ({"tempature": 1.0}, TypeError, "unexpected keyword argument"),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(
    model: Model, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        generate(model, "x", **options)
    assert message in str(caught.value)


def test_a_bare_model_is_refused_with_the_mend() -> None:
    with pytest.raises(TypeError) as caught:
        generate(tiny_network(), "x")  # type: ignore[call-overload]
    assert str(caught.value) == (
        "the first argument is what guided.load returns, found LlamaForCausalLM;"
        " for a model that is loaded already: guided.load(model, tokenizer)"
    )
