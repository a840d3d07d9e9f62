"""What goes in and what comes out beside the nodes."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from guided.errors import SchemaError, UnsupportedError
from guided.text.json_schema import compile_schema
from tests.text.json_schema.matching import ACCEPT, REJECT, language, matches

TWICE = {"properties": {"a/b": {"type": "string", "pattern": "^(.*) \\1$"}}}
PAIR = {
    "type": "object",
    "properties": {"a": {"const": "x"}, "é": {"type": "integer"}},
    "required": ["a", "é"],
    "additionalProperties": False,
}


def test_what_cannot_be_enforced_is_refused_or_listed() -> None:
    with pytest.raises(UnsupportedError) as caught:
        compile_schema(TWICE)
    assert caught.value.keyword == "pattern"
    assert caught.value.place == "at /properties/a~1b/pattern"
    assert caught.value.page == "docs/json-schema.md"
    lenient = language(TWICE, unsupported="ignore")
    assert lenient.compiled.not_enforced == ["/properties/a~1b/pattern"]
    assert lenient.matches('{"a/b":"red"}')
    assert not lenient.matches('{"a/b":1}')


def test_keywords_that_say_nothing_by_themselves_are_not_listed() -> None:
    silent: list[Any] = [
        {"if": {"type": "null"}},
        {"then": False},
        {"else": False},
        {"minContains": 3},
        {"maxContains": 3},
        {"uniqueItems": False},
        {"format": "date", "type": "integer"},
    ]
    for schema in silent:
        compiled = compile_schema(schema)
        assert compiled.not_enforced == compiled.unknown == []


def test_a_foreign_dialect_is_refused() -> None:
    schema = {"$schema": "https://example.org/my-schema", "type": "null"}
    with pytest.raises(UnsupportedError, match="dialect"):
        compile_schema(schema)
    assert compile_schema(schema, unsupported="ignore").not_enforced == ["/$schema"]
    compile_schema({"$schema": "http://json-schema.org/schema#", "type": "null"})


def test_unknown_keywords_are_listed() -> None:
    schema = {"x-order": 1, "items": {"minimun": 1, "nullable": True, "title": "t"}, "default": []}
    compiled = compile_schema(schema)
    assert compiled.unknown == ["/x-order", "/items/minimun", "/items/nullable"]
    assert compiled.not_enforced == []


@pytest.mark.parametrize(
    ("option", "text", "verdict"),
    [
        ("flexible", '{"a":"x","é":1}', ACCEPT),
        ("flexible", '{ "a"\n:\t"x" , "é" : 1 }', ACCEPT),
        ("flexible", '{"a":' + " " * 41 + '"x","é":1}', REJECT),
        ("compact", '{"a":"x","é":1}', ACCEPT),
        ("compact", '{"a": "x","é":1}', REJECT),
        (2, '{\n  "a": "x",\n  "é": 1\n}', ACCEPT),
        (2, '{"a": "x", "é": 1}', REJECT),
        (0, '{\n"a": "x",\n"é": 1\n}', ACCEPT),
        (" ?", '{"a": "x" ,"é":1}', ACCEPT),
        (" ?", '{"a":  "x","é":1}', REJECT),
        ("", '{"a":"x","é":1}', ACCEPT),
        ("", '{"a": "x","é":1}', REJECT),
    ],
)
def test_white_space_is_what_the_option_says(option: Any, text: str, verdict: bool) -> None:
    assert matches(PAIR, text, whitespace=option) is verdict


@pytest.mark.parametrize(
    ("order", "text", "verdict"),
    [
        ("schema", '{"a":"x","é":1}', ACCEPT),
        ("schema", '{"é":1,"a":"x"}', REJECT),
        ("any", '{"a":"x","é":1}', ACCEPT),
        ("any", '{"é":1,"a":"x"}', ACCEPT),
        ("any", '{"é":1}', REJECT),
        ("any", '{"é":1,"a":"x","é":1}', REJECT),
    ],
)
def test_properties_come_in_the_order_of_the_option(order: Any, text: str, verdict: bool) -> None:
    assert matches(PAIR, text, property_order=order) is verdict


@pytest.mark.parametrize(
    ("escapes", "text", "verdict"),
    [
        ("minimal", r'{"a":"x","\u00e9":1}', ACCEPT),
        ("minimal", r'{"a":"x","\u00E9":1}', ACCEPT),
        ("minimal", r'{"a":"\u0078","é":1}', REJECT),
        ("minimal", r'{"\u0061":"x","é":1}', REJECT),
        ("any", r'{"a":"x","\u00e9":1}', ACCEPT),
        ("any", r'{"a":"\u0078","é":1}', ACCEPT),
        ("any", r'{"\u0061":"x","é":1}', ACCEPT),
        ("any", r'{"\u0062":"x","é":1}', REJECT),
    ],
)
def test_characters_are_spelled_as_the_option_says(escapes: Any, text: str, verdict: bool) -> None:
    assert matches(PAIR, text, escapes=escapes) is verdict


def test_formats_are_assertions_or_annotations() -> None:
    schema = {"type": "string", "format": "date"}
    assert matches(schema, '"2024-02-29"')
    assert not matches(schema, '"2023-02-29"')
    annotated = language(schema, formats="annotate")
    assert annotated.matches('"2023-02-29"')
    assert annotated.compiled.not_enforced == []


def test_a_format_that_nobody_defines_is_listed_as_unknown() -> None:
    schema = {"type": "string", "format": "color"}
    assert language(schema).matches('"red"')
    assert compile_schema(schema).unknown == ["/format"]
    assert compile_schema(schema, formats="annotate").unknown == []
    with pytest.raises(UnsupportedError, match="regex"):
        compile_schema({"type": "string", "format": "regex"})


def test_references_lead_into_the_registry() -> None:
    resource = DRAFT202012.create_resource({"$defs": {"n": {"type": "integer"}}})
    registry = Registry().with_resource("https://example.org/numbers", resource)
    schema = {"items": {"$ref": "https://example.org/numbers#/$defs/n"}}
    found = language(schema, registry=registry)
    assert found.matches("[1]")
    assert not found.matches('["x"]')
    with pytest.raises(UnsupportedError):
        compile_schema(schema)


def test_a_schema_may_be_text() -> None:
    for schema in ('{"type": "integer"}', b'{"type": "integer"}', "true", b"{}"):
        assert matches(schema, "1")
    assert not matches('{"type": "integer"}', "null")


@pytest.mark.parametrize("value", ["loose", True, 17, -1, 1.0, None, "[ ]*x"])
def test_white_space_that_is_none_is_named(value: Any) -> None:
    with pytest.raises(ValueError, match='whitespace must be "flexible", "compact", an indent'):
        compile_schema({}, whitespace=value)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("property_order", "sorted", 'property_order must be "schema" or "any", not \'sorted\''),
        ("escapes", "all", 'escapes must be "minimal" or "any", not \'all\''),
        ("formats", True, 'formats must be "assert" or "annotate", not True'),
        ("unsupported", "drop", 'unsupported must be "refuse" or "ignore", not \'drop\''),
        ("unsupported", ["refuse"], 'unsupported must be "refuse" or "ignore", not [\'refuse\']'),
    ],
)
def test_a_choice_that_is_none_is_named(option: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match="must be") as caught:
        compile_schema({}, **{option: value})
    assert str(caught.value) == message


def test_a_dict_is_no_registry() -> None:
    with pytest.raises(TypeError, match=r"must be a referencing\.Registry, found dict"):
        compile_schema({}, registry={"https://example.org": {}})  # type: ignore[arg-type]


def test_compiling_leaves_the_schema_and_other_schemas_alone() -> None:
    schema = {"properties": {"a": {"enum": ["x", [1]]}}, "required": ["b"]}
    before = json.dumps(schema)
    first = compile_schema(schema)
    compile_schema({"properties": {"b": {"type": "integer"}}})
    second = compile_schema(schema)
    assert json.dumps(schema) == before
    assert (first.start, len(first.arena)) == (second.start, len(second.arena))


def test_any_mapping_is_taken() -> None:
    assert matches(MappingProxyType({"type": "null"}), "null") is ACCEPT


@pytest.mark.parametrize("schema", [None, 1, [1], (1,), object()])
def test_what_is_no_schema_is_refused(schema: Any) -> None:
    with pytest.raises(SchemaError):
        compile_schema(schema)
