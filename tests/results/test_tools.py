"""Tools in `generate`, `stream` and engines: prompts, calls, answers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Literal

import jsonschema
import pydantic
import pytest

import guided
from guided.decoding import Model, load
from guided.errors import GuidedError, SchemaError
from guided.results import Engine, generate, stream
from guided.results.tool_use import choose_tools, encode_with_tools, reasoning_of
from guided.sampling import Sampling
from guided.text.tools import find_format, tool_formats
from guided.text.tools.call import ToolCall
from guided.text.tools.reading import CallArguments, CallBegan, CallFinished, TextPiece, parse_calls
from guided.text.tools.recognition import recognise_format
from guided.text.tools.rendering import render_calls
from tests.decoding.tiny_model import tiny_network, tiny_tokenizer

# What a model of random weights may go on with for ever before it calls.
TALKATIVE = {"openai-api"}
MESSAGES = [{"role": "user", "content": "Is it on?"}]


def switch(lamp: Literal["hall", "desk"], on: bool) -> str:
    """Turns a lamp on or off.

    Args:
        lamp: which one
        on: whether it is to be on
    """
    return f"{lamp} {'on' if on else 'off'}"


class Level(pydantic.BaseModel):
    """Says how bright it is to be."""

    level: Literal["low", "high"]


TOOLS = [switch, Level]


@pytest.fixture(scope="module")
def model() -> Model:
    """A tiny one, with room for what a prompt says of tools."""
    return load(tiny_network(max_position_embeddings=2048), tiny_tokenizer())


def test_a_required_call_is_one(model: Model) -> None:
    result = generate(
        model, MESSAGES, tools=TOOLS, tool_choice="required", parallel_calls=False, max_tokens=600
    )
    [call] = result.calls
    assert result.finish_reason == "stop"
    assert result.text == ""
    if call.name == "switch":
        assert call() == switch(**call.value)
    else:
        assert call.value == Level(**call.arguments)


@pytest.mark.parametrize("name", sorted({*tool_formats()} - TALKATIVE))
def test_every_format_can_be_asked_for(model: Model, name: str) -> None:
    result = generate(
        model, "x", tools=[switch], tool_choice="switch", tool_format=name, max_tokens=250, seed=3
    )
    assert result.finish_reason == "stop", result.text
    assert [call.name for call in result.calls] == ["switch"]
    assert set(result.calls[0].value) == {"lamp", "on"}


def test_several_calls_come_in_their_order(model: Model) -> None:
    results = generate(
        model, ["a", "b", "c"], tools=TOOLS, tool_choice="required", max_tokens=600, seed=1,
        temperature=2.0,
    )  # fmt: skip
    for result in results:
        assert result.calls or result.finish_reason == "length"
        assert all(call.name in ("switch", "Level") for call in result.calls)


def test_no_call_is_written_where_none_may_be(model: Model) -> None:
    result = generate(model, "x", tools=TOOLS, tool_choice="none", max_tokens=40)
    assert result.calls == []
    assert result.value == result.text


def test_an_answer_fits_its_schema_where_tools_are_given(model: Model) -> None:
    for seed in range(6):
        result = generate(
            model, "x", tools=[switch], schema=Level, max_tokens=600, seed=seed, temperature=1.5,
            parallel_calls=False,
        )  # fmt: skip
        if result.finish_reason == "length":
            continue
        if result.calls:
            assert (result.text, result.value) == ("", None)
        else:
            assert isinstance(result.value, Level)


def test_a_stream_gives_text_and_its_result_the_calls(model: Model) -> None:
    options: dict[str, Any] = {"tools": [switch], "tool_choice": "required", "max_tokens": 600}
    whole = generate(model, MESSAGES, parallel_calls=False, **options)
    pieces = stream(model, MESSAGES, parallel_calls=False, **options)
    assert "".join(pieces) == whole.text
    assert pieces.result.calls == whole.calls


def test_the_events_of_a_stream_tell_of_a_call_while_it_comes(model: Model) -> None:
    written = stream(
        model, MESSAGES, tools=[switch], tool_choice="switch", tool_format="hermes", max_tokens=600
    )
    events = list(written.events())
    assert isinstance(events[0], CallBegan)
    assert all(isinstance(event, CallArguments) for event in events[1:-1])
    [call] = written.result.calls
    assert events[-1] == CallFinished(0, call)
    assert isinstance(events[-2], CallArguments)
    assert events[-2].arguments == call.arguments


def test_the_events_of_a_stream_without_tools_are_its_text(model: Model) -> None:
    written = stream(model, "x", choices=["yes"])
    assert "".join(each.text for each in written.events() if isinstance(each, TextPiece)) == "yes"


def test_an_engine_takes_tools(model: Model) -> None:
    with Engine(model) as engine:
        request = engine.submit(
            MESSAGES, tools=[switch], tool_choice="switch", sampling=Sampling(), max_tokens=600
        )
        assert "".join(request) == ""
        assert [call.name for call in request.result().calls] == ["switch"]
        options: Any = {"tools": [switch], "tool_choice": "switch", "max_tokens": 600}
        result = asyncio.run(engine.generate(MESSAGES, **options))
        assert result.calls == request.result().calls


def test_a_bad_tool_is_refused_at_once(model: Model) -> None:
    with pytest.raises(SchemaError, match='the tool "f"'):
        generate(model, "x", tools=[{"name": "f", "parameters": {"type": "array"}}])
    with pytest.raises(GuidedError, match="no tool format"):
        generate(model, "x", tools=[switch], tool_format="x")
    with pytest.raises(TypeError, match="tool_choice goes with tools"):
        generate(model, "x", tool_choice="auto")


# Templates that write calls as their models do, cut down to what tells them apart.
TEMPLATES = {
    "hermes": '{% if tools %}<tool_call>{"name": ..., "arguments": ...}</tool_call>{% endif %}',
    "qwen3-coder-xml": "<tool_call>\n<function={{ name }}>\n<parameter={{ key }}>",
    "glm-4.5": "<tool_call>{{ name }}<arg_key>{{ key }}</arg_key> arguments",
    "mistral-v3": '[TOOL_CALLS][{"name": "{{ name }}", "arguments": {{ arguments }}}]',
    "mistral-v11": "[TOOL_CALLS]{{ name }}[CALL_ID]{{ id }}[ARGS]{{ arguments }}",
    "mistral-v13": "[TOOL_CALLS]{{ name }}[ARGS]{{ arguments }}",
    "llama-3.1-json": '<|python_tag|>{"name": "{{ name }}", "parameters": {{ arguments }}}',
    "llama-pythonic": "[func_name1(params_name1=params_value1, params_name2=params_value2...)]",
    "deepseek-v3": "<｜tool▁calls▁begin｜>function<｜tool▁sep｜>{{ name }}\n```json\n",
    "deepseek-v3.1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{{ name }}<｜tool▁sep｜>",
    "deepseek-v3.2-dsml": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="{{ name }}">',
    "harmony": "<|channel|>commentary to=functions.{{ name }} <|constrain|>json<|message|>",
    "kimi-k2": "<|tool_calls_section_begin|>functions.{{ name }}:0",
    "minimax-m2": '<minimax:tool_call>\n<invoke name="{{ name }}">',
    "phi-4-mini": "<|tool_call|>[{{ arguments }}]<|/tool_call|>",
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_format_is_recognised_by_the_template(name: str) -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = TEMPLATES[name]
    assert recognise_format(tokenizer) == name


def test_special_tokens_tell_the_format_where_the_template_does_not() -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.add_special_tokens(
        {"additional_special_tokens": ["[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"]}
    )
    assert recognise_format(tokenizer) == "mistral-v11"
    tokenizer.chat_template = TEMPLATES["mistral-v3"]
    assert recognise_format(tokenizer) == "mistral-v3"


def test_a_template_that_knows_no_tools_gets_the_default(model: Model) -> None:
    assert recognise_format(model.tokenizer) == "hermes"


def text_of(model: Model, use: Any) -> str:
    return decode(model, encode_with_tools(model, MESSAGES, use))


def decode(model: Model, tokens: list[int]) -> str:
    tokenizer: Any = model.tokenizer
    return str(tokenizer.decode(tokens))


def test_a_template_without_tools_gets_a_system_message(model: Model) -> None:
    use = choose_tools(model, [switch], None, None, None)
    text = text_of(model, use)
    assert text.startswith("<|turn|>system: You can call functions.")
    assert '"name": "switch", "description": "Turns a lamp on or off."' in text
    assert '<tool_call>\n{"name": "name_of_function", "arguments": {' in text
    assert text.endswith("<|turn|>user: Is it on?<|turn|>assistant: ")


def test_a_template_with_tools_gets_them() -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = "{{ tools[0].function.name }}|{{ messages[0].content }}|"
    model = load(tiny_network(), tokenizer)
    assert text_of(model, choose_tools(model, [switch], None, None, None)) == "switch|Is it on?|"


@pytest.mark.parametrize(
    ("template", "reasoning"),
    [
        pytest.param("{{ messages[0].content }}", "none", id="knows none"),
        pytest.param("{{ '<think>' if messages|length > 9 }}", "optional", id="knows of it"),
        pytest.param("{{ messages[0].content }}<think>\n", "open", id="begins it"),
    ],
)
def test_the_template_tells_of_thoughts(template: str, reasoning: str) -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = template
    assert reasoning_of(load(tiny_network(), tokenizer)) == reasoning


def requests(corpora: Path) -> list[dict[str, Any]]:
    lines = (corpora / "tools" / "tool-calls.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def ask(case: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": case["request"]}]


@pytest.mark.model
def test_calls_of_the_default_model_are_valid(corpora: Path) -> None:
    model = guided.load()
    for case in requests(corpora)[:2]:
        result = generate(
            model, ask(case), tools=case["tools"], tool_choice="required", parallel_calls=False,
            max_tokens=60,
        )  # fmt: skip
        check(case, result.calls)
        assert result.calls or result.finish_reason == "length"


def check(case: dict[str, Any], calls: list[ToolCall]) -> None:
    schemas = {tool["name"]: tool["parameters"] for tool in case["tools"]}
    for call in calls:
        jsonschema.validate(call.arguments, schemas[call.name])


def is_valid(case: dict[str, Any], calls: list[ToolCall]) -> bool:
    try:
        check(case, calls)
    except (jsonschema.ValidationError, KeyError):
        return False
    return True


@pytest.mark.model
@pytest.mark.nightly
def test_how_often_the_right_tool_is_called(
    corpora: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Prints counts; what must hold is that all requests get calls, and that these are valid."""
    model = guided.load()
    right = {"constrained": 0, "free": 0}
    valid = {"constrained": 0, "free": 0}
    asked = requests(corpora)
    # A model this small repeats itself without end, digits as well as calls.
    sampling = Sampling(repetition_penalty=1.1, frequency_penalty=0.1)
    engine = Engine(model, max_batch=8)
    written = []
    for case in asked:
        use = choose_tools(model, case["tools"], None, None, None)
        prompt = decode(model, encode_with_tools(model, ask(case), use))
        constrained = engine.submit(
            ask(case),
            tools=case["tools"],
            tool_choice="required",
            max_tokens=300,
            sampling=sampling,
        )
        free = engine.submit(prompt, max_tokens=120, sampling=sampling)
        written.append((case, constrained, free))
    engine.run()
    for case, constrained, free in written:
        check(case, constrained.result().calls)
        read = parse_calls(free.result().text, tools=case["tools"])
        for how, calls in (("constrained", constrained.result().calls), ("free", read.calls)):
            wanted = [call["name"] for call in case["calls"]]
            right[how] += [call.name for call in calls[:1]] == wanted[:1] != []
            valid[how] += bool(calls) and is_valid(case, calls)
    with capsys.disabled():
        print(f"\nof {len(asked)} requests: right tool {right}, valid calls {valid}")
    assert valid["constrained"] == len(asked)


def test_what_a_model_wrote_can_be_put_into_a_prompt() -> None:
    form = find_format("hermes")
    text = render_calls([("switch", {"lamp": "hall", "on": True}, None)], form)
    assert parse_calls(text).calls == [ToolCall("switch", {"lamp": "hall", "on": True})]
