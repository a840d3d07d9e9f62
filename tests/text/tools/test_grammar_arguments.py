"""Grammars as arguments of tools: a call's string fits it, and models are told of a string."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest

from guided import Grammar, UnsupportedError, Vocabulary, tool_formats
from guided.text.nodes import without_grammars
from guided.text.tools import read_tools

NESTED = Grammar.from_gbnf(r"""root ::= "(" root ")" | "\"" [a-z]+ "\"" """)
BYTES = Vocabulary.from_tokens([bytes([each]) for each in range(256)] + [None], eos=[256])


def search(query: Annotated[str, NESTED], limit: int = 3) -> None:
    """Search."""


def fits(grammar: Grammar, text: str) -> bool:
    matcher = grammar.compile(BYTES).matcher()
    tokens = list(text.encode())
    return matcher.accepted_prefix([*tokens, 256]) == len(tokens) + 1


@pytest.mark.parametrize("tool", [
    pytest.param(search, id="function"),
    pytest.param({"name": "search", "parameters": {
        "type": "object", "properties": {"query": NESTED}, "required": ["query"]}}, id="schema"),
])  # fmt: skip
def test_the_argument_of_a_call_fits_its_grammar(tool: Any) -> None:
    grammar = Grammar.from_tools([tool], format="hermes", tool_choice="required")

    def call(query: str) -> str:
        arguments = {"name": "search", "arguments": {"query": query}}
        return f"<tool_call>\n{json.dumps(arguments)}\n</tool_call>"

    assert fits(grammar, call('(("ab"))'))
    assert not fits(grammar, call('(("ab")'))
    assert not fits(grammar, call("ab"))


def test_arguments_may_be_json_within_json() -> None:
    grammar = Grammar.from_tools([search], format="openai-api", tool_choice="required")
    arguments = json.dumps(json.dumps({"query": '("a")'}))
    begin = '{"role": "assistant", "content": null, "tool_calls": [{"id": "call_0", "type":'
    text = f'{begin} "function", "function": {{"name": "search", "arguments": {arguments}}}}}]}}'
    assert fits(grammar, text)
    assert not fits(grammar, text.replace("(", "(("))


def test_a_model_is_told_of_a_string() -> None:
    [tool] = read_tools([search])
    assert tool.declaration["function"]["parameters"]["properties"]["query"] == {"type": "string"}
    described = {"description": "d", "allOf": [{"type": "string"}, NESTED]}
    assert without_grammars(described) == {"description": "d", "type": "string"}
    assert without_grammars({"allOf": [NESTED]}) == {"type": "string"}
    other = {"type": "string", "allOf": [{"type": "string", "maxLength": 3}, NESTED]}
    assert without_grammars(other) == {
        "type": "string", "allOf": [{"type": "string", "maxLength": 3}],
    }  # fmt: skip
    assert without_grammars({"anyOf": [NESTED, {"enum": [1, 2.5, None]}]}) == {
        "anyOf": [{"type": "string"}, {"enum": [1, 2.5, None]}]
    }


def test_tools_that_differ_in_a_grammar_alone_are_not_one() -> None:
    def make(pattern: str) -> Grammar:
        properties = {"q": Grammar.from_regex(pattern)}
        tool = {"name": "f", "parameters": {"type": "object", "properties": properties}}
        return Grammar.from_tools([tool], format="hermes")

    assert make("a") is make("a")
    assert make("a") is not make("b")


@pytest.mark.parametrize("name", tool_formats())
def test_each_format_takes_a_grammar_or_refuses_it(name: str) -> None:
    regular = {"name": "f", "parameters": {
        "type": "object", "properties": {"q": Grammar.from_regex("[a-z]+")}}}  # fmt: skip
    if name == "llama-pythonic":
        with pytest.raises(UnsupportedError, match="as Python's values"):
            Grammar.from_tools([regular], format=name)
        return
    assert Grammar.from_tools([regular], format=name).compile(BYTES)
    if name in ("deepseek-v3.2-dsml", "glm-4.5", "minimax-m2", "qwen3-coder-xml"):
        with pytest.raises(UnsupportedError, match='the tool "search": the grammar is not regular'):
            Grammar.from_tools([search], format=name)
    else:
        assert Grammar.from_tools([search], format=name).compile(BYTES)
