"""References within the document, and recursion."""

from __future__ import annotations

from typing import Any

import pytest

from guided.errors import SchemaError, UnsupportedError
from tests.text.json_schema.matching import check, language

TREE = {
    "$defs": {
        "N": {
            "type": "object",
            "properties": {
                "v": {"type": "string", "pattern": "^[a-z0-9]+$"},
                "kids": {"type": "array", "items": {"$ref": "#/$defs/N"}},
            },
            "required": ["v"],
            "additionalProperties": False,
        }
    },
    "$ref": "#/$defs/N",
}


def test_recursion_through_properties_and_items() -> None:
    accept = ['{"v":"a"}', '{"v":"a","kids":[{"v":"b","kids":[]},{"v":"c"}]}']
    check(TREE, accept, ['{"v":"A"}', '{"kids":[]}', '{"v":"a","kids":[{"v":""}]}'])
    deep = '{"v":"a","kids":[' * 200 + '{"v":"z"}' + "]}" * 200
    assert language(TREE).matches(deep)


def test_recursion_to_the_root() -> None:
    schema = {"type": "array", "items": {"$ref": "#"}, "maxItems": 2}
    check(schema, ["[]", "[[],[[]]]"], ["[1]", "[[],[],[]]", "[[[],[],[]]]"])


def test_recursion_through_a_union_and_siblings() -> None:
    schema = {
        "$defs": {
            "tree": {
                "anyOf": [
                    {"type": "integer"},
                    {
                        "type": "object",
                        "properties": {
                            "l": {"$ref": "#/$defs/tree", "maximum": 3},
                            "r": {"allOf": [{"$ref": "#/$defs/tree"}, {"required": ["l"]}]},
                        },
                        "required": ["l"],
                        "additionalProperties": False,
                    },
                ]
            }
        },
        "$ref": "#/$defs/tree",
    }
    accept = ["7", '{"l":3}', '{"l":{"l":2},"r":9}', '{"l":1,"r":{"l":2,"r":{"l":3}}}']
    check(schema, accept, ['{"l":4}', '{"r":1}', '{"l":1,"r":{"l":4}}', '{"l":1,"r":{}}', "[]"])


def test_mutual_recursion() -> None:
    schema = {
        "$defs": {
            "a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/b"}}, "required": ["b"]},
            "b": {"type": "array", "items": {"$ref": "#/$defs/a"}},
        },
        "$ref": "#/$defs/a",
    }
    check(schema, ['{"b":[]}', '{"b":[{"b":[{"b":[]}]}]}'], ["{}", '{"b":[{}]}', '{"b":[[]]}'])


def test_siblings_of_a_reference_hold_too() -> None:
    schema: dict[str, Any] = {
        "$defs": {"S": {"type": "string", "minLength": 2}},
        "$ref": "#/$defs/S",
        "maxLength": 3,
    }
    check(schema, ['"ab"', '"abc"'], ['"a"', '"abcd"', "1"])
    old = {**schema, "$schema": "http://json-schema.org/draft-07/schema#"}
    check(old, ['"ab"', '"abcd"'], ['"a"'])  # up to draft 7 a reference stands alone


@pytest.mark.parametrize(
    ("reference", "accept", "reject"),
    [
        ("#/$defs/a~1b~0c", "1", "true"),
        ("#/$defs/p~01q", "true", "1"),
        ("#/$defs/sp%20ace", "null", "0"),
        ("#/$defs/%22", '"x"', "1"),
        ("#/properties/l/anyOf/1", "[]", "{}"),
        ("https://example.org/schema#/$defs/%22", '"x"', "1"),
    ],
)
def test_pointers_are_decoded(reference: str, accept: str, reject: str) -> None:
    schema = {
        "$id": "https://example.org/schema",
        "$defs": {
            "a/b~c": {"type": "integer"},
            "p~1q": {"type": "boolean"},
            "sp ace": {"type": "null"},
            '"': {"type": "string"},
        },
        "properties": {
            "l": {"anyOf": [{"type": "string"}, {"type": "array"}]},
            "x": {"$ref": reference},
        },
    }
    check(schema, [f'{{"x":{accept}}}'], [f'{{"x":{reject}}}'])


def test_definitions_nobody_refers_to_are_not_looked_at() -> None:
    check({"$defs": {"a": {"type": "nonsense"}, "b": {"oneOf": 5}}, "const": 1}, ["1"], ["2"])


@pytest.mark.parametrize("reference", ["https://127.0.0.1:9/schema.json", "other.json#/a"])
def test_remote_documents_are_refused(reference: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        language({"properties": {"a": {"$ref": reference}}})
    assert caught.value.keyword == "$ref"
    assert caught.value.place == "at /properties/a/$ref"
    lenient = language({"properties": {"a": {"$ref": reference}}}, unsupported="ignore")
    assert lenient.compiled.not_enforced == ["/properties/a/$ref"]
    assert lenient.matches('{"a":[1]}')


def test_a_reference_below_an_inner_id_is_relative_to_it() -> None:
    inner = {"$id": "inner.json", "$defs": {"x": {"type": "null"}}, "items": {"$ref": "#/$defs/x"}}
    schema = {"$defs": {"x": {"type": "string"}}, "properties": {"a": inner}}
    check(schema, ['{"a":[null]}'], ['{"a":["x"]}'])


def test_an_anchor_names_a_schema() -> None:
    schema = {"$defs": {"A": {"$anchor": "a", "type": "integer"}}, "items": {"$ref": "#a"}}
    check({**schema, "type": "array"}, ["[1]"], ['["x"]'])


def test_a_dynamic_reference_leads_to_the_outermost_anchor() -> None:
    tree = {
        "$id": "https://example.org/tree",
        "$dynamicAnchor": "node",
        "type": "object",
        "properties": {"v": True, "kids": {"type": "array", "items": {"$dynamicRef": "#node"}}},
        "additionalProperties": False,
    }
    strict = {
        "$id": "https://example.org/strict",
        "$dynamicAnchor": "node",
        "$ref": "tree",
        "required": ["v"],
        "$defs": {"tree": tree},
    }
    check(strict, ['{"v":1,"kids":[{"v":2}]}'], ['{"v":1,"kids":[{}]}', '{"kids":[]}'])
    both = {"properties": {"a": {"$ref": "tree"}, "b": strict}, "$id": "https://example.org/both"}
    accept = ['{"a":{"kids":[{}]},"b":{"v":1}}', '{"a":{},"b":{"v":1,"kids":[{"v":2,"kids":[]}]}}']
    check(both, accept, ['{"a":{},"b":{"v":1,"kids":[{}]}}', '{"a":{"kids":[1]}}'])


def test_a_recursive_reference_leads_to_the_outermost_anchor() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "$id": "https://example.org/strict",
        "$recursiveAnchor": True,
        "$ref": "list",
        "maxItems": 1,
        "$defs": {
            "list": {
                "$id": "list",
                "$recursiveAnchor": True,
                "type": "array",
                "items": {"$recursiveRef": "#"},
            }
        },
    }
    check(schema, ["[]", "[[]]", "[[[]]]"], ["[[],[]]", "[[[],[]]]", "[1]"])


def test_what_can_only_recur_forever_is_left_out() -> None:
    node = {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}, "required": ["n"]}
    schema = {
        "$defs": {"N": node},
        "properties": {
            "a": {"$ref": "#/$defs/N"},
            "b": {"anyOf": [{"$ref": "#/$defs/N"}, {"const": 1}]},
        },
        "additionalProperties": False,
    }
    compiled = language(schema)
    assert compiled.matches('{"b":1}')
    assert not compiled.has_prefix('{"a')
    assert not compiled.has_prefix('{"b":{')


@pytest.mark.parametrize(
    "definitions",
    [
        {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}},
        {"A": {"$ref": "#/$defs/A"}},
        {"A": {"allOf": [{"$ref": "#/$defs/A"}]}},
        {"A": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/A"}]}},
        {"A": {"minimum": 1, "$ref": "#/$defs/B"}, "B": {"maximum": 1, "$ref": "#/$defs/A"}},
    ],
)
def test_references_that_only_go_round_are_an_error(definitions: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match=r"circular reference: .*\$defs/A"):
        language({"$defs": definitions, "$ref": "#/$defs/A"})
