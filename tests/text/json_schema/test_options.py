"""What goes in and what comes out beside the nodes."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any, Literal

import pydantic
import pytest

from guided.errors import SchemaError, UnsupportedError
from guided.text.json_schema import compile_schema
from tests.text.json_schema.matching import ACCEPT, REJECT, language, matches

REFUSED: list[tuple[str, Any]] = [
    ("oneOf", [{}, {}]),
    ("not", {"type": "null"}),
    ("patternProperties", {"a": {}}),
    ("propertyNames", {}),
    ("minProperties", 1),
    ("maxProperties", 1),
    ("dependentRequired", {}),
    ("dependentSchemas", {}),
    ("dependencies", {}),
    ("unevaluatedProperties", False),
    ("unevaluatedItems", False),
    ("contains", {}),
    ("uniqueItems", True),
    ("multipleOf", 2),
    ("format", "date"),
    ("$dynamicRef", "#a"),
]


@pytest.mark.parametrize(("keyword", "value"), REFUSED)
def test_a_keyword_is_refused_or_listed(keyword: str, value: Any) -> None:
    schema = {"properties": {"a/b": {"type": "integer", keyword: value}}}
    with pytest.raises(UnsupportedError) as caught:
        compile_schema(schema)
    assert caught.value.keyword == keyword
    assert caught.value.place == f"at /properties/a~1b/{keyword}"
    lenient = language(schema, unsupported="ignore")
    assert lenient.compiled.not_enforced == [f"/properties/a~1b/{keyword}"]
    assert lenient.matches('{"a/b":1}')
    assert not lenient.matches('{"a/b":null}')


def test_conditions_are_refused_only_where_they_say_something() -> None:
    telling: list[Any] = [{"if": {}, "then": {}}, {"if": {}, "else": {}}]
    for schema in telling:
        with pytest.raises(UnsupportedError, match='"if"'):
            compile_schema(schema)
    silent: list[Any] = [
        {"if": {"type": "null"}},
        {"then": False},
        {"else": False},
        {"minContains": 3},
    ]
    for schema in silent:
        compiled = compile_schema(schema)
        assert compiled.not_enforced == compiled.unknown == []
    assert compile_schema({"uniqueItems": False}).not_enforced == []


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


def test_a_schema_may_be_text() -> None:
    for schema in ('{"type": "integer"}', b'{"type": "integer"}', "true", b"{}"):
        assert matches(schema, "1")
    assert not matches('{"type": "integer"}', "null")


class Address(pydantic.BaseModel):
    street: str
    number: int | None = None


class Person(pydantic.BaseModel):
    """A person."""

    model_config = pydantic.ConfigDict(extra="forbid")

    name: str = pydantic.Field(min_length=1, max_length=5, description="first name")
    age: int = pydantic.Field(ge=0, lt=150)
    kind: Literal["a", "b"] = "a"
    homes: list[Address] = []
    parent: Person | None = None
    scores: dict[str, float] = {}


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        ({"name": "Ada", "age": 36}, ACCEPT),
        (
            {"name": "Ada", "age": 36, "kind": "b", "homes": [{"street": "x", "number": None}]},
            ACCEPT,
        ),
        (
            {"name": "Ada", "age": 36, "parent": {"name": "B", "age": 0}, "scores": {"x": 1.5}},
            ACCEPT,
        ),
        ({"name": "", "age": 36}, REJECT),
        ({"name": "Ada", "age": 150}, REJECT),
        ({"name": "Ada", "age": 1, "kind": "c"}, REJECT),
        ({"name": "Ada", "age": 1, "homes": [{"number": 1}]}, REJECT),
        ({"name": "Ada", "age": 1, "parent": {"name": "B"}}, REJECT),
        ({"name": "Ada", "age": 1, "x": 1}, REJECT),
    ],
)
def test_a_schema_may_be_a_pydantic_class(value: Any, verdict: bool) -> None:
    assert matches(Person, json.dumps(value)) is verdict
    try:
        Person.model_validate(value)
    except pydantic.ValidationError:
        assert verdict is REJECT
    else:
        assert verdict is ACCEPT


@pytest.mark.parametrize(
    "options", [{"whitespace": "loose"}, {"whitespace": True}, {"whitespace": 17}]
)
def test_wrong_options_are_named(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="whitespace must be"):
        compile_schema({}, **options)
    with pytest.raises(ValueError, match="unsupported must be"):
        compile_schema({}, unsupported="drop")  # type: ignore[arg-type]


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


@pytest.mark.parametrize("schema", [list[int], int, Person(name="a", age=1), object()])
def test_what_is_no_json_is_refused_with_the_way_to_it(schema: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema)
    assert "pydantic.TypeAdapter(type).json_schema()" in str(caught.value)
