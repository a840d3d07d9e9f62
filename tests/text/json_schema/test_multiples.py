"""multipleOf, and numbers that must not fit something, by value."""

from __future__ import annotations

import json
from typing import Any

import pytest

from guided.errors import SchemaError, UnsupportedError
from guided.text.json_schema import compile_schema
from tests.text.json_schema.matching import check, language, matches


@pytest.mark.parametrize(
    ("schema", "accept", "reject"),
    [
        ({"multipleOf": 2}, ["0", "4", "-6", "8.0", "1000"], ["1", "-3", "0.2", "7.0", "2.5"]),
        ({"multipleOf": 1.5}, ["0", "4.5", "-1.5", "3.0", "3"], ["2", "35", "1.25", "0.15"]),
        ({"multipleOf": 0.01}, ["4.35", "19.9", "-0.01", "7", "7.00"], ["4.355", "0.001"]),
        ({"multipleOf": 0.0001}, ["0.0075", "12"], ["0.00751"]),
        ({"multipleOf": 0.25, "minimum": 0}, ["0", "1.25", "0.5"], ["1.2", "-0.25", "1.255"]),
        ({"multipleOf": 1000000}, ["0", "7000000"], ["700000", "7000001", "1"]),
        ({"multipleOf": 7, "minimum": 10, "maximum": 30}, ["14", "28"], ["7", "35", "15"]),
        ({"multipleOf": 3, "maximum": -4}, ["-6", "-300"], ["-3", "-4", "0", "6"]),
        ({"allOf": [{"multipleOf": 4}, {"multipleOf": 6}]}, ["12", "0", "-24"], ["4", "6", "18"]),
        ({"allOf": [{"multipleOf": 0.4}, {"multipleOf": 1.5}]}, ["6", "-18"], ["0.4", "3"]),
        ({"multipleOf": 65536, "minimum": 1}, ["65536", "196608"], ["0", "65537", "32768"]),
        ({"multipleOf": 1e308}, ["0", "3" + "0" * 308], ["3" + "0" * 307, "1"]),
    ],
)
@pytest.mark.parametrize("kind", ["number", "integer"])
def test_multiples_are_exact(
    kind: str, schema: dict[str, Any], accept: list[str], reject: list[str]
) -> None:
    if kind == "integer":
        accept = [text for text in accept if "." not in text or text.endswith(".0")]
    check({"type": kind, **schema}, accept, reject)


@pytest.mark.parametrize(
    ("schema", "accept", "reject"),
    [
        (
            {"not": {"const": 5}},
            ["4", "5.1", "50", "5e-07", "-5", "55"],
            ["5", "5.0", "5.00", "5.000"],
        ),
        ({"not": {"type": "integer"}}, ["0.5", "-3.25", "1e-07"], ["1", "1.0", "-2.00", "0"]),
        ({"not": {"multipleOf": 3}}, ["1", "2.5", "3.1", "-4"], ["3", "3.0", "-9", "0"]),
        ({"not": {"minimum": 3}}, ["2.99", "-7", "1e-07"], ["3", "3.0", "70"]),
        (
            {"not": {"minimum": 3, "maximum": 5}},
            ["2.99", "5.01", "-4", "40"],
            ["3", "4.999", "5.0"],
        ),
        (
            {"minimum": 0, "maximum": 10, "not": {"enum": [0, 2.5, 10]}},
            ["0.1", "2.51", "9.99"],
            ["0", "0.0", "2.5", "2.50", "10", "10.0", "-1", "11"],
        ),
        (
            {"multipleOf": 2, "not": {"multipleOf": 4}},
            ["2", "-6", "10.0"],
            ["4", "0", "-8", "3", "2.5"],
        ),
        (
            {"oneOf": [{"multipleOf": 3}, {"multipleOf": 5}]},
            ["3", "5", "-9", "10.0"],
            ["15", "0", "-30", "1", "0.3"],
        ),
        ({"not": {"not": {"multipleOf": 3, "minimum": 4}}}, ["6", "9"], ["3", "7", "-6"]),
    ],
)
def test_exclusions_hold_for_every_spelling(
    schema: dict[str, Any], accept: list[str], reject: list[str]
) -> None:
    check({"type": "number", **schema}, accept, reject)


def test_listed_numbers_are_judged_by_value() -> None:
    schema = {"enum": [1, 2.5, 3, 4.0, 7.5, 1e20], "multipleOf": 0.5, "not": {"const": 3}}
    check(schema, ["1", "1.0", "2.5", "4", "7.5", "1e+20"], ["3", "3.0", "5"])


def test_a_multiple_has_no_more_decimals_than_the_step() -> None:
    compiled = language({"type": "number", "multipleOf": 0.01})
    assert compiled.matches("1.50")
    assert not compiled.has_prefix("1.500")


def test_a_minus_sign_needs_a_negative_multiple() -> None:
    assert not language({"multipleOf": 5, "type": "number", "minimum": -4}).has_prefix("-")
    assert matches({"multipleOf": 5, "type": "number", "minimum": -5}, "-0")


@pytest.mark.parametrize(
    ("schema", "fact", "pointer"),
    [
        (
            {"type": "integer", "minimum": 1, "maximum": 4, "multipleOf": 5},
            "no integer can be at least 1, at most 4 and a multiple of 5",
            "/minimum",
        ),
        (
            {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.25, "multipleOf": 0.25},
            "no number can be more than 0, less than 0.25 and a multiple of 0.25",
            "/exclusiveMinimum",
        ),
        (
            {"type": "integer", "minimum": 1, "maximum": 2, "not": {"enum": [1, 2.0]}},
            "no integer can be at least 1, at most 2 and none of those excluded",
            "/minimum",
        ),
        (
            {"type": "integer", "multipleOf": 4, "not": {"multipleOf": 2}},
            "no integer can be a multiple of 4 and none of those excluded",
            "/multipleOf",
        ),
        (
            {"type": "integer", "not": {"multipleOf": 0.5}},
            "no integer can be none of those excluded",
            "/not/multipleOf",
        ),
    ],
)
def test_a_contradiction_is_named(schema: Any, fact: str, pointer: str) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema)
    assert (caught.value.fact, caught.value.pointer) == (fact, pointer)


TOO_LARGE = {"properties": {"a": {"type": "integer", "multipleOf": 123456789}}}


def test_a_step_with_too_many_remainders_is_refused() -> None:
    with pytest.raises(UnsupportedError) as caught:
        compile_schema(TOO_LARGE)
    assert caught.value.keyword == "multipleOf"
    assert str(caught.value).splitlines()[:2] == [
        "multipleOf 123456789 is not supported here: its automaton has more than 30,000 states"
        " (scope: docs/json-schema.md)",
        "  at /properties/a/multipleOf",
    ]


def test_a_step_with_too_many_remainders_is_listed_if_lenient() -> None:
    compiled = language(TOO_LARGE, unsupported="ignore")
    assert compiled.matches(json.dumps({"a": 1}))
    assert list(compiled.compiled.not_enforced) == ["/properties/a/multipleOf"]


def test_an_exclusion_that_is_too_large_is_left_out_as_a_whole() -> None:
    schema = {"type": "integer", "not": {"multipleOf": 123456789, "minimum": 3}}
    compiled = language(schema, unsupported="ignore")
    assert compiled.matches("123456789")
    assert list(compiled.compiled.not_enforced) == ["/not/multipleOf"]
