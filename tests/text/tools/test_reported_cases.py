"""Failures of other engines with tool calls, as they were reported: area "tool-call" of the corpus.

Each case has a handler, by its id or by the keys of its input.
"""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

from guided.grammar import Grammar
from guided.text.tags import Tag
from guided.text.tools.reading import CallParser, gather, parse_calls, read_partial_json
from tests.text.tags.matching import byte_vocabulary, matches, tokens_of

Case = dict[str, Any]


def cases(corpora: Path) -> list[Case]:
    lines = (corpora / "reported-cases.jsonl").read_text(encoding="utf-8").splitlines()
    found = map(json.loads, lines)
    return [each for each in found if each["input"].get("kind") == "tool_call"]


def run(case: Case) -> None:
    given = case["input"]
    if "partial_inputs" in given:
        partial(given)
    elif case["id"] == "tool-trigger-inside-word":
        near_miss(given)
    elif case["id"] == "tool-stop-token-as-terminal":
        closing_end_token(given)
    elif case["id"] == "sec-tool-parser-backtracking":
        hostile(case)
    elif isinstance(given["expect"], dict):
        verdicts(given)
    else:
        calls(given)


def partial(given: Case) -> None:
    for text, expected in zip(given["partial_inputs"], given["expect"], strict=True):
        assert read_partial_json(text) == expected


def near_miss(given: Case) -> None:
    grammar = Grammar.from_tools(given["tools"], format="llama-3.1-function-tag")
    assert matches(grammar, given["output"])
    found = parse_calls(given["output"], "llama-3.1-function-tag", tools=given["tools"])
    assert (found.calls, found.text) == (given["expect"], given["output"])


def closing_end_token(given: Case) -> None:
    form = given["format"]
    grammar = Grammar.from_tags(
        [Tag(form["begin"], form["end"])], free_text=False, at_least_one=True, stop_after_first=True
    )
    special = ("<|channel|>", "<|message|>", "<|end|>", "<|return|>")
    vocabulary = byte_vocabulary(special, tuple(form["eos"]))
    matcher = grammar.compile(vocabulary).matcher()
    matcher.accept_all(tokens_of(given["output"], vocabulary))
    assert matcher.is_terminated is given["expect"]["terminated"]


def hostile(case: Case) -> None:
    text = eval(case["input"]["generate_py"])
    start = time.process_time()
    found = parse_calls(text)
    assert time.process_time() - start < case["perf"]["match_s"]
    assert (found.calls, found.text) == ([], text)


def verdicts(given: Case) -> None:
    answer = given.get("response_schema")
    grammar = Grammar.from_tools(
        given["tools"],
        tool_choice=given.get("tool_choice", "auto"),
        answer=None if answer is None else Grammar.from_json_schema(answer),
    )
    for text in given["expect"]["must_accept"]:
        assert matches(grammar, text), text
    for text in given["expect"]["must_reject"]:
        assert not matches(grammar, text), text


def calls(given: Case) -> None:
    grammar = Grammar.from_tools(given["tools"])
    text = given["output"]
    assert matches(grammar, text)
    chance = random.Random(text)
    for size in (1, 2, 3, 7, len(text), 0):
        parser, events, at = CallParser(tools=given["tools"]), [], 0
        while at < len(text):
            step = size or chance.randint(1, 9)
            events += parser.feed(text[at : at + step])
            at += step
        found = gather([*events, *parser.close()])
        read = [{"name": call.name, "arguments": call.arguments} for call in found.calls]
        assert read == given["expect"]
        assert found.text == ""


def test_each_case_is_right_here(corpora: Path) -> None:
    found = cases(corpora)
    assert len(found) >= 12
    for case in found:
        try:
            run(case)
        except Exception as error:
            error.add_note(f"in {case['id']}: {case['symptom']}")
            raise


@pytest.mark.parametrize("name", ["get_", "get_userget", "getx", "", "get users"])
def test_only_the_names_of_tools_are_names(name: str) -> None:
    tools = [{"name": each} for each in ("get", "get_user", "get_users", "getX")]
    text = f'<tool_call>\n{{"name": "{name}", "arguments": {{}}}}\n</tool_call>'
    assert not matches(Grammar.from_tools(tools), text)
