"""Tools as they are given: functions, models, dictionaries; and what is refused."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal

import pydantic
import pytest

from guided.errors import GuidedError, SchemaError, UnsupportedError, ValueRejected
from guided.grammar import Grammar
from guided.text.tools import read_tools
from guided.text.tools.call import ToolCall
from guided.text.tools.docstrings import read_docstring
from tests.text.tags.matching import matches


def book_table(
    restaurant: str,
    guests: Annotated[int, pydantic.Field(ge=1, le=20)],
    area: Literal["inside", "outside"] = "inside",
) -> str:
    """Reserves a table.

    A table is kept for a quarter of an hour.

    Args:
        restaurant: its name, as it
            is written on the door
        guests (int): how many
        area: where to sit

    Returns:
        what the guest is to be told.
    """
    return f"{restaurant}: {guests} {area}"


class Point(pydantic.BaseModel):
    """A point in the plane."""

    x: float
    y: float = 0.0


def test_a_function_is_a_tool() -> None:
    [tool] = read_tools([book_table])
    assert tool.declaration == {
        "type": "function",
        "function": {
            "name": "book_table",
            "description": "Reserves a table.\n\nA table is kept for a quarter of an hour.",
            "parameters": {
                "type": "object",
                "properties": {
                    "restaurant": {
                        "type": "string",
                        "description": "its name, as it is written on the door",
                    },
                    "guests": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 20,
                        "description": "how many",
                    },
                    "area": {
                        "enum": ["inside", "outside"],
                        "type": "string",
                        "default": "inside",
                        "description": "where to sit",
                    },
                },
                "required": ["restaurant", "guests"],
                "additionalProperties": False,
            },
        },
    }


def test_a_call_runs_its_function() -> None:
    [tool] = read_tools([book_table])
    call = ToolCall("book_table", {"restaurant": "Blu", "guests": 4}, None, tool)
    assert call.value == {"restaurant": "Blu", "guests": 4, "area": "inside"}
    assert call() == "Blu: 4 inside"


def test_a_call_of_a_model_has_its_object() -> None:
    [tool] = read_tools([Point])
    assert tool.description == "A point in the plane."
    call = ToolCall("Point", {"x": 1.5}, None, tool)
    assert call.value == Point(x=1.5)
    with pytest.raises(GuidedError, match='the tool "Point" was not given as a function'):
        call()


def test_what_a_schema_cannot_say_is_checked_when_the_value_is_asked_for() -> None:
    class Even(pydantic.BaseModel):
        n: int

        @pydantic.field_validator("n")
        @classmethod
        def is_even(cls, n: int) -> int:
            if n % 2:
                raise ValueError("odd")
            return n

    [tool] = read_tools([Even])
    with pytest.raises(ValueRejected, match="odd"):
        _ = ToolCall("Even", {"n": 3}, None, tool).value


def test_names_that_pydantic_keeps_for_itself_may_be_arguments() -> None:
    def call(model_config: str, _hidden: int, /, copy: bool, schema: float) -> Any:
        return model_config, _hidden, copy, schema

    [tool] = read_tools([call])
    arguments = {"model_config": "a", "_hidden": 1, "copy": True, "schema": 2.5}
    assert list(tool.parameters["properties"]) == list(arguments)
    assert ToolCall("call", arguments, None, tool)() == ("a", 1, True, 2.5)


def test_methods_and_partial_functions_are_tools() -> None:
    class House:
        def open(self, door: int) -> int:
            return door

    [method] = read_tools([House().open])
    assert list(method.parameters["properties"]) == ["door"]
    assert ToolCall("open", {"door": 3}, None, method)() == 3
    [bound] = read_tools([functools.partial(book_table, restaurant="Blu")])
    assert bound.parameters["required"] == ["guests"]


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(
            {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}, id="nested"
        ),
        pytest.param({"type": "function", "name": "f", "parameters": SCHEMA}, id="flat, with type"),
        pytest.param({"name": "f", "parameters": SCHEMA}, id="flat"),
        pytest.param({"name": "f", "description": "d", "input_schema": SCHEMA}, id="input_schema"),
    ],
)
def test_dictionaries_are_tools(given: dict[str, Any]) -> None:
    [tool] = read_tools([given])
    assert (tool.name, tool.parameters) == ("f", SCHEMA)
    grammar = Grammar.from_tools([given], tool_choice="required")
    assert matches(grammar, '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>')
    assert not matches(grammar, '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>')


@pytest.mark.parametrize(
    ("parameters", "arguments", "verdict"),
    [
        pytest.param(None, "{}", True, id="none declared"),
        pytest.param(None, '{"a": 1}', False, id="none declared, one given"),
        pytest.param(SCHEMA, '{"a": 1, "b": 2}', False, id="one that is not declared"),
        pytest.param(
            {**SCHEMA, "additionalProperties": True}, '{"a": 1, "b": 2}', True, id="opened"
        ),
        pytest.param({}, '{"any": 1}', True, id="nothing said"),
        pytest.param({}, "[]", False, id="nothing said, and no object"),
    ],
)
def test_a_call_has_the_arguments_that_are_declared(
    parameters: Any, arguments: str, verdict: bool
) -> None:
    tool = {"name": "f"} if parameters is None else {"name": "f", "parameters": parameters}
    text = f'<tool_call>\n{{"name": "f", "arguments": {arguments}}}\n</tool_call>'
    assert matches(Grammar.from_tools([tool]), text) is verdict


@pytest.mark.parametrize(
    ("choice", "options", "text", "verdict"),
    [
        pytest.param("auto", {}, "text", True, id="auto, text"),
        pytest.param("auto", {}, "a {f} b {g} c", True, id="auto, text and calls"),
        pytest.param("auto", {"parallel": False}, "a {f} b", True, id="one call, text"),
        pytest.param("auto", {"parallel": False}, "a {f} b {g}", False, id="one call, two"),
        pytest.param("required", {}, "text", False, id="required, text"),
        pytest.param("required", {}, "{f}", True, id="required, a call"),
        pytest.param("required", {}, "{f}\n{g}", True, id="required, two calls"),
        pytest.param("required", {}, "{f} and {g}", False, id="required, text between"),
        pytest.param("required", {"parallel": False}, "{f}\n{g}", False, id="one, two given"),
        pytest.param("none", {}, "text", True, id="none, text"),
        pytest.param("none", {}, "a {f}", False, id="none, a call"),
        pytest.param("f", {}, "{f}", True, id="named"),
        pytest.param("f", {}, "{g}", False, id="named, the other"),
        pytest.param("f", {}, "{f}\n{f}", False, id="named, twice"),
    ],
)
def test_the_choice_bounds_the_calls(
    choice: str, options: dict[str, Any], text: str, verdict: bool
) -> None:
    grammar = Grammar.from_tools([{"name": "f"}, {"name": "g"}], tool_choice=choice, **options)
    call = '<tool_call>\n{{"name": "{}", "arguments": {{}}}}\n</tool_call>'
    assert matches(grammar, text.format(f=call.format("f"), g=call.format("g"))) is verdict


@pytest.mark.parametrize(
    ("reasoning", "text", "verdict"),
    [
        pytest.param("optional", "<think>I call <tool_call></think>\n\n{f}", True, id="thoughts"),
        pytest.param("optional", "\n<think>hm</think>\n{f}", True, id="after a line break"),
        pytest.param("optional", "{f}", True, id="none, though allowed"),
        pytest.param("optional", "<think>hm", False, id="not closed"),
        pytest.param("none", "<think>hm</think>\n\n{f}", False, id="not allowed"),
        pytest.param("open", "I call <tool_call></think>{f}", True, id="begun by the prompt"),
        pytest.param("open", "{f}", False, id="begun, and not closed"),
    ],
)
def test_thoughts_come_first(reasoning: Any, text: str, verdict: bool) -> None:
    grammar = Grammar.from_tools([{"name": "f"}], tool_choice="required", reasoning=reasoning)
    call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    assert matches(grammar, text.replace("{f}", call)) is verdict


def test_a_message_that_an_end_token_would_cut_short_does_not_come() -> None:
    grammar = Grammar.from_tools([{"name": "f"}], format="harmony", tool_choice="required")
    call = "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>"
    thought = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant"
    special = ["<|channel|>", "<|message|>", "<|constrain|>", "<|start|>", "<|end|>", "<|call|>"]
    assert matches(grammar, thought + call, special, ["<|call|>"])
    assert matches(grammar, call, special, ["<|end|>", "<|call|>"])
    assert not matches(grammar, thought + call, special, ["<|end|>", "<|call|>"])


def test_an_answer_fits_its_schema() -> None:
    answer = Grammar.from_json_schema({"type": "object", "properties": {"a": {"type": "string"}}})
    grammar = Grammar.from_tools([{"name": "f"}], answer=answer)
    assert matches(grammar, '{"a": "x"}')
    assert matches(grammar, '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>')
    assert not matches(grammar, '{"a": 1}')
    assert not matches(grammar, "text")


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        pytest.param([{"name": ""}], "tool 0 has no name", id="no name"),
        pytest.param([{"name": "f"}, {}], "tool 1 has no name", id="nothing at all"),
        pytest.param([{"name": "f"}, {"name": "f"}], 'two tools are called "f"', id="twice"),
        pytest.param([{"type": "x", "name": "f"}], "tool 0 is of the type", id="another type"),
        pytest.param([{"name": "\ud800"}], "has a surrogate", id="no UTF-8"),
        pytest.param(
            [{"name": "f", "parameters": {"type": "array"}}],
            'the tool "f": its arguments are an object',
            id="no object",
        ),
        pytest.param(
            [{"name": "f", "parameters": []}], 'the tool "f": its parameters', id="no schema"
        ),
        pytest.param([lambda x: x], "a lambda has no name", id="lambda"),
    ],
)
def test_what_is_no_tool_is_refused(tools: list[Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        read_tools(tools)


def test_arguments_without_names_are_refused() -> None:
    def many(*numbers: int) -> None: ...

    with pytest.raises(SchemaError) as caught:
        read_tools([many])
    assert 'the tool "many": what goes into *numbers' in str(caught.value)
    assert caught.value.pointer == "/parameters/numbers"


def test_a_bad_schema_is_named_with_its_tool() -> None:
    good, bad = {"name": "good"}, {"name": "bad", "parameters": {"properties": {"a": {"type": 7}}}}
    with pytest.raises(SchemaError) as caught:
        Grammar.from_tools([good, bad])
    assert caught.value.fact.startswith('the tool "bad": ')
    assert caught.value.pointer == "/properties/a/type"


def test_a_schema_that_cannot_be_enforced_is_named_with_its_tool() -> None:
    schema = {"properties": {"a": {"pattern": r"(.)\1"}}}
    with pytest.raises(UnsupportedError) as caught:
        Grammar.from_tools([{"name": "twice", "parameters": schema}])
    assert str(caught.value).startswith('the tool "twice": ')


@pytest.mark.parametrize(
    ("name", "format"),
    [
        pytest.param("two words", "llama-pythonic", id="no name of Python"),
        pytest.param("a>b", "llama-3.1-function-tag", id="holds what ends a name"),
        pytest.param('a">\n', "minimax-m2", id="holds a quote and more"),
        pytest.param("a:0", "kimi-k2", id="holds a colon"),
    ],
)
def test_a_name_that_a_format_cannot_write_is_refused(name: str, format: str) -> None:
    with pytest.raises(SchemaError, match=f"{format} cannot write the name"):
        Grammar.from_tools([{"name": name}], format=format)


def test_unknown_formats_choices_and_tools_are_refused() -> None:
    with pytest.raises(GuidedError, match='no tool format "hermes2"') as caught:
        Grammar.from_tools([{"name": "f"}], format="hermes2")
    assert caught.value.mend == 'did you mean "hermes"?'
    with pytest.raises(ValueError, match="or the name of a tool, not 'g'; the tools are f"):
        Grammar.from_tools([{"name": "f"}], tool_choice="g")
    with pytest.raises(ValueError, match="there are no tools"):
        Grammar.from_tools([])
    with pytest.raises(TypeError, match="tools is a list"):
        Grammar.from_tools({"name": "f"})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="tool 0 must be a function"):
        Grammar.from_tools([7])


def test_tools_known_before_cost_nothing() -> None:
    tools = [{"name": "f", "parameters": SCHEMA}]
    assert Grammar.from_tools(tools) is Grammar.from_tools([dict(tools[0])])
    assert Grammar.from_tools(tools) is not Grammar.from_tools(tools, parallel=False)


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        pytest.param("", ("", {}), id="none"),
        pytest.param("Adds.", ("Adds.", {}), id="summary"),
        pytest.param(
            "Adds.\n\nArgs:\n    a: one\n    b: two",
            ("Adds.", {"a": "one", "b": "two"}),
            id="Google",
        ),
        pytest.param(
            "Adds.\n\n:param a: one\n:param int b: two,\n    or more\n:returns: all",
            ("Adds.", {"a": "one", "b": "two, or more"}),
            id="Sphinx",
        ),
        pytest.param(
            "Adds.\n\nArgs:\n    a: one\n        note: of two lines\n\nReturns:\n    b: all",
            ("Adds.", {"a": "one note: of two lines"}),
            id="more lines",
        ),
    ],
)
def test_docstrings_describe_arguments(docstring: str, expected: Any) -> None:
    assert read_docstring(docstring) == expected
