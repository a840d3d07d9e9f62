"""A small schema for each keyword, with texts that fit it and texts that do not.

Texts are written as `json.dumps` writes them, with properties in the order of the schema, so that
an engine is asked for what the keyword means and for nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class KeywordCase:
    """What one line of the table asks."""

    group: str
    name: str
    schema: Schema
    fit: list[str]
    unfit: list[str]


def _strings(**keywords: Any) -> Schema:
    return {"type": "string", **keywords}


def _objects(**keywords: Any) -> Schema:
    return {"type": "object", **keywords}


def _arrays(**keywords: Any) -> Schema:
    return {"type": "array", **keywords}


def _format(name: str, fit: str, unfit: str) -> KeywordCase:
    return KeywordCase(
        "formats", f"`{name}`", _strings(format=name), [f'"{fit}"'], [f'"{unfit}"', "1"]
    )


INTEGER, STRING, NULL = {"type": "integer"}, {"type": "string"}, {"type": "null"}
A = {"properties": {"a": INTEGER}, "required": ["a"]}
B = {"properties": {"b": STRING}, "required": ["b"]}

CASES = [
    KeywordCase("any type", "`type`", INTEGER, ["3", "-20"], ['"3"', "1.5", "null"]),
    KeywordCase("any type", "`type`: `1.0` is an integer", INTEGER, ["1.0"], ["1.5"]),
    KeywordCase("any type", "`type`, a list", {"type": ["integer", "null"]}, ["3", "null"], ["[]"]),
    KeywordCase("any type", "`enum`", {"enum": [1, "a", None]}, ["1", '"a"', "null"], ["2", '"b"']),
    KeywordCase(
        "any type",
        "`enum`, beside `maxLength`",
        {"enum": ["a", "bcd"], "maxLength": 2},
        ['"a"'],
        ['"bcd"'],
    ),
    KeywordCase(
        "any type", "`const`, an object", {"const": {"a": [1]}}, ['{"a": [1]}'], ["{}", "1"]
    ),
    KeywordCase(
        "any type",
        "keywords without `type`",
        {"maxLength": 2, "minimum": 3},
        ['"ab"', "4", "null"],
        ['"abc"', "2"],
    ),
    KeywordCase(
        "combinations",
        "`allOf`, two objects",
        {"type": "object", "allOf": [A, B]},
        ['{"a": 1, "b": "x"}'],
        ['{"a": 1}', '{"a": 1, "b": 2}'],
    ),
    KeywordCase(
        "combinations", "`anyOf`", {"anyOf": [INTEGER, NULL]}, ["1", "null"], ['"x"', "true"]
    ),
    KeywordCase(
        "combinations",
        "`anyOf` with siblings",
        _objects(properties={"a": INTEGER}, required=["a"], anyOf=[B, {"required": ["c"]}]),
        ['{"a": 1, "b": "x"}', '{"a": 1, "c": 2}'],
        ['{"a": 1}', '{"b": "x"}'],
    ),
    KeywordCase(
        "combinations",
        "`oneOf`, branches apart",
        {"oneOf": [{"const": 1}, {"const": "a"}]},
        ["1", '"a"'],
        ["2"],
    ),
    KeywordCase(
        "combinations",
        "`oneOf`, branches that overlap",
        {"type": "integer", "oneOf": [{"minimum": 0}, {"maximum": 10}]},
        ["-1", "11"],
        ["5", "0"],
    ),
    KeywordCase("combinations", "`not`", {"not": {"type": "integer"}}, ['"x"', "1.5"], ["1"]),
    KeywordCase(
        "combinations",
        "`not` of an object",
        _objects(**{"not": A}),
        ['{"b": 1}', '{"a": "x"}', "{}"],
        ['{"a": 1}'],
    ),
    KeywordCase(
        "combinations",
        "`if` `then` `else`",
        _objects(
            properties={"k": {"enum": ["x", "y"]}, "v": {}},
            required=["k", "v"],
            **{
                "if": {"properties": {"k": {"const": "x"}}},
                "then": {"properties": {"v": INTEGER}},
                "else": {"properties": {"v": STRING}},
            },
        ),
        ['{"k": "x", "v": 1}', '{"k": "y", "v": "s"}'],
        ['{"k": "x", "v": "s"}', '{"k": "y", "v": 1}'],
    ),
    KeywordCase(
        "references",
        "`$ref`, recursive",
        {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False},
        ["{}", '{"next": {"next": {}}}'],
        ['{"next": 1}'],
    ),
    KeywordCase(
        "references",
        "`$ref` with siblings",
        {"$ref": "#/$defs/s", "maxLength": 2, "$defs": {"s": {"type": "string", "minLength": 2}}},
        ['"ab"'],
        ['"a"', '"abc"'],
    ),
    KeywordCase(
        "references",
        "`$anchor`",
        {"$ref": "#here", "$defs": {"s": {"$anchor": "here", "type": "integer"}}},
        ["1"],
        ['"x"'],
    ),
    KeywordCase(
        "references",
        "`$id` inside, relative `$ref`",
        {
            "$id": "https://example.org/root",
            "$ref": "item",
            "$defs": {"i": {"$id": "item", "type": "integer"}},
        },
        ["1"],
        ['"x"'],
    ),
    KeywordCase(
        "references",
        "`$dynamicRef`",
        {
            "$id": "https://example.org/strings",
            "$ref": "list",
            "$defs": {
                "item": {"$dynamicAnchor": "item", "type": "string"},
                "list": {
                    "$id": "list",
                    "type": "array",
                    "items": {"$dynamicRef": "#item"},
                    "$defs": {"item": {"$dynamicAnchor": "item"}},
                },
            },
        },
        ['["a"]', "[]"],
        ["[1]"],
    ),
    KeywordCase(
        "objects",
        "`properties` `required`",
        _objects(properties={"a": INTEGER, "b": STRING}, required=["a"]),
        ['{"a": 1, "b": "x"}', '{"a": 1}'],
        ['{"b": "x"}', '{"a": "x"}'],
    ),
    KeywordCase(
        "objects",
        "`required`, not declared",
        _objects(required=["a"]),
        ['{"a": 1}', '{"a": []}'],
        ["{}"],
    ),
    KeywordCase(
        "objects",
        "`additionalProperties`",
        _objects(properties={"a": INTEGER}, additionalProperties=STRING),
        ['{"a": 1, "z": "x"}', '{"z": "x"}'],
        ['{"z": 1}', '{"a": "x"}'],
    ),
    KeywordCase(
        "objects",
        "`patternProperties`",
        _objects(patternProperties={"^x": INTEGER}, additionalProperties=False),
        ['{"xa": 1}', "{}"],
        ['{"xa": "s"}', '{"a": 1}'],
    ),
    KeywordCase(
        "objects",
        "`patternProperties`, overlapping",
        _objects(patternProperties={"^x": INTEGER, "y$": {"minimum": 5}}),
        ['{"xy": 7, "x": 1}', '{"y": "s"}'],
        ['{"xy": 3}', '{"xy": "s"}'],
    ),
    KeywordCase(
        "objects",
        "`propertyNames`",
        _objects(propertyNames={"maxLength": 2}),
        ['{"ab": 1}', "{}"],
        ['{"abc": 1}'],
    ),
    KeywordCase("objects", "`minProperties`", _objects(minProperties=1), ['{"a": 1}'], ["{}"]),
    KeywordCase(
        "objects",
        "`maxProperties`",
        _objects(maxProperties=1),
        ["{}", '{"a": 1}'],
        ['{"a": 1, "b": 2}'],
    ),
    KeywordCase(
        "objects",
        "`dependentRequired`",
        _objects(dependentRequired={"a": ["b"]}),
        ['{"a": 1, "b": 2}', '{"c": 1}'],
        ['{"a": 1}'],
    ),
    KeywordCase(
        "objects",
        "`dependentSchemas`",
        _objects(properties={"a": INTEGER}, dependentSchemas={"a": B}),
        ['{"a": 1, "b": "x"}', "{}"],
        ['{"a": 1}', '{"a": 1, "b": 2}'],
    ),
    KeywordCase(
        "objects",
        "`unevaluatedProperties`",
        _objects(allOf=[{"properties": {"a": INTEGER}}], unevaluatedProperties=False),
        ['{"a": 1}', "{}"],
        ['{"a": 1, "b": 2}'],
    ),
    KeywordCase(
        "objects",
        "no key twice (a declared one)",
        _objects(properties={"a": INTEGER}),
        ['{"a": 1}', '{"a": 1, "b": 2}'],
        ['{"a": 1, "a": 2}'],
    ),
    KeywordCase(
        "objects",
        "no key twice (any)",
        _objects(additionalProperties=INTEGER),
        ['{"a": 1, "b": 2}'],
        ['{"a": 1, "a": 2}'],
    ),
    KeywordCase("arrays", "`items`", _arrays(items=INTEGER), ["[]", "[1, 2]"], ["[1, null]"]),
    KeywordCase(
        "arrays",
        "`prefixItems`",
        _arrays(prefixItems=[INTEGER, STRING], items=False),
        ['[1, "x"]', "[1]"],
        ["[1, 2]", '[1, "x", 2]'],
    ),
    KeywordCase(
        "arrays",
        "`minItems` `maxItems`",
        _arrays(minItems=1, maxItems=2),
        ["[1]", "[1, 2]"],
        ["[]", "[1, 2, 3]"],
    ),
    KeywordCase(
        "arrays", "`contains`", _arrays(contains={"const": 1}), ["[2, 1]", "[1]"], ["[2]", "[]"]
    ),
    KeywordCase(
        "arrays",
        "`minContains` `maxContains`",
        _arrays(contains={"const": 1}, minContains=2, maxContains=2),
        ["[1, 2, 1]"],
        ["[1]", "[1, 1, 1]"],
    ),
    KeywordCase(
        "arrays",
        "`uniqueItems`",
        _arrays(items={"type": ["integer", "string"]}, uniqueItems=True),
        ['[1, "1", 2]', "[]"],
        ["[1, 2, 1]", '["a", "a"]', "[1, 1.0]"],
    ),
    KeywordCase(
        "arrays",
        "`uniqueItems` of objects",
        _arrays(items={"type": "object"}, uniqueItems=True),
        ['[{}, {"a": 1}]'],
        ["[{}, {}]"],
    ),
    KeywordCase(
        "arrays",
        "`unevaluatedItems`",
        _arrays(allOf=[{"prefixItems": [INTEGER]}], unevaluatedItems=False),
        ["[1]", "[]"],
        ["[1, 2]", '["x"]'],
    ),
    KeywordCase(
        "strings",
        "`minLength` `maxLength`",
        _strings(minLength=2, maxLength=3),
        ['"ab"', '"abc"', '"éü"'],
        ['"a"', '"abcd"', '"é"'],
    ),
    KeywordCase(
        "strings",
        "lengths count an escape once",
        _strings(maxLength=2),
        [r'"\u00e9\n"', r'"\ud83d\ude00a"'],
        [r'"\u00e9\n\""'],
    ),
    KeywordCase("strings", "`pattern`", _strings(pattern="^a+$"), ['"aa"'], ['"ab"', '""']),
    KeywordCase(
        "strings", "`pattern`, not anchored", _strings(pattern="a"), ['"xax"', '"a"'], ['"x"']
    ),
    KeywordCase(
        "strings",
        "`pattern` with `maxLength`",
        _strings(pattern="^a+$", maxLength=2),
        ['"aa"'],
        ['"aaa"', '"b"'],
    ),
    KeywordCase(
        "strings",
        "`pattern` with look-ahead",
        _strings(pattern="^(?!b)[a-z]+$"),
        ['"ab"'],
        ['"ba"', '"1"'],
    ),
    KeywordCase(
        "numbers",
        "`minimum` `maximum`",
        {"type": "integer", "minimum": -5, "maximum": 12},
        ["-5", "12", "0"],
        ["-6", "13", "120"],
    ),
    KeywordCase(
        "numbers",
        "exclusive bounds of a number",
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1.5},
        ["0.5", "1.49"],
        ["0", "1.5", "2", "-1"],
    ),
    KeywordCase(
        "numbers", "`multipleOf`", {"type": "integer", "multipleOf": 3}, ["9", "0"], ["10", "1"]
    ),
    KeywordCase(
        "numbers",
        "`multipleOf`, a decimal",
        {"type": "number", "multipleOf": 0.01},
        ["0.07", "19.99", "4"],
        ["0.075"],
    ),
    KeywordCase(
        "numbers",
        "`multipleOf` within bounds",
        {"type": "integer", "multipleOf": 7, "minimum": 20, "maximum": 40},
        ["21", "35"],
        ["14", "42", "22"],
    ),
    _format("date", "2024-02-29", "2023-02-29"),
    _format("time", "12:00:00Z", "25:00:00Z"),
    _format("date-time", "2024-01-01T12:00:00Z", "2024-13-01T12:00:00Z"),
    _format("duration", "P1DT2H", "P1"),
    _format("email", "ada@example.org", "ada"),
    _format("hostname", "example.org", "-example.org"),
    _format("ipv4", "192.168.0.1", "192.168.0.256"),
    _format("ipv6", "2001:db8::1", "2001:db8:::1"),
    _format("uri", "https://example.org/a?b#c", "a b"),
    _format("uri-reference", "/a/b", "a b"),
    _format("iri", "https://exämple.org/", "a b"),
    _format("uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"),
    _format("json-pointer", "/a/0", "a"),
    _format("uri-template", "/a/{b}", "/a/{b"),
    _format("regex", "^a+$", "a("),
]
