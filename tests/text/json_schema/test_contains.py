"""Arrays: how many items must fit `contains`."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from guided.errors import SchemaError, UnsupportedError
from guided.text.json_schema import compile_schema
from tests.text.json_schema.matching import is_valid, language

INTEGER, STRING = {"type": "integer"}, {"type": "string"}
ITEMS = [1, 7, "a", None, [1]]

SCHEMAS: dict[str, dict[str, Any]] = {
    "one": {"contains": INTEGER},
    "two": {"contains": INTEGER, "minContains": 2},
    "at most one": {"contains": INTEGER, "maxContains": 1},
    "none or one": {"contains": INTEGER, "minContains": 0, "maxContains": 1},
    "two of integers": {"items": INTEGER, "contains": {"const": 7}, "minContains": 2},
    "no more than two of integers": {
        "items": INTEGER,
        "contains": {"const": 7},
        "minContains": 1,
        "maxContains": 2,
    },
    "two kinds": {"allOf": [{"contains": INTEGER}, {"contains": STRING}]},
    "two kinds that overlap": {
        "allOf": [
            {"contains": INTEGER, "maxContains": 1},
            {"contains": {"enum": [7, "a"]}, "maxContains": 2},
        ]
    },
    "anything": {"contains": True},
    "anything, at most two": {"contains": True, "maxContains": 2},
    "anything, two": {"contains": {}, "minContains": 2},
    "none": {"not": {"contains": INTEGER}},
    "not all": {"not": {"items": INTEGER}},
    "not all after the first": {"not": {"prefixItems": [INTEGER], "items": STRING}},
    "behind a prefix": {"prefixItems": [INTEGER], "contains": STRING},
    "within a prefix": {
        "prefixItems": [INTEGER, STRING],
        "items": False,
        "contains": {"const": "a"},
    },
    "with lengths": {"contains": STRING, "minItems": 2, "maxItems": 2},
    "container": {"contains": {"type": "array", "contains": INTEGER}},
    "one of two": {"oneOf": [{"contains": INTEGER}, {"contains": STRING}]},
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_arrays_are_judged_as_jsonschema_does(schema: dict[str, Any]) -> None:
    schema = {"type": "array", **schema}
    compiled = language(schema)
    for count in range(4):
        for items in itertools.product(ITEMS, repeat=count):
            text = json.dumps(items)
            assert compiled.matches(text) is is_valid(schema, text), text


def test_counts_are_exact_and_cost_no_nodes() -> None:
    schema = {"type": "array", "items": INTEGER, "contains": {"const": 7}}
    compiled = language({**schema, "minContains": 40, "maxContains": 60, "maxItems": 10_000})
    assert len(compiled.compiled.arena) < len(language(schema).compiled.arena) + 20
    for count, verdict in ((39, False), (40, True), (60, True), (61, False)):
        assert compiled.matches(json.dumps([1, 7] * count)) is verdict


def test_indented_arrays_are_counted_as_well() -> None:
    schema = {"type": "array", "contains": {"type": "array"}, "maxContains": 1}
    compiled = language(schema, whitespace=2)
    for value, verdict in (([[1]], True), ([1, [], 2], True), ([[], []], False), ([], False)):
        assert compiled.matches(json.dumps(value, indent=2)) is verdict


def test_an_array_that_must_contain_itself_never_ends() -> None:
    with pytest.raises(SchemaError, match="the recursion never ends"):
        compile_schema({"type": "array", "contains": {"$ref": "#"}})
    compiled = language({"type": ["array", "null"], "contains": {"$ref": "#"}})
    assert compiled.matches("[1,[[null]]]")
    assert not compiled.matches("[1,[[1]]]")


VOID: list[tuple[dict[str, Any], str, str]] = [
    (
        {"contains": INTEGER, "minContains": 3, "maxContains": 2},
        "no array can have at least 3 and at most 2 items that fit contains",
        "/minContains",
    ),
    (
        {"contains": INTEGER, "items": STRING},
        "no array can have at least 1 items that fit contains when only 0 can",
        "/contains",
    ),
    (
        {"contains": True, "minContains": 3, "maxItems": 2},
        "no array can have at least 3 and at most 2 items",
        "/minContains",
    ),
]


@pytest.mark.parametrize(("schema", "fact", "pointer"), VOID)
def test_an_array_that_cannot_be(schema: dict[str, Any], fact: str, pointer: str) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema({"type": "array", **schema})
    assert caught.value.fact == fact
    assert caught.value.pointer == pointer


def test_more_conditions_than_can_be_counted_are_refused() -> None:
    schema = {"type": "array", "allOf": [{"contains": {"const": k}} for k in range(17)]}
    with pytest.raises(UnsupportedError, match="is one of 17 conditions on members") as caught:
        compile_schema(schema)
    assert caught.value.keyword == "contains"
    lenient = compile_schema(schema, unsupported="ignore")
    assert lenient.not_enforced
