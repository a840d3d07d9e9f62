"""White space between tokens: flexible but bounded, none, or as json.dumps indents."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from guided.errors import SchemaError
from guided.text.json_schema.values.layout import INDENTED_LEVELS, WHITESPACE_BOUND
from tests.text.json_schema.matching import language, matches

SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "array", "prefixItems": [{}]},
        "b": {"type": "object"},
        "c": {"enum": [[], [1]]},
    },
}
VALUES: list[Any] = [
    {},
    {"a": []},
    {"a": [1]},
    {"a": [[], {}, [[1], 2]], "b": {"x": {}, "y": [{"z": None}]}, "c": [1]},
    {"b": {}, "x": {"y": [1, "two"]}},
]


@pytest.mark.parametrize("value", VALUES)
def test_each_layout_is_that_of_json_dumps(value: Any) -> None:
    compact = json.dumps(value, separators=(",", ":"))
    assert matches(SCHEMA, compact, whitespace="compact")
    for indent in (0, 2, 4):
        text = json.dumps(value, indent=indent)
        assert matches(SCHEMA, text, whitespace=indent)
        assert matches(SCHEMA, text)
        if value:
            assert not matches(SCHEMA, compact, whitespace=indent)
            assert not matches(SCHEMA, text, whitespace="compact")
            assert not matches(SCHEMA, text, whitespace=indent + 1)
    assert matches(SCHEMA, compact)
    assert matches(SCHEMA, json.dumps(value))
    assert not matches(SCHEMA, json.dumps(value) + " ")
    assert not matches(SCHEMA, "\n" + json.dumps(value))


def test_flexible_white_space_is_bounded() -> None:
    gap = " \t\r\n" * (WHITESPACE_BOUND // 4)
    tokens = ["{", '"a"', ":", "[", "1", ",", "2", "]", ",", '"x"', ":", "true", "}"]
    compiled = language(SCHEMA)
    assert compiled.matches(gap.join(tokens))
    for position in range(1, len(tokens)):
        parts = tokens[:position], tokens[position:]
        assert not compiled.has_prefix("".join(parts[0]) + gap + " " + "".join(parts[1]))
        assert compiled.matches("".join(parts[0]) + gap + "".join(parts[1]))
    assert not compiled.has_prefix('{"a":[1\v')


def test_indented_recursion_goes_as_deep_as_its_levels() -> None:
    schema = {"type": "array", "items": {"$ref": "#"}}
    compiled = language(schema, whitespace=1)
    value: Any = []
    for _ in range(INDENTED_LEVELS):
        value = [value]
    assert compiled.matches(json.dumps(value, indent=1))
    assert not compiled.matches(json.dumps([value], indent=1))
    assert language({}, whitespace=1).matches(json.dumps(value, indent=1))


def test_what_must_go_deeper_cannot_be_indented() -> None:
    schema: Any = {"type": "integer"}
    for _ in range(INDENTED_LEVELS + 1):
        schema = {"type": "array", "items": schema, "minItems": 1}
    assert matches(schema, "[" * 33 + "1" + "]" * 33)
    with pytest.raises(SchemaError, match="more than 32 levels cannot be indented"):
        language(schema, whitespace=2)


@pytest.mark.parametrize(
    ("pattern", "accept", "reject"),
    [
        ("[ ]?", ['{"a": [1] , "b": { } }', '{"a":[1]}', "{ }"], ['{"a":  [1]}', '{"a":\n[1]}']),
        ("[ \\n]*", ['{\n"a"\n :[1\n]}', "{}"], ['{"a":\t[1]}']),
        (" ", ['{ "a" : [ 1 ] }', "{ }", '{ "a" : [ ] }'], ['{"a":[1]}', "{}"]),
        (
            "|\n( {4})*",
            ['{\n    "a":[\n        1\n    ]\n}', '{"b":{}}'],
            ['{ "b":{}}', '{\n  "b":{}}'],
        ),
    ],
)
def test_a_pattern_says_what_is_in_each_gap(
    pattern: str, accept: list[str], reject: list[str]
) -> None:
    compiled = language(SCHEMA, whitespace=pattern)
    for text in accept:
        assert compiled.matches(text), text
    for text in reject:
        assert not compiled.matches(text), text


@pytest.mark.parametrize(
    ("pattern", "fact"),
    [
        ("flexibel", "'flexibel' also matches 'flexibel', and JSON has no blanks but space"),
        ("\\s*", "also matches '\\x0b', and JSON has no blanks but space"),
        ("(?!)", "'(?!)' matches nothing"),
        ("[ ", "not '[ ': unterminated character class"),
        ("( )\\1", "not '( )\\\\1': "),
    ],
)
def test_a_pattern_of_other_than_blanks_is_an_error(pattern: str, fact: str) -> None:
    with pytest.raises(ValueError, match=re.escape(fact)) as caught:
        language(SCHEMA, whitespace=pattern)
    assert str(caught.value).startswith(
        'whitespace must be "flexible", "compact", an indent or a pattern of blanks'
    )
