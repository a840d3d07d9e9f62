"""Objects: patterns, counts, names that ask for others, and what some property must not fit."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from guided.errors import SchemaError, UnsupportedError
from guided.text.json_schema import compile_schema
from tests.text.json_schema.matching import check, is_valid, language, matches

NAMES = ["a", "ab", "b", "c"]
INTEGER, STRING = {"type": "integer"}, {"type": "string"}

SCHEMAS: dict[str, dict[str, Any]] = {
    "additional": {"properties": {"a": INTEGER}, "additionalProperties": STRING},
    "pattern": {"patternProperties": {"^a": INTEGER}},
    "patterns that overlap": {
        "patternProperties": {"^a": {"type": ["integer", "null"]}, "b$": {"enum": [1, "x"]}},
        "additionalProperties": False,
    },
    "pattern and name": {
        "properties": {"a": INTEGER},
        "patternProperties": {"a": {"minimum": 2}},
        "additionalProperties": STRING,
    },
    "pattern of few keys": {
        "patternProperties": {"^(a|b)$": INTEGER},
        "additionalProperties": False,
        "minProperties": 1,
    },
    "required by pattern": {"required": ["ab"], "patternProperties": {"^a": STRING}},
    "short names": {"propertyNames": {"maxLength": 1}},
    "listed names": {"propertyNames": {"enum": ["a", "ab"]}, "minProperties": 1},
    "named by pattern": {"propertyNames": {"pattern": "^a"}, "required": ["a"]},
    "at least two": {"minProperties": 2},
    "at most one": {"maxProperties": 1},
    "one or two": {"minProperties": 1, "maxProperties": 2, "properties": {"a": STRING}},
    "just the required": {"required": ["a", "c"], "maxProperties": 2},
    "asks for": {"dependentRequired": {"a": ["b"]}},
    "asks in turn": {
        "dependentRequired": {"a": ["b"], "b": ["c"]},
        "properties": {"c": INTEGER},
    },
    "asks in a circle": {"dependentRequired": {"a": ["b"], "b": ["a"]}, "minProperties": 1},
    "asks for the forbidden": {
        "dependentRequired": {"c": ["a"], "a": ["b"]},
        "not": {"required": ["b"]},
    },
    "required and asks": {"dependentRequired": {"a": ["b"], "b": ["c"]}, "required": ["a"]},
    "two groups": {
        "allOf": [
            {"properties": {"a": INTEGER}},
            {"properties": {"b": STRING}, "additionalProperties": INTEGER},
        ]
    },
    "pattern and additional": {
        "allOf": [
            {"patternProperties": {"a": {"enum": [1, None]}}},
            {"additionalProperties": {"enum": [1, "x"]}},
        ]
    },
    "some value": {"not": {"additionalProperties": INTEGER}},
    "some value by pattern": {"not": {"patternProperties": {"^a": INTEGER}}},
    "some value or another key": {
        "not": {"properties": {"a": INTEGER}, "additionalProperties": False}
    },
    "some name": {"not": {"propertyNames": {"maxLength": 1}}},
    "some name of few": {"not": {"propertyNames": {"maxLength": 1}}, "maxProperties": 1},
    "two obligations": {
        "allOf": [
            {"not": {"additionalProperties": INTEGER}},
            {"not": {"additionalProperties": STRING}},
        ]
    },
    "two obligations in one": {
        "allOf": [
            {"not": {"patternProperties": {"a": INTEGER}}},
            {"not": {"patternProperties": {"b": {"minLength": 3}}}},
        ],
        "maxProperties": 1,
    },
    "met by a required one": {"not": {"additionalProperties": STRING}, "required": ["a"]},
}


def objects() -> Iterator[dict[str, Any]]:
    """Give all objects of up to three of the names."""
    for count in range(4):
        for names in itertools.combinations(NAMES, count):
            for values in itertools.product([1, "x"], repeat=count):
                yield dict(zip(names, values, strict=True))


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_objects_are_judged_as_jsonschema_does(schema: dict[str, Any], order: str) -> None:
    schema = {"type": "object", **schema}
    compiled = language(schema, whitespace="compact", property_order=order)
    for value in objects():
        verdict = is_valid(schema, json.dumps(value))
        orders = itertools.permutations(value.items())
        texts = [json.dumps(dict(pairs), separators=(",", ":")) for pairs in orders]
        found = [compiled.matches(text) for text in texts]
        assert any(found) is verdict, value
        if order == "any":
            assert all(found) is verdict, value


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": {"a": INTEGER}},
        {"patternProperties": {"^(a|b)$": INTEGER, "c": INTEGER}},
        {"propertyNames": {"maxLength": 3}},
        {"minProperties": 2},
        {"not": {"additionalProperties": STRING}},
    ],
)
def test_no_key_is_written_twice(schema: dict[str, Any], order: str) -> None:
    compiled = language({"type": "object", **schema}, property_order=order)
    assert compiled.matches('{"a":1,"c":1}')
    assert not compiled.matches('{"a":1,"a":1}')
    assert not compiled.matches('{"c":1,"c":1}')
    assert not compiled.has_prefix('{"c":1,"c"')


def test_keys_that_are_equal_in_different_spellings_are_one() -> None:
    compiled = language({"type": "object"}, escapes="any")
    assert compiled.matches('{"\\u0061":1,"b":2}')
    assert not compiled.matches('{"\\u0061":1,"a":2}')
    declared = language({"type": "object", "properties": {"a": INTEGER}}, escapes="any")
    assert not declared.matches('{"\\u0061":1,"a":2}')
    assert not declared.matches('{"a":1,"\\u0061":"x"}')


def test_names_stand_in_the_order_in_which_they_are_mentioned() -> None:
    schema = {
        "type": "object",
        "allOf": [{"properties": {"b": {}}}, {"properties": {"a": {}, "b": {}}}],
        "required": ["d"],
        "dependentRequired": {"e": ["c"]},
    }
    assert matches(schema, '{"b":1,"a":1,"d":1,"e":1,"c":1,"x":1}')
    for text in ('{"a":1,"b":1,"d":1}', '{"d":1,"a":1}', '{"x":1,"d":1}'):
        assert not matches(schema, text)
        assert matches(schema, text, property_order="any")


def test_a_name_that_may_not_occur_is_no_additional_key() -> None:
    schema = {"properties": {"a": False, "b": {"type": "null", "enum": [1]}}}
    check({"type": "object", **schema}, ['{"ab":1}', "{}"], ['{"a":1}', '{"b":null}'])


def test_indented_objects_are_counted_as_well() -> None:
    schema = {"type": "object", "minProperties": 1, "maxProperties": 2}
    compiled = language(schema, whitespace=2)
    for count, verdict in ((0, False), (1, True), (2, True), (3, False)):
        value = {name: {"x": 1} for name in NAMES[:count]}
        assert compiled.matches(json.dumps(value, indent=2)) is verdict


def test_many_listed_names() -> None:
    names = [f"n{index}" for index in range(3000)]
    compiled = language({"type": "object", "propertyNames": {"enum": names}}, property_order="any")
    assert compiled.matches('{"n2999":1,"n0":2}')
    assert not compiled.matches('{"n3000":1}')
    assert not compiled.matches('{"n1":1,"n1":2}')


VOID: list[tuple[dict[str, Any], str, str]] = [
    (
        {"required": ["a", "b"], "maxProperties": 1},
        "no object can have at most 1 properties when 2 are required",
        "/maxProperties",
    ),
    (
        {"properties": {"a": {}}, "additionalProperties": False, "minProperties": 2},
        "no object can have at least 2 properties when only 1 are allowed",
        "/minProperties",
    ),
    (
        {"minProperties": 3, "maxProperties": 2},
        "no object can have at least 3 and at most 2 properties",
        "/minProperties",
    ),
    (
        {"required": ["ab"], "propertyNames": {"maxLength": 1}},
        'property "ab" is required, but no property of that name is allowed',
        "/required",
    ),
    (
        {"required": ["a"], "dependentRequired": {"a": ["b"]}, "properties": {"b": False}},
        'property "b" is required, but no property of that name is allowed',
        "/required",
    ),
]


@pytest.mark.parametrize(("schema", "fact", "pointer"), VOID)
def test_an_object_that_cannot_be(schema: dict[str, Any], fact: str, pointer: str) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema({"type": "object", **schema})
    assert caught.value.fact == fact
    assert caught.value.pointer == pointer


def test_conditions_that_can_be_met_in_too_many_ways_are_refused() -> None:
    branches = [{"not": {"additionalProperties": {"const": k}}} for k in range(8)]
    schema = {"type": "object", "allOf": branches}
    with pytest.raises(UnsupportedError, match="in more than 128 ways") as caught:
        compile_schema(schema)
    assert caught.value.keyword == "additionalProperties"
    lenient = compile_schema(schema, unsupported="ignore")
    assert lenient.not_enforced


def test_a_property_that_alone_can_meet_several_conditions_must_meet_them() -> None:
    def closed(child: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {"a": child}, "additionalProperties": False}

    others = [{"not": closed({"const": k})} for k in range(12)]
    compiled = language({**closed({"type": "integer"}), "allOf": others})
    assert compiled.matches('{"a":12}')
    assert not compiled.matches('{"a":11}')
    assert not compiled.matches("{}")
