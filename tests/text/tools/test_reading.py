"""The parser by itself: what it tells of a turn, and when."""

from __future__ import annotations

import random
from typing import Any

import pytest

from guided.text.tools.call import ToolCall
from guided.text.tools.reading import (
    CallArguments,
    CallBegan,
    CallFinished,
    CallParser,
    ParsedCalls,
    TextPiece,
    gather,
    parse_calls,
)

CALL = '<tool_call>\n{"name": "say", "arguments": {"text": "hi"}}\n</tool_call>'


def test_events_come_in_order() -> None:
    parser = CallParser("hermes")
    assert parser.feed("Well, <tool") == [TextPiece("Well, ")]
    assert parser.feed('_call>\n{"name": "sa') == []
    assert parser.feed('y", "arguments": {"te') == [CallBegan(0, "say"), CallArguments(0, {})]
    assert parser.feed('xt": "h') == [CallArguments(0, {"text": "h"})]
    assert parser.feed("i\\u00") == [CallArguments(0, {"text": "hi"})]
    assert parser.feed('21"}}') == [CallArguments(0, {"text": "hi!"})]
    finished = CallFinished(0, ToolCall("say", {"text": "hi!"}))
    assert parser.feed("\n</tool_call> done <") == [finished, TextPiece(" done ")]
    assert parser.close() == [TextPiece("<")]


@pytest.mark.parametrize(
    ("text", "free", "count"),
    [
        pytest.param("no call", "no call", 0, id="text alone"),
        pytest.param(f"a{CALL}b", "ab", 1, id="text around a call"),
        pytest.param(f"{CALL}\n{CALL}", "", 2, id="a line break divides calls"),
        pytest.param(f"{CALL}{CALL}", "", 2, id="nothing divides calls"),
        pytest.param(f"{CALL} and {CALL}", " and ", 2, id="text divides calls"),
        pytest.param("<tool_call> of duty", "<tool_call> of duty", 0, id="a marker in prose"),
        pytest.param(f"<tool_call>{CALL}", "<tool_call>", 1, id="a marker too many"),
        pytest.param('<tool_call>{"name": 1}' + CALL, '<tool_call>{"name": 1}', 1, id="no call"),
        pytest.param(CALL.replace("\n", ""), "", 1, id="without line breaks"),
        pytest.param(CALL.replace('"arguments"', '"parameters"'), "", 1, id="the other key"),
        pytest.param("\ud800" + CALL, "\ud800", 1, id="half a surrogate pair"),
    ],
)
def test_near_misses_are_text(text: str, free: str, count: int) -> None:
    found = parse_calls(text)
    assert found.text == free
    assert [call.arguments for call in found.calls] == [{"text": "hi"}] * count


def test_a_marker_within_a_string_ends_nothing() -> None:
    text = CALL.replace("hi", "end with </tool_call> please")
    assert parse_calls(text).calls[0].arguments == {"text": "end with </tool_call> please"}


@pytest.mark.parametrize(
    ("text", "reasoning", "expected"),
    [
        pytest.param(
            f"<think>\nI call {CALL}?</think>\n\n{CALL}", "optional", ("", 1), id="no call in there"
        ),
        pytest.param(f"so {CALL}?</think>{CALL}", "open", ("", 1), id="the prompt began it"),
        pytest.param(f"a<think>{CALL}", "optional", ("a<think>", 1), id="only at the beginning"),
        pytest.param(f"<think>{CALL}</think>", "none", ("<think></think>", 1), id="not asked for"),
        pytest.param(f"<think>{CALL}", "optional", ("", 0), id="never closed"),
    ],
)
def test_thoughts_are_apart(text: str, reasoning: Any, expected: tuple[str, int]) -> None:
    found = parse_calls(text, reasoning=reasoning)
    assert (found.text, len(found.calls)) == expected


def test_what_was_cut_short_is_told() -> None:
    found = parse_calls("Let me see. " + CALL[:-20])
    assert found == ParsedCalls("Let me see. ", unfinished=CALL[:-20])


TOOL = {
    "name": "set",
    "parameters": {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "count": {"type": "integer"},
            "either": {"type": ["string", "integer", "null"]},
        },
    },
}


@pytest.mark.parametrize(
    ("key", "written", "value"),
    [
        pytest.param("text", "12", "12", id="a string that looks like a number"),
        pytest.param("text", '"quoted"', '"quoted"', id="quotes are part of a string"),
        pytest.param("text", "a\n<b>\n", "a\n<b>\n", id="line breaks and tags"),
        pytest.param("count", "12", 12, id="a number"),
        pytest.param("either", "12", 12, id="a number where strings may stand"),
        pytest.param("either", "null", None, id="a word where strings may stand"),
        pytest.param("either", "twelve", "twelve", id="a string where numbers may stand"),
    ],
)
def test_the_schema_tells_strings_from_other_values(key: str, written: str, value: Any) -> None:
    text = (
        f"<tool_call>\n<function=set>\n<parameter={key}>\n{written}\n</parameter>\n"
        "</function>\n</tool_call>"
    )
    [call] = parse_calls(text, "qwen3-coder-xml", tools=[TOOL]).calls
    assert call.arguments == {key: value}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        pytest.param("'it'", "it", id="single quotes"),
        pytest.param('"it\'s"', "it's", id="double quotes"),
        pytest.param(r"'it\'s\n'", "it's\n", id="escapes"),
        pytest.param(r"'\x41\u00e9\U0001f389'", "Aé🎉", id="hexadecimal escapes"),
        pytest.param("True", True, id="a word of Python"),
        pytest.param("None", None, id="another"),
        pytest.param("false", False, id="a word of JSON"),
        pytest.param("[1, -2.5, 1e3,]", [1, -2.5, 1000.0], id="a list"),
        pytest.param("{'a': (1, 2)}", {"a": [1, 2]}, id="a dictionary and a tuple"),
    ],
)
def test_pythonic_values_are_literals(written: str, value: Any) -> None:
    text = f"[say(from={written}, n=1)]"
    [call] = parse_calls(text, "llama-pythonic", tools=[{"name": "say"}]).calls
    assert call.arguments == {"from": value, "n": 1}


def test_nothing_of_python_is_run() -> None:
    text = "[say(text=__import__('os').getcwd())]"
    found = parse_calls(text, "llama-pythonic", tools=[{"name": "say"}])
    assert (found.calls, found.text) == ([], text)


def test_other_headers_of_harmony_are_read() -> None:
    for header in (
        "<|channel|>commentary to=functions.say <|constrain|>json<|message|>",
        "<|channel|>commentary to=functions.say<|constrain|>json<|message|>",
        "<|channel|>commentary to=functions.say<|message|>",
        " to=functions.say<|channel|>commentary <|constrain|>json<|message|>",
    ):
        found = parse_calls(header + '{"a": 1}<|call|>', "harmony")
        assert found.calls == [ToolCall("say", {"a": 1})], header


def test_the_final_message_of_harmony_is_the_text() -> None:
    text = (
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant"
        "<|channel|>final<|message|>Hello.<|return|>"
    )
    assert parse_calls(text, "harmony") == ParsedCalls("Hello.", reasoning="hm")


def test_reading_takes_time_linear_in_the_text() -> None:
    """Counted in steps, not seconds: what fails is not read again."""
    from guided.text.tools.reading.stream import Stream

    taken = 0
    take = Stream.take

    def counted(self: Stream, count: int) -> str:
        nonlocal taken
        taken += count
        return take(self, count)

    text = '<tool_call>\n{"name": "a", "arguments": {"x": "' * 300
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stream, "take", counted)
        found = parse_calls(text)
    assert len(found.text) + len(found.unfinished) == len(text)
    assert taken <= 2 * len(text)


def test_random_pieces_make_no_difference() -> None:
    chance = random.Random(7)
    parts = [CALL, "<tool_call>", "</tool_call>", "{", '"name"', " text ", "<", "\n", CALL[:40]]
    for _ in range(300):
        text = "".join(chance.choice(parts) for _ in range(6))
        expected = parse_calls(text)
        parser, events, at = CallParser(), [], 0
        while at < len(text):
            size = chance.randint(1, 9)
            events += parser.feed(text[at : at + size])
            at += size
        events += parser.close()
        assert gather(events, parser.unfinished) == expected, text
