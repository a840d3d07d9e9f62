"""Arguments of pythonic calls: literals of Python, under the constraints of the schema."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guided._core import Arena
from guided.grammar import Grammar
from guided.text.tools.python_values import SingleQuotes
from tests.text.tags.matching import matches

ACCEPT, REJECT = True, False


@pytest.mark.parametrize(
    ("schema", "written", "verdict"),
    [
        pytest.param({"type": "string"}, '"it\'s"', ACCEPT, id="double quotes"),
        pytest.param({"type": "string"}, "'say \"hi\"'", ACCEPT, id="single quotes"),
        pytest.param({"type": "string"}, r"'it\'s\n'", ACCEPT, id="escapes"),
        pytest.param({"type": "string"}, "'it's'", REJECT, id="an early end"),
        pytest.param({"type": "string"}, "'a\nb'", REJECT, id="a bare line break"),
        pytest.param({"type": "string", "maxLength": 2}, r"'a\''", ACCEPT, id="two characters"),
        pytest.param({"type": "string", "maxLength": 2}, r"'ab\''", REJECT, id="three"),
        pytest.param({"type": "string", "pattern": "^b+$"}, "'bb'", ACCEPT, id="the pattern"),
        pytest.param({"type": "string", "pattern": "^b+$"}, "'ab'", REJECT, id="not the pattern"),
        pytest.param({"enum": ["a'", "b"]}, r"'a\''", ACCEPT, id="one of a list"),
        pytest.param({"enum": ["a'", "b"]}, "'c'", REJECT, id="none of a list"),
        pytest.param({"type": "boolean"}, "True", ACCEPT, id="a word of Python"),
        pytest.param({"type": "boolean"}, "true", REJECT, id="a word of JSON"),
        pytest.param({"type": "null"}, "None", ACCEPT, id="nothing"),
        pytest.param({}, "[1, 'a', {\"k\": None}]", ACCEPT, id="anything"),
        pytest.param(
            {"type": "array", "items": {"type": "string"}}, "['a', \"b\"]", ACCEPT, id="list"
        ),
        pytest.param({"type": "integer"}, "1.5", REJECT, id="no integer"),
    ],
)
def test_values_are_literals_of_python(schema: Any, written: str, verdict: bool) -> None:
    tool = {"name": "f", "parameters": {"properties": {"x": schema}, "required": ["x"]}}
    grammar = Grammar.from_tools([tool], format="llama-pythonic", tool_choice="required")
    assert matches(grammar, f"[f(x={written})]") is verdict


@given(st.text())
def test_single_quotes_read_back(text: str) -> None:
    spelling, arena = SingleQuotes(), Arena()
    spelled = spelling.escape(text)
    assert ast.literal_eval(f"'{spelled}'") == text
    assert spelling.length(spelled.encode()) == len(text)
    assert arena.matches(spelling.any_text(arena), spelled)
    assert arena.matches(spelling.literal(arena, text), spelled)


@pytest.mark.parametrize(
    ("written", "verdict"),
    [
        pytest.param("[f(a=1, b=2, c=3)]", ACCEPT, id="all"),
        pytest.param("[f(b=2)]", ACCEPT, id="the required one"),
        pytest.param("[f(a=1)]", REJECT, id="one is missing"),
        pytest.param("[f(b=2, a=1)]", REJECT, id="another order"),
        pytest.param("[f(b=2, b=2)]", REJECT, id="one twice"),
        pytest.param("[f(b=2, d=4)]", REJECT, id="needs another"),
        pytest.param("[f(b=2, c=3, d=4)]", ACCEPT, id="the other is there"),
        pytest.param("[f(b=2,c=3)]", ACCEPT, id="no blank"),
        pytest.param("[f(b=2), f(b=1)]", ACCEPT, id="two calls"),
        pytest.param("f(b=2)", REJECT, id="no brackets"),
    ],
)
def test_arguments_come_in_their_order(written: str, verdict: bool) -> None:
    schema = {
        "properties": {name: {"type": "integer"} for name in "abcd"},
        "required": ["b"],
        "dependentRequired": {"d": ["c"]},
    }
    tool = {"name": "f", "parameters": schema}
    grammar = Grammar.from_tools([tool], format="llama-pythonic", tool_choice="required")
    assert matches(grammar, written) is verdict
