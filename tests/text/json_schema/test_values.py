"""Types, lists of values, and schemas put together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from guided.errors import SchemaError
from tests.text.json_schema.matching import check, language, matches

EVERYTHING = [
    "null",
    "true",
    "false",
    "0",
    "-12",
    "2.50",
    "1e3",
    '""',
    '"a\\n\\u00e9é😀"',
    "[]",
    "[1, [true]]",
    "{}",
    '{"a": {"b": []}}',
]
NOT_JSON = [
    "",
    " 1",
    "1 ",
    "nul",
    "01",
    "+1",
    ".5",
    "5.",
    "1e",
    "'a'",
    '"a',
    '"\n"',
    "[1,]",
    "{a:1}",
]
NOT_JSON += ['{"a":1,}', "[1 2]", "NaN", "Infinity", '"\\x"', '"\\u12"', '"\\ud800"', '"\\udc00"']


@pytest.mark.parametrize(
    "schema", [{}, True, {"title": "anything"}, {"type": ["null", "boolean"] * 1}]
)
def test_nothing_but_json_is_let_through(schema: Any) -> None:
    compiled = language(schema)
    for text in NOT_JSON:
        assert not compiled.matches(text), text


@pytest.mark.parametrize("schema", [{}, True, {"properties": {"a": {}}}, {"not": False}])
def test_what_is_not_constrained_may_be_anything(schema: Any) -> None:
    check(schema, EVERYTHING, [])


@pytest.mark.parametrize(
    "kind",
    [
        "null",
        "boolean",
        "integer",
        "number",
        "string",
        "array",
        "object",
        ["integer", "null"],
        ["integer", "number"],
        ["array", "boolean"],
    ],
)
def test_type_allows_its_values_only(kind: str | list[str]) -> None:
    schema = {"type": kind}
    kinds = {kind} if isinstance(kind, str) else set(kind)
    accept = [text for text in EVERYTHING if _kinds(json.loads(text)) & kinds]
    # 1e3 is an integer, but integers are written without an exponent.
    reject = [text for text in EVERYTHING if not _kinds(json.loads(text)) & kinds]
    accept = [text for text in accept if text != "1e3" or "number" in kinds]
    check(schema, accept, reject)


def _kinds(value: Any) -> set[str]:
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, int | float):
        return {"number", "integer"} if value == int(value) else {"number"}
    return {{type(None): "null", str: "string", list: "array", dict: "object"}[type(value)]}


def test_keywords_of_other_types_say_nothing_about_a_value() -> None:
    check({"minLength": 2}, ['"ab"', "1", "[]", "{}", "null"], ['"a"'])
    check({"required": ["a"]}, ['"ab"', "1", "[]", '{"a":1}'], ["{}"])
    check({"minItems": 1, "maximum": 3}, ['""', "3", "[1]", "{}"], ["4", "[]"])


@pytest.mark.parametrize(
    ("values", "accept", "reject"),
    [
        (["a", "ab", ""], ['"a"', '"ab"', '""'], ['"b"', '"abc"', "null"]),
        ([1, 2.5, -3], ["1", "1.0", "2.5", "-3"], ["2", "2.50001", "3", '"1"', "true"]),
        ([0], ["0", "0.0"], ["false", "1", '""']),
        ([True, None], ["true", "null"], ["false", "1", '"true"']),
        ([False], ["false"], ["0", "true"]),
        ([[1, "a"], []], ['[1,"a"]', '[ 1 , "a" ]', "[]"], ["[1]", '["a",1]', '[1,"a",2]']),
        ([{"k": [1, None]}], ['{"k":[1,null]}', '{ "k": [1, null] }'], ["{}", '{"k":[1]}']),
        ([{"k": 1}], ['{"k":1.0}'], ['{"k":1,"l":2}', '{"k":2}']),
        ([{}], ["{}"], ['{"a":1}', "[]"]),
        ([10**30], [f"{10**30}", "1e30", "1e+30"], [f"{10**30 + 1}", "1e31"]),
        ([10**50], [f"{10**50}", "1e50"], [f"{10**50 + 1}"]),
        ([1e-7], ["0.0000001", "1e-07", "1e-7"], ["0.00000011", "0"]),
        ([-1.5], ["-1.5"], ["1.5", "-15"]),
    ],
)
def test_enum_allows_the_values_listed(
    values: list[Any], accept: list[str], reject: list[str]
) -> None:
    check({"enum": values}, accept, reject)
    if len(values) == 1:
        check({"const": values[0]}, accept, reject)


def test_enum_strings_that_need_escapes_are_spelled_with_them() -> None:
    check(
        {"const": 'a"b\\c\nd\x00é/'},
        ['"a\\"b\\\\c\\nd\\u0000é/"', '"a\\"b\\\\c\\nd\\u0000\\u00e9/"'],
        [],
    )
    check(
        {"enum": ["東京", "😀"]},
        ['"東京"', '"\\u6771\\u4eac"', '"😀"', '"\\ud83d\\ude00"'],
        ['"東"'],
    )


def test_enum_meets_the_keywords_beside_it() -> None:
    check({"enum": ["a", 1, None, "bcd"], "type": "string"}, ['"a"', '"bcd"'], ["1", "null"])
    check({"enum": ["a", "bcd"], "minLength": 2}, ['"bcd"'], ['"a"'])
    check({"enum": ["a1", "b"], "pattern": "[0-9]$"}, ['"a1"'], ['"b"'])
    check({"enum": [1, 2, 3.5], "type": "integer", "minimum": 2}, ["2"], ["1", "3.5"])
    check(
        {"enum": [[1], [1, 2], ["a"]], "items": {"type": "integer"}, "minItems": 2},
        ["[1,2]"],
        ["[1]"],
    )
    check({"enum": [{"a": 1}, {"b": 1}], "required": ["a"]}, ['{"a":1}'], ['{"b":1}'])
    check({"enum": [1, 2], "const": 2}, ["2"], ["1"])


def test_any_of_allows_what_one_branch_allows() -> None:
    schema = {"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 1}, {"const": [1]}]}
    check(schema, ["1", '"a"', "[1]"], ["1.5", '"ab"', "[]", "null"])


def test_any_of_meets_the_keywords_beside_it() -> None:
    schema = {
        "type": "object",
        "properties": {"k": {"type": "string"}},
        "required": ["k"],
        "anyOf": [
            {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"properties": {"k": {"maxLength": 1}}, "additionalProperties": False},
        ],
    }
    check(
        schema,
        ['{"k":"xyz","a":1}', '{"k":"x"}'],
        ['{"k":"xyz"}', '{"k":"xyz","a":"s"}', '{"a":1}'],
    )


def test_all_of_allows_what_all_branches_allow() -> None:
    check(
        {
            "allOf": [
                {"minimum": 2},
                {"maximum": 4, "type": "integer"},
                {"anyOf": [{"const": 3}, {"const": 9}]},
            ]
        },
        ["3"],
        ["2", "9", "3.5"],
    )
    check(
        {
            "allOf": [
                {"properties": {"a": {"type": "integer"}, "b": {"minimum": 1}}, "required": ["b"]},
                {"properties": {"b": {"maximum": 5}}, "additionalProperties": {"type": "integer"}},
            ]
        },
        ['{"a":1,"b":3}', '{"b":5}'],
        ['{"a":1}', '{"b":6}', '{"b":0}', '{"a":"x","b":3}', '{"b":3,"c":"x"}'],
    )
    check(
        {
            "allOf": [
                {"prefixItems": [{"minimum": 1}]},
                {"items": {"type": "integer"}, "maxItems": 2},
            ]
        },
        ["[]", "[1]", "[1,0]"],
        ["[0]", "[1,0,0]", '["a"]'],
    )


def test_branches_that_cannot_hold_are_left_out() -> None:
    schema: dict[str, Any] = {
        "anyOf": [False, {"minItems": 3, "maxItems": 2, "type": "array"}, {"not": {}}, {"const": 1}]
    }
    check(schema, ["1"], ["[]", "2"])
    schema = {
        "properties": {"a": {"enum": []}, "b": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert matches(schema, '{"b":1}')
    assert not language(schema).has_prefix('{"a')


def test_booleans_are_schemas() -> None:
    check({"items": False}, ["[]", "1"], ["[1]"])
    check({"properties": {"a": False, "b": True}}, ['{"b":1}', '{"c":1}'], ['{"a":1}'])
    with pytest.raises(SchemaError, match="the schema false allows nothing"):
        language(False)
