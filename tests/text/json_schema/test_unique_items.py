"""Arrays whose items must all differ."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from typing import Any

import pytest

from guided.errors import SchemaError, UnsupportedError
from guided.text.json_schema import compile_schema
from guided.text.json_schema.arrays.unique_items import MayRunOutError, Scalar, room
from tests.text.json_schema.matching import is_valid, language

BOOLEAN, INTEGER, STRING = {"type": "boolean"}, {"type": "integer"}, {"type": "string"}
SCALAR = {"type": ["number", "string", "boolean", "null"]}
ITEMS = [1, 7, "a", "b", "1", True, False, None]

SCHEMAS: dict[str, dict[str, Any]] = {
    "scalars": {"items": SCALAR},
    "strings": {"items": STRING},
    "pairs": {"items": SCALAR, "minItems": 2, "maxItems": 2},
    "enum": {"items": {"enum": [1, "a", None]}},
    "all of an enum": {"items": {"enum": [1, "a", True]}, "minItems": 3},
    "two booleans": {"items": BOOLEAN, "minItems": 2},
    "range": {"items": {"type": "integer", "minimum": 1, "exclusiveMaximum": 8}, "minItems": 2},
    "multiples": {"items": {"type": "number", "minimum": 0, "maximum": 7, "multipleOf": 3.5}},
    "pattern": {"items": {"type": "string", "pattern": "^[ab]$"}, "minItems": 2},
    "few and many": {"items": {"anyOf": [{"enum": [1, True]}, STRING]}, "minItems": 2},
    "contains": {"items": SCALAR, "contains": {"const": 7}},
    "contains two of three": {
        "items": SCALAR,
        "contains": {"enum": [7, 1, "a"]},
        "minContains": 2,
        "maxContains": 2,
    },
    "prefix": {"prefixItems": [BOOLEAN, BOOLEAN], "items": SCALAR},
    "prefix that runs out": {"prefixItems": [BOOLEAN] * 3, "items": False},
    "prefix of one": {"prefixItems": [{"const": 1}, {"enum": [1, "a"]}], "items": SCALAR},
    "one container": {"prefixItems": [{"type": ["array", "integer"]}], "items": SCALAR},
    "one item": {"maxItems": 1},
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_arrays_are_judged_as_jsonschema_does(schema: dict[str, Any]) -> None:
    schema = {"type": "array", "uniqueItems": True, **schema}
    compiled = language(schema)
    for count in range(4):
        for items in itertools.product(ITEMS if count < 3 else ITEMS[:6], repeat=count):
            text = json.dumps(items)
            assert compiled.matches(text) is is_valid(schema, text), text


def test_values_are_compared_and_not_their_spellings() -> None:
    compiled = language({"type": "array", "items": SCALAR, "uniqueItems": True}, escapes="any")
    for text in ("[1,1.0]", "[10,1e1]", '["a","\\u0061"]', "[0,-0]", "[1,2,1]", "[null,null]"):
        assert not compiled.matches(text), text
    for text in ('[1,"1"]', "[1,true]", "[0,false]", '[null,"null"]', "[1,10,100]", '["","a"]'):
        assert compiled.matches(text), text
    listed = language({"type": "array", "items": {"enum": [1, 2.5]}, "uniqueItems": True})
    assert listed.matches("[2.5,1]")
    assert not listed.matches("[1,1.0]")
    assert not listed.matches("[1,2.5,2.50]")


def test_one_container_is_no_matter() -> None:
    schema = {"type": "array", "prefixItems": [{}, SCALAR], "items": SCALAR, "uniqueItems": True}
    compiled = language(schema)
    assert compiled.matches('[{"a":[1,1]},1,2]')
    assert not compiled.matches("[[],1,1]")
    assert not compiled.matches("[1,1]")


def test_all_of_many_listed_values() -> None:
    values = [f"v{index}" for index in range(300)]
    schema = {"type": "array", "items": {"enum": values}, "minItems": 300, "uniqueItems": True}
    compiled = language(schema)
    assert compiled.matches(json.dumps(values))
    assert not compiled.matches(json.dumps(values[:-1]))
    assert not compiled.matches(json.dumps([*values[:-1], "v0"]))


def test_indented_items_differ_as_well() -> None:
    compiled = language({"type": "array", "items": INTEGER, "uniqueItems": True}, whitespace=2)
    for value, verdict in (([], True), ([1, 12, 2], True), ([1, 12, 1], False)):
        assert compiled.matches(json.dumps(value, indent=2)) is verdict


VOID: list[tuple[dict[str, Any], str]] = [
    (
        {"items": {"enum": [1, "a"]}, "minItems": 3},
        "no array can have at least 3 items when only 2 are allowed",
    ),
    (
        {"items": {"type": "string", "pattern": "^[ab]$"}, "minItems": 3},
        "no array can have at least 3 items when only 2 are allowed",
    ),
    (
        {"prefixItems": [BOOLEAN] * 3, "items": False, "minItems": 3},
        "no array can have at least 3 items when only 2 are allowed",
    ),
    (
        {"items": SCALAR, "contains": {"const": 7}, "minContains": 2},
        "no array can have at least 2 items that fit contains when only 1 can",
    ),
]


@pytest.mark.parametrize(("schema", "fact"), VOID)
def test_an_array_that_cannot_be(schema: dict[str, Any], fact: str) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema({"type": "array", "uniqueItems": True, **schema})
    assert caught.value.fact == fact


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({}, "where items may be arrays or objects"),
        ({"items": {"type": "object"}}, "where items may be arrays or objects"),
        (
            {"prefixItems": [{"enum": [1, "a"]}, {"const": 1}], "items": False, "minItems": 2},
            "where items before may use up all values",
        ),
    ],
)
def test_what_cannot_be_told_apart_is_refused(schema: dict[str, Any], why: str) -> None:
    schema = {"type": "array", "uniqueItems": True, **schema}
    with pytest.raises(UnsupportedError, match=why) as caught:
        compile_schema(schema)
    assert caught.value.keyword == "uniqueItems"
    lenient = compile_schema(schema, unsupported="ignore")
    assert lenient.not_enforced == ["/uniqueItems"]


def values(*numbers: int) -> list[Scalar]:
    return [("number", Fraction(number)) for number in numbers]


def test_room_for_items_of_few_values() -> None:
    assert room([], None, 5) == 5
    assert room([], values(1, 2), 2) == 2
    assert room([], values(1, 2), 3) == 2
    assert room([values(1)], values(1, 2), 3) == 2
    assert room([values(3)], values(1, 2), 3) == 3
    assert room([values(1, 2), values(1, 2), values(1, 2)], None, 3) == 2
    assert room([values(1, 2), values(1, 2), values(1, 2)], None, 2) == 2
    assert room([values(1, 2, 3), values(1, 2), values(1, 2, 4)], None, 9) == 9
    for places, rest in (([values(1, 2), values(1)], None), ([None, values(1)], None)):
        with pytest.raises(MayRunOutError):
            room(places, rest, 2)
    with pytest.raises(MayRunOutError):
        room([values(1, 3)], values(1, 2), 3)
