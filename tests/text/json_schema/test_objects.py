"""Objects: declared, required and additional properties."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from tests.text.json_schema.matching import check, is_valid, language, matches

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "tags": {"type": "array"},
    },
    "required": ["age"],
}


def test_declared_properties_come_in_the_order_of_the_schema() -> None:
    check(
        PERSON,
        ['{"name":"x","age":1,"tags":[]}', '{"age":1}', '{"age":1,"tags":[1]}'],
        ['{"name":"x"}', "{}"],
    )
    compiled = language(PERSON)
    assert not compiled.matches('{"age":1,"name":"x"}')
    assert not compiled.matches('{"tags":[],"age":1}')


@pytest.mark.parametrize("additional", [True, False, {"type": "null"}])
@pytest.mark.parametrize("required", list(itertools.product([True, False], repeat=3)))
def test_every_choice_of_properties_is_judged_as_jsonschema_does(
    additional: Any, required: tuple[bool, ...]
) -> None:
    names = ["a", "b", "c"]
    schema = {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in names},
        "required": [
            name for name, is_required in zip(names, required, strict=True) if is_required
        ],
        "additionalProperties": additional,
    }
    compiled = language(schema)
    for present in itertools.product([True, False], repeat=3):
        declared = {name: 1 for name, is_present in zip(names, present, strict=True) if is_present}
        for extra in ({}, {"x": None}, {"x": 1, "y": None}, {"aa": None, "": None}):
            text = json.dumps({**declared, **extra})
            assert compiled.matches(text) is is_valid(schema, text), text


def test_additional_keys_exclude_declared_ones_in_every_spelling() -> None:
    schema = {"type": "object", "properties": {"ab": {"type": "integer"}, 'é"': {"type": "null"}}}
    accept = [
        '{"a":"x"}',
        '{"abc":"x"}',
        '{"":"x"}',
        '{"\\u0061":"x"}',
        '{"é":"x"}',
        '{"ab":1,"b":"x"}',
    ]
    reject = ['{"ab":"x"}', '{"\\u0061b":"x"}', '{"a\\u0062":"x"}', '{"\\u0061\\u0062":"x"}']
    reject += ['{"é\\"":"x"}', '{"\\u00E9\\u0022":"x"}']
    check(schema, accept, reject, escapes="any")
    check(schema, [text for text in accept if "\\u0061" not in text], reject)


def test_keys_are_spelled_with_the_escapes_they_need() -> None:
    schema = {
        "properties": {'a"\\\n': {"const": 1}, "é": {"const": 2}},
        "additionalProperties": False,
    }
    check(
        schema, ['{"a\\"\\\\\\n":1}', '{"é":2}', '{"\\u00e9":2}'], ['{"a":1}', '{"a\\"\\\\\\n":2}']
    )


def test_required_properties_need_not_be_declared() -> None:
    check(
        {"type": "object", "required": ["x", "y"], "additionalProperties": {"type": "integer"}},
        ['{"x":1,"y":2}', '{"x":1,"y":2,"z":3}'],
        ['{"x":1}', '{"x":1,"y":"a"}', '{"z":1}', "{}"],
    )
    check({"required": ["x"], "properties": {"a": {}}}, ['{"a":1,"x":[]}', '{"x":1}'], ['{"a":1}'])


def test_a_declared_property_is_not_written_twice() -> None:
    schema = {**PERSON, "additionalProperties": {}}
    for text in (
        '{"age":1,"age":2}',
        '{"name":"x","name":"y","age":1}',
        '{"age":1,"tags":[],"age":1}',
    ):
        assert not matches(schema, text)


def test_objects_within_objects() -> None:
    schema = {
        "type": "object",
        "properties": {"p": {"type": "object", "properties": {"q": PERSON}, "required": ["q"]}},
        "required": ["p"],
        "additionalProperties": False,
    }
    check(
        schema,
        ['{"p":{"q":{"age":1}}}', '{"p":{"q":{"age":1},"r":2}}'],
        ['{"p":{}}', '{"p":{"q":{}}}'],
    )


def test_many_optional_properties() -> None:
    names = [f"p{index:03}" for index in range(500)]
    schema = {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in names},
        "additionalProperties": False,
    }
    compiled = language(schema)
    assert len(compiled.compiled.arena) < 12_000
    assert compiled.matches("{}")
    assert compiled.matches('{"p000":1,"p499":2}')
    assert not compiled.matches('{"p499":1,"p000":2}')
    assert not compiled.matches('{"p500":1}')
