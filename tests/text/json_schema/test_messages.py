"""What users are told: the whole text of each message."""

from __future__ import annotations

from typing import Any

import pytest

from guided.errors import GuidedError, LimitError, SchemaError, UnsupportedError
from guided.text.json_schema import compile_schema


def message(schema: Any, kind: type[GuidedError] = SchemaError, **options: Any) -> str:
    with pytest.raises(kind) as caught:
        compile_schema(schema, **options)
    return str(caught.value)


def required(schema: Any) -> dict[str, Any]:
    """Put a schema where an error must name a place below the top."""
    return {"type": "object", "properties": {"a": schema}, "required": ["a"]}


CONTRADICTIONS = [
    (
        {"type": "array", "minItems": 4, "maxItems": 2},
        "no array can have at least 4 and at most 2 items",
        "/minItems",
        "lower minItems to 2 or raise maxItems to 4",
    ),
    (
        {"type": "string", "minLength": 5, "maxLength": 3},
        "no string can have at least 5 and at most 3 characters",
        "/minLength",
        "lower minLength to 3 or raise maxLength to 5",
    ),
    (
        {"type": "number", "minimum": 5, "exclusiveMaximum": 3.5},
        "no number can be at least 5 and less than 3.5",
        "/minimum",
        "lower minimum or raise exclusiveMaximum",
    ),
    (
        {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
        "no integer can be more than 1 and less than 2",
        "/exclusiveMinimum",
        "lower exclusiveMinimum or raise exclusiveMaximum",
    ),
    (
        {"enum": ["a", "bc"], "type": "string", "minLength": 3},
        "no string of the enum fits what else is asked of it",
        "/enum",
        "list a value that fits, or take the other constraints out",
    ),
    (
        {"const": 1.5, "type": "integer"},
        "no number of the const fits what else is asked of it",
        "/const",
        "list a value that fits, or take the other constraints out",
    ),
    (
        {"enum": ["a"], "type": ["integer", "null"]},
        "no value fits both: one part of the schema allows null or integer, another string",
        "/enum",
        "let them share a type, or take one of them out",
    ),
    (
        {"allOf": [{"type": "object"}, {"type": "array"}]},
        "no value fits both: one part of the schema allows object, another array",
        "/allOf/1",
        "let them share a type, or take one of them out",
    ),
    (
        {"type": "string", "pattern": "^[a-z]{4}$", "maxLength": 3},
        'no string can match "^[a-z]{4}$" and have at most 3 characters',
        "/pattern",
        "change the pattern or the lengths",
    ),
    (
        {"type": "object", "required": ["b"], "additionalProperties": False},
        'property "b" is required, but no property of that name is allowed',
        "/required",
        'allow "b" in properties, or take it out of required',
    ),
    (
        {"type": "array", "prefixItems": [{}], "items": False, "minItems": 2},
        "no array can have at least 2 items when only 1 are allowed",
        "/minItems",
        "lower minItems to 1, or allow more items",
    ),
    (
        {"oneOf": [{"type": "string"}, {"type": "string"}]},
        "no value fits exactly one schema of oneOf",
        "/oneOf",
        "let the schemas exclude each other, or use anyOf",
    ),
    (
        {"type": "string", "oneOf": [{"type": "integer"}, {"type": "null"}]},
        "no value fits both: one part of the schema allows string, another integer",
        "/oneOf/0",
        "let them share a type, or take one of them out",
    ),
    (
        {"not": {"type": ["object", "array", "string", "number", "boolean", "null"]}},
        "not of anything allows nothing",
        "/not",
        "take it out; anything fits the schema in it",
    ),
    (
        {"type": "object", "required": ["a"], "not": {"required": ["a"]}},
        "all that fits the rest of the schema fits the schema in not",
        "/not",
        "take it out, or let it say less",
    ),
    (
        {"if": {"type": "string"}, "then": False, "else": False},
        "the schema false allows nothing",
        "/then",
        "take it out",
    ),
    (
        {"type": "object", "dependentSchemas": {"b": False}, "required": ["b"]},
        'property "b" is required, but no property of that name is allowed',
        "/required",
        'allow "b" in properties, or take it out of required',
    ),
    (
        {"type": "object", "unevaluatedProperties": False, "required": ["b"]},
        'property "b" is required, but no property of that name is allowed',
        "/required",
        'allow "b" in properties, or take it out of required',
    ),
    (
        {"type": "array", "contains": {}, "minContains": 3, "maxContains": 2},
        "no array can have at least 3 and at most 2 items",
        "/minContains",
        "lower minContains to 2 or raise maxContains to 3",
    ),
    (
        {"enum": []},
        "enum is empty, so nothing fits",
        "/enum",
        "list at least one value",
    ),
    (False, "the schema false allows nothing", "", "take it out"),
    (
        {"enum": ["\ud800"]},
        '"\\ud800" holds half of a surrogate pair, which no UTF-8 text can spell',
        "/enum",
        "take it out, or write the whole pair",
    ),
]


@pytest.mark.parametrize(("schema", "fact", "pointer", "mend"), CONTRADICTIONS)
def test_a_schema_that_nothing_fits(schema: Any, fact: str, pointer: str, mend: str) -> None:
    place = f"at {pointer or 'the top of the schema'}"
    assert message(schema) == f"{fact}\n  {place}\n  mend: {mend}"
    if schema is not False:
        inner = f"{fact}\n  at /properties/a{pointer}\n  mend: {mend}"
        assert message(required(schema)) == inner
        compile_schema({**required(schema), "required": []})  # there it is only left out


def test_a_recursion_that_never_ends() -> None:
    node: dict[str, Any] = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/N"}},
        "required": ["next"],
    }
    assert message({"$defs": {"N": node}, "$ref": "#/$defs/N"}) == (
        "the recursion never ends: a value of /$defs/N must contain another\n"
        "  at /$defs/N\n"
        "  mend: make the property that leads back optional, or allow null or an empty array there"
    )
    node["properties"]["next"] = {"type": "array", "items": {"$ref": "#/$defs/N"}, "minItems": 1}
    assert message({"$defs": {"N": node}, "$ref": "#/$defs/N"}).startswith(
        "the recursion never ends"
    )
    node["properties"]["next"] = {"anyOf": [{"$ref": "#/$defs/N"}, {"$ref": "#/$defs/M"}]}
    both = {"N": node, "M": {"type": "null", "enum": [1]}}
    assert message({"$defs": both, "$ref": "#/$defs/N"}).startswith("the recursion never ends")
    compile_schema({"$defs": {"N": node, "M": {"type": "null"}}, "$ref": "#/$defs/N"})


MALFORMED = [
    ({"type": 5}, "there is no type 5", "/type", None),
    ({"type": "strng"}, 'there is no type "strng"', "/type", None),
    ({"type": []}, None, "/type", None),
    (
        {"minLength": -1},
        '"minLength" must be an integer that is not negative, found -1',
        "/minLength",
        None,
    ),
    (
        {"maxItems": "2"},
        '"maxItems" must be an integer that is not negative, found "2"',
        "/maxItems",
        None,
    ),
    ({"minItems": 1.5}, None, "/minItems", None),
    ({"minimum": True}, '"minimum" must be a number, found true', "/minimum", None),
    ({"maximum": float("nan")}, None, "/maximum", None),
    (
        {"required": "x"},
        '"required" must be an array of property names, found "x"',
        "/required",
        None,
    ),
    (
        {"required": True},
        '"required" must be an array of property names, found true',
        "/required",
        None,
    ),
    (
        {"properties": []},
        '"properties" must be an object of schemas, found an array',
        "/properties",
        None,
    ),
    (
        {"properties": {"a": 1}},
        "a schema is an object, true or false, found 1",
        "/properties/a",
        None,
    ),
    ({"items": "x"}, 'a schema is an object, true or false, found "x"', "/items", None),
    ({"items": [{}]}, '"items" must be one schema, found an array', "/items", None),
    (
        {"prefixItems": {}},
        '"prefixItems" must be an array of schemas, found an object',
        "/prefixItems",
        None,
    ),
    ({"enum": "a"}, '"enum" must be an array of values, found "a"', "/enum", None),
    ({"anyOf": []}, None, "/anyOf", None),
    ({"anyOf": [{}, None]}, "a schema is an object, true or false, found null", "/anyOf/1", None),
    ({"oneOf": {}}, '"oneOf" must be an array of schemas, found an object', "/oneOf", None),
    ({"not": 5}, "a schema is an object, true or false, found 5", "/not", None),
    ({"if": 3, "then": {}}, "a schema is an object, true or false, found 3", "/if", None),
    ({"contains": "x"}, 'a schema is an object, true or false, found "x"', "/contains", None),
    ({"multipleOf": 0}, '"multipleOf" must be a number above 0, found 0', "/multipleOf", None),
    ({"uniqueItems": 1}, '"uniqueItems" must be true or false, found 1', "/uniqueItems", None),
    ({"minProperties": -1}, None, "/minProperties", None),
    ({"unevaluatedItems": 3}, None, "/unevaluatedItems", None),
    (
        {"patternProperties": []},
        '"patternProperties" must be an object of schemas, found an array',
        "/patternProperties",
        None,
    ),
    (
        {"dependentRequired": {"a": "b"}},
        '"dependentRequired" must be an object of arrays of property names, found an object',
        "/dependentRequired",
        None,
    ),
    (
        {"dependentSchemas": []},
        '"dependentSchemas" must be an object of schemas, found an array',
        "/dependentSchemas",
        None,
    ),
    (
        {"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": [1]}},
        '"dependencies" must be an object of schemas or of arrays of property names,'
        " found an array",
        "/dependencies",
        None,
    ),
    ({"format": 3}, '"format" must be a string, found 3', "/format", None),
    ({"pattern": 1}, '"pattern" must be a string, found 1', "/pattern", None),
    ({"$ref": 1}, '"$ref" must be a string, found 1', "/$ref", None),
    ({"$schema": 1}, "$schema is a URI, found 1", "/$schema", None),
    (
        {"$defs": {"item": {}}, "items": {"$ref": "#/$defs/itme"}},
        '$ref "#/$defs/itme" points at nothing',
        "/items/$ref",
        'did you mean "#/$defs/item"?',
    ),
    (
        {"$ref": "#/$defs/Missing"},
        '$ref "#/$defs/Missing" points at nothing',
        "/$ref",
        'add "$defs" at #',
    ),
    (None, "a schema is an object, true or false, found null", "", None),
    ([], "a schema is an object, true or false, found an array", "", None),
]


@pytest.mark.parametrize(("schema", "fact", "pointer", "mend"), MALFORMED)
def test_a_malformed_schema(schema: Any, fact: str | None, pointer: str, mend: str | None) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema)
    assert caught.value.pointer == pointer
    assert caught.value.mend
    if fact is not None:
        assert caught.value.fact == fact
    if mend is not None:
        assert caught.value.mend == mend


def test_a_pattern_that_is_no_regular_expression() -> None:
    with pytest.raises(
        SchemaError, match=r'the pattern "\[a" is not a regular expression'
    ) as caught:
        compile_schema(required({"type": "string", "pattern": "[a"}))
    assert caught.value.pointer == "/properties/a/pattern"


def test_an_unsupported_keyword() -> None:
    assert message(required({"not": {"uniqueItems": True}}), UnsupportedError) == (
        '"not" needs what does not fit /properties/a/not/uniqueItems, and that cannot be compiled'
        " (scope: docs/json-schema.md)\n"
        "  at /properties/a/not\n"
        '  mend: take it out, or compile with unsupported="ignore" to go without it'
    )


def test_a_union_that_is_too_large() -> None:
    branches = [{"anyOf": [{"required": [f"a{k}"]}, {"required": [f"b{k}"]}]} for k in range(20)]
    assert message(required({"type": "object", "allOf": branches}), UnsupportedError) == (
        '"anyOf" leads to too many alternatives: it combines 1024 alternatives with 2'
        " (scope: docs/json-schema.md)\n"
        "  at /properties/a/allOf/10/anyOf\n"
        '  mend: take it out, or compile with unsupported="ignore" to go without it'
    )


def test_a_complement_that_cannot_be_said() -> None:
    unique = {"type": "object", "properties": {"b": {"uniqueItems": True}}}
    assert message(required({"oneOf": [unique, {"type": "object"}]}), UnsupportedError) == (
        'what does not fit "uniqueItems" is needed, and that cannot be compiled'
        " (scope: docs/json-schema.md)\n"
        "  at /properties/a/oneOf/0/properties/b/uniqueItems\n"
        '  mend: take it out, or compile with unsupported="ignore" to go without it'
    )


def test_schema_text_that_is_not_json() -> None:
    assert message('{"type": }') == (
        "the schema is not JSON: Expecting value in line 1, column 10\n"
        "  at the top of the schema\n"
        "  mend: mend the text there; a dict is taken too"
    )
    assert message(b'{"type": "\xff"}').startswith("the schema is not JSON: byte 10 is not UTF-8")
    assert message('{"minimum": NaN}').startswith("the schema is not JSON: there is no NaN")


def test_a_limit() -> None:
    assert message({"minLength": 10**12}, LimitError) == (
        '"minLength" at /minLength: over the limit of 1000000000 units\n'
        "  mend: make the input smaller"
    )
