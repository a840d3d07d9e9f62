"""Large and hostile schemas: a clear error or a fast success."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from guided.errors import LimitError, SchemaError, UnsupportedError
from guided.text.json_schema import compile_schema
from tests.text.json_schema.matching import language


def nested(levels: int, wrap: Callable[[Any], Any], schema: Any) -> Any:
    for _ in range(levels):
        schema = wrap(schema)
    return schema


def test_deeply_nested_schemas_compile() -> None:
    arrays = language(
        nested(3000, lambda inner: {"type": "array", "items": inner}, {"type": "integer"})
    )
    assert arrays.matches("[[],[]]")
    assert not arrays.matches("[1]")
    chain = nested(500, lambda inner: {"properties": {"n": inner}, "required": ["n"]}, {"const": 1})
    objects = language({**chain, "type": "object"})
    assert objects.matches('{"n":' * 500 + "1" + "}" * 500)
    assert not objects.matches('{"n":' * 500 + "2" + "}" * 500)
    constant = nested(2000, lambda inner: [inner], 1)
    assert language({"const": constant}).matches("[" * 2000 + "1" + "]" * 2000)


def test_nesting_that_applies_to_one_value_is_bounded() -> None:
    assert language(nested(50, lambda inner: {"allOf": [inner]}, {"const": 1})).matches("1")
    with pytest.raises(LimitError, match="too many schemas apply to one value"):
        compile_schema(nested(3000, lambda inner: {"anyOf": [inner, {"type": "null"}]}, {}))


@pytest.mark.parametrize("text", ["[" * 100_000, '{"items":' * 100_000 + "{}" + "}" * 100_000])
def test_text_with_too_many_brackets_is_refused(text: str) -> None:
    with pytest.raises(LimitError, match="nested too deeply"):
        compile_schema(text)


def test_long_chains_of_references() -> None:
    plain = {f"d{index}": {"$ref": f"#/$defs/d{index + 1}"} for index in range(5000)}
    assert language({"$defs": {**plain, "d5000": {"const": 1}}, "$ref": "#/$defs/d0"}).matches("1")
    with pytest.raises(SchemaError, match="circular reference"):
        compile_schema({"$defs": {**plain, "d5000": {"$ref": "#/$defs/d0"}}, "$ref": "#/$defs/d0"})
    boxed = {
        f"d{index}": {"type": "array", "items": {"$ref": f"#/$defs/d{index + 1}"}, "minItems": 1}
        for index in range(2000)
    }
    with pytest.raises(SchemaError, match="the recursion never ends"):
        compile_schema({"$defs": {**boxed, "d2000": {"$ref": "#/$defs/d0"}}, "$ref": "#/$defs/d0"})


def test_a_schema_that_contains_itself_as_an_object() -> None:
    schema: dict[str, Any] = {"type": "object", "additionalProperties": False}
    schema["properties"] = {"a": schema}
    assert language(schema).matches('{"a":{"a":{}}}')
    schema["anyOf"] = [schema]
    with pytest.raises(SchemaError, match="circular reference"):
        compile_schema(schema)


def test_large_enums() -> None:
    words = [f"value-{index}" for index in range(20_000)]
    started = time.perf_counter()
    compiled = language({"enum": words})
    assert time.perf_counter() - started < 5
    assert compiled.matches('"value-19999"')
    assert not compiled.matches('"value-20000"')
    branches = language({"anyOf": [{"const": word} for word in words]})
    assert branches.compiled.start == compiled.compiled.start


def test_products_of_unions_are_bounded() -> None:
    pairs = [
        {"anyOf": [{"required": [f"a{index}"]}, {"required": [f"b{index}"]}], "type": "object"}
        for index in range(20)
    ]
    with pytest.raises(UnsupportedError, match="combines 1024 alternatives with 2") as caught:
        compile_schema({"allOf": pairs})
    assert caught.value.keyword == "anyOf"
    assert caught.value.place == "at /allOf/10/anyOf"
    lenient = compile_schema({"allOf": pairs}, unsupported="ignore")
    assert lenient.not_enforced == [f"/allOf/{index}/anyOf" for index in range(10, 20)]


def test_branches_that_refer_to_one_schema_do_not_double() -> None:
    leaf = {"type": "object", "properties": {"a": {"const": 1}}, "additionalProperties": False}
    same = {f"d{k}": {"anyOf": [{"$ref": f"#/$defs/d{k + 1}"}] * 2} for k in range(50)}
    compiled = language({"$defs": {**same, "d50": leaf}, "$ref": "#/$defs/d0"})
    assert compiled.compiled.start == language(leaf).compiled.start
    # What no object fits, as only "a" is allowed, and what others allow already, is struck out.
    twice = doubling(lambda level: ("a", "b"))
    compiled = language({"$defs": {**twice, "d25": leaf}, "$ref": "#/$defs/d0"})
    assert compiled.matches('{"a":1}')
    assert not compiled.matches("{}")
    grown = doubling(lambda level: (f"a{level}", f"b{level}"))
    with pytest.raises(UnsupportedError, match="too many alternatives"):
        compile_schema({"$defs": {**grown, "d25": {"type": "object"}}, "$ref": "#/$defs/d0"})
    with pytest.raises(LimitError, match="too many alternatives"):
        compile_schema({"anyOf": [{"required": [f"a{index}"]} for index in range(30_001)]})


def doubling(names: Callable[[int], tuple[str, str]]) -> dict[str, Any]:
    return {
        f"d{level}": {
            "anyOf": [{"$ref": f"#/$defs/d{level + 1}", "required": [n]} for n in names(level)]
        }
        for level in range(25)
    }


@pytest.mark.parametrize(
    "text",
    [
        '{"minimum": 1e90000}',
        '{"minimum": 1e99999999999999999999}',
        '{"const": ' + "1" * 5000 + "}",
    ],
)
def test_numbers_that_are_too_long_are_refused(text: str) -> None:
    with pytest.raises(LimitError, match="too long"):
        compile_schema(text)


def test_long_bounds_are_fine() -> None:
    low, high = "0." + "0" * 900 + "1", "0." + "3" * 900 + "9"
    schema = f'{{"type": "number", "minimum": {low}, "maximum": {high}}}'
    compiled = language(schema)
    assert compiled.matches("0.1")
    assert not compiled.matches("0." + "0" * 901 + "1")
    assert language({"type": "string", "maxLength": 10**30}).matches('"x"')
