"""Schemas: all errors in one go, and what becomes of each keyword."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from guided import Grammar, GrammarError, GuidedError
from guided.text.checks.schema import check_schema
from guided.text.checks.schema_text import read_schema


def errors(schema: Any, **options: Any) -> list[tuple[str | None, str]]:
    found = check_schema(schema, **options).findings
    return [(each.pointer, each.fact) for each in found if each.level == "error"]


def test_all_errors_of_a_schema_are_told() -> None:
    schema = {
        "properties": {
            "a": {"type": "strin"},
            "b": {"$ref": "#/$defs/nope"},
            "c": 5,
            "d": {"minLength": -1},
        }
    }
    assert [pointer for pointer, _ in errors(schema)] == [
        "/properties/a/type",
        "/properties/b/$ref",
        "/properties/c",
        "/properties/d/minLength",
    ]


def test_the_schema_given_is_not_changed() -> None:
    schema = {"properties": {"a": {"type": "strin"}}}
    before = json.dumps(schema)
    check_schema(schema)
    assert json.dumps(schema) == before


def test_a_schema_that_is_none_is_one_error() -> None:
    assert errors(3) == [("", "a schema is an object, true or false, found 3")]


def test_what_cannot_be_enforced_is_an_error_each_time() -> None:
    schema = {"properties": {name: {"type": "array", "uniqueItems": True} for name in "ab"}}
    assert [pointer for pointer, _ in errors(schema)] == [
        "/properties/a/uniqueItems",
        "/properties/b/uniqueItems",
    ]


def test_leniently_it_is_a_warning() -> None:
    schema = {"type": "array", "uniqueItems": True}
    assert errors(schema, lenient=True) == []
    assert [each.level for each in check_schema(schema, lenient=True).findings] == ["warning"]


def test_each_keyword_is_sorted_by_what_becomes_of_it() -> None:
    schema = {
        "title": "T",
        "type": "object",
        "properties": {"a": {"type": "array", "uniqueItems": True}, "title": {"const": 1}},
        "maxLenght": 3,
    }
    assert check_schema(schema).keywords == {
        "enforced": [
            "/type",
            "/properties",
            "/properties/a/type",
            "/properties/title/const",
        ],
        "annotation": ["/title"],
        "unknown": ["/maxLenght"],
        "not supported": ["/properties/a/uniqueItems"],
    }


def test_what_looks_like_a_keyword_in_a_value_is_none() -> None:
    schema = {"const": {"type": "string"}, "default": {"maxLength": 1}}
    assert check_schema(schema).keywords == {"enforced": ["/const"], "annotation": ["/default"]}


def test_an_unknown_keyword_is_a_warning_with_the_nearest_one() -> None:
    (finding,) = check_schema({"maxLenght": 3}).findings
    assert finding.level == "warning"
    assert finding.fact == 'the keyword "maxLenght" is not in the standard, and says nothing'
    assert finding.mend == 'did you mean "maxLength"?'


def test_a_definition_that_is_never_referred_to_is_a_warning() -> None:
    schema = {"$ref": "#/$defs/used", "$defs": {"used": {"type": "null"}, "spare": True}}
    (finding,) = check_schema(schema).findings
    assert (finding.pointer, finding.fact) == ("/$defs/spare", '"spare" is never referred to')


def test_a_text_that_is_no_json_has_a_place() -> None:
    with pytest.raises(GrammarError) as caught:
        read_schema('{\n  "type" "string"\n}')
    assert str(caught.value) == (
        "the schema is not JSON: expecting ':' delimiter\n"
        "  line 2, column 10\n"
        '    2 |   "type" "string"\n'
        "      |          ^\n"
        "  mend: mend the text there"
    )


def test_a_key_that_stands_twice_is_a_warning() -> None:
    _, findings = read_schema('{"type": "string", "type": "null"}')
    assert [each.fact for each in findings] == [
        'the key "type" stands twice in one object, and the last one counts'
    ]


def test_a_check_finds_errors_where_the_compiler_does(corpora: Path) -> None:
    # Not `splitlines`: strings in it hold what that takes for the end of a line.
    text = (corpora / "jsts-draft2020-12.jsonl").read_text(encoding="utf-8")
    for line in text.strip().split("\n"):
        group = json.loads(line)
        if group["remotes"] or group["metaschema_refs"]:
            continue
        try:
            Grammar.from_json_schema(group["schema"])
        except GuidedError:
            assert errors(group["schema"]), group["group"]
        else:
            assert not errors(group["schema"]), group["group"]


@pytest.mark.parametrize(
    ("schema", "pointer", "fact"),
    [
        (
            {"properties": {"tags": {"type": "array", "minItems": 4, "maxItems": 2}}},
            "/properties/tags/minItems",
            'the property "tags" is never written: no array can have at least 4 and at most 2'
            " items",
        ),
        (
            {"type": "array", "items": {"type": "string", "minLength": 3, "maxLength": 1}},
            "/items/minLength",
            "no item is written: no string can have at least 3 and at most 1 characters",
        ),
        (
            {"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 5, "maximum": 4}]},
            "/anyOf/1/minimum",
            "alternative 1 is never taken: no integer can be at least 5 and at most 4",
        ),
    ],
)
def test_a_part_that_nothing_fits_is_a_warning(schema: Any, pointer: str, fact: str) -> None:
    (finding,) = check_schema(schema).findings
    assert (finding.level, finding.code) == ("warning", "unsatisfiable")
    assert (finding.pointer, finding.fact) == (pointer, fact)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": False, "b": {"not": {}}}, "additionalProperties": False},
        {"not": {"type": "string", "minLength": 3, "maxLength": 1}},
        {"properties": {"a": {"$ref": "#"}}},
    ],
)
def test_what_is_false_on_purpose_is_none(schema: Any) -> None:
    assert check_schema(schema).findings == []


def test_a_keyword_of_somebody_else_is_a_note() -> None:
    (finding,) = check_schema({"x-order": 3}).findings
    assert (finding.level, finding.mend) == ("note", None)
