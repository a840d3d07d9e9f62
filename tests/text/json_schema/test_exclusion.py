"""What fits one schema of many and not the others, and what fits none or several of them."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from guided.errors import SchemaError
from guided.text.json_schema import compile_schema
from tests.text.json_schema.matching import ACCEPT, REJECT, is_valid, language, matches

STRING = {"type": "string"}


def told_apart_by_key(
    number: int, inner: dict[str, Any], *, is_closed: bool = False
) -> dict[str, Any]:
    """Return a oneOf whose branches require a key each, with the same schema for its value."""
    branches: list[dict[str, Any]] = [
        {"type": "object", "required": [f"k{index}"], "properties": {f"k{index}": inner}}
        for index in range(number)
    ]
    if is_closed:
        branches = [branch | {"additionalProperties": False} for branch in branches]
    return {"oneOf": branches}


def nested(number: int, *, is_closed: bool = False) -> dict[str, Any]:
    """Return three such within each other."""
    definitions = {
        str(level): told_apart_by_key(
            number, {"$ref": f"#/$defs/{level - 1}"} if level else STRING, is_closed=is_closed
        )
        for level in range(3)
    }
    return {"$ref": "#/$defs/2", "$defs": definitions}


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        ({"k3": {"k39": {"k0": "x"}}}, ACCEPT),
        ({"k3": {"k39": {"k0": 1}}}, REJECT),
        ({"k3": {"k39": {"k0": "x", "other": 1}}}, ACCEPT),
        ({"k3": {"k39": {"k0": "x", "k1": "x"}}}, REJECT),
        ({"k3": {"k39": {"k0": "x", "k1": 1}}}, ACCEPT),
        ({"k3": {"k39": {"k0": "x"}}, "k4": {"k1": {"k1": "x"}}}, REJECT),
        ({"k3": {"k39": {"k0": "x"}}, "k4": {"k1": {"k1": "x", "k2": "x"}}}, ACCEPT),
        ({"k3": {"k39": {"k0": "x"}}, "k4": {"k1": {}}}, ACCEPT),
        ({"other": 1}, REJECT),
    ],
)
def test_many_branches_may_be_told_apart_by_a_key_and_nest(value: Any, verdict: bool) -> None:
    schema = nested(40)
    text = json.dumps(value)
    assert is_valid(schema, text) is verdict
    assert matches(schema, text, property_order="any") is verdict


def test_closed_branches_with_a_key_each_are_compared_with_few_others() -> None:
    schema = nested(200, is_closed=True)
    accepted = language(schema)
    assert accepted.matches('{"k199": {"k0": {"k7": "x"}}}')
    assert not accepted.matches('{"k199": {"k0": {"k7": "x", "k8": "x"}}}')


SMALL: dict[str, dict[str, Any]] = {
    "open": {"not": told_apart_by_key(3, STRING)},
    "closed": {"not": told_apart_by_key(4, STRING, is_closed=True)},
    "many": {"not": told_apart_by_key(12, STRING)},
    "beside others": {"not": {"type": "object", "maxProperties": 2} | told_apart_by_key(3, STRING)},
    "twice": {"not": {"not": told_apart_by_key(3, STRING)}},
    "no objects": {"not": {"oneOf": [{"type": "string"}, {"enum": ["x", 1]}, {"minimum": 1}]}},
    "in each other": {
        "not": {"oneOf": [told_apart_by_key(2, STRING), {"required": ["k0"]}, {"required": ["k2"]}]}
    },
    "keys alone": {"not": {"oneOf": [{"required": [f"k{index}"]} for index in range(3)]}},
    "two keys": {"not": {"oneOf": [{"required": ["k0", "k1"]}, {"required": ["k1", "k2"]}]}},
    "shut out": {
        "type": "object",
        "not": {
            "anyOf": [
                {
                    "required": [f"k{index}"],
                    "properties": {f"k{index}": {"const": "x"}},
                    "additionalProperties": False,
                }
                for index in range(5)
            ]
        },
    },
}


@pytest.mark.parametrize("schema", SMALL.values(), ids=SMALL)
def test_what_does_not_fit_a_union_is_as_jsonschema_has_it(schema: dict[str, Any]) -> None:
    compiled = language(schema, property_order="any")
    values: list[Any] = ["x", "y", 0, 1, None, {"other": 1}]
    for number in range(4):
        for names in itertools.combinations(("k0", "k1", "k2"), number):
            values += [
                dict(zip(names, each, strict=True))
                for each in itertools.product(("x", 1), repeat=number)
            ]
    for text in map(json.dumps, values):
        assert compiled.matches(text) is is_valid(schema, text), text


def test_a_schema_that_says_not_of_its_own_one_of_is_circular() -> None:
    schema = {"oneOf": [STRING, {"type": "null"}], "not": {"$ref": "#"}}
    with pytest.raises(SchemaError, match="circular"):
        compile_schema(schema)


def test_rules_on_the_presence_of_keys_do_not_multiply() -> None:
    rules = [
        {"if": {"required": [f"a{index}"]}, "then": {"required": [f"b{index}"]}}
        for index in range(40)
    ]
    names = [f"{letter}{index}" for letter in "ab" for index in range(40)]
    schema = {"type": "object", "properties": dict.fromkeys(names, True), "allOf": rules}
    accepted = language(schema)
    assert accepted.matches('{"a3": 1, "b1": 1, "b3": 1}')
    assert not accepted.matches('{"a3": 1, "a4": 1, "b3": 1}')


def targets(number: int) -> dict[str, Any]:
    """Return a oneOf of objects that differ in the names that two of their parts may have."""
    parts = [
        {
            "properties": {f"p{index}_{k}": {"type": "boolean"} for k in range(3)}
            | {"all": STRING},
            "additionalProperties": False,
        }
        for index in range(number)
    ]
    return {
        "oneOf": [
            {
                "type": "object",
                "properties": {
                    "kind": {"const": index},
                    "options": {"type": "object"} | part,
                    "others": {"additionalProperties": {"type": "object"} | part},
                },
            }
            for index, part in enumerate(parts)
        ]
    }


def test_conditions_that_are_met_together_do_not_multiply() -> None:
    # Without a kind, some member of the parts must be told apart from each of the other branches:
    # 2^10 sets of them, if it were not seen that any name but "all" does for all of them.
    schema = targets(11)
    compiled = language(schema)
    for text in (
        '{"kind": 3, "options": {"all": "x"}}',
        '{"options": {"p3_0": true}}',
        '{"options": {"p3_0": true}, "others": {"x": {"p4_0": true}}}',
        '{"options": {"all": "x"}, "others": {"x": {"p4_0": true}}}',
        '{"options": {"all": "x"}}',
        "{}",
    ):
        assert compiled.matches(text) is is_valid(schema, text), text
    assert len(compiled.compiled.arena) < 20_000
