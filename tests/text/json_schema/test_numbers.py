"""Bounds of numbers, by value."""

from __future__ import annotations

import itertools
import random
import re
from decimal import Decimal
from typing import Any

import pytest

from guided._core import Arena
from guided.text.json_schema.document import Subschema
from guided.text.json_schema.numbers import least_integer, number_between
from guided.text.json_schema.shapes import Bound, NumberShape
from tests.text.json_schema.matching import check, language, matches

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
TEXTS = [
    "".join(characters)
    for length in range(1, 6)
    for characters in itertools.product("-.0129", repeat=length)
    if NUMBER.fullmatch("".join(characters))
]
TEXTS += ["10", "99.5", "123.456", "0.050", "-0.000", "1000.00", "-5.5", "0.01010", "19.899999"]
VALUES = "0 1 2 9 10 12 0.1 0.5 1.2 0.02 19.9 99 100 2.10 -1 -2 -0.1 -12 -1.9 -100 -20.01 0.0101 29"


def _is_within(shape: NumberShape, text: str) -> bool:
    """Say by plain comparison what the automaton should say of a text without an exponent."""
    value = Decimal(text)
    if shape.low and (value < shape.low.value or (shape.low.is_open and value == shape.low.value)):
        return False
    if shape.high and (
        value > shape.high.value or (shape.high.is_open and value == shape.high.value)
    ):
        return False
    if shape.is_integer and not re.fullmatch(r"-?[0-9]+(\.0)?", text):
        return False
    if value == 0 and text[0] == "-" and shape.low is not None:
        return least_integer(shape.low) < 0 if shape.is_integer else shape.low.value < 0
    return True


@pytest.mark.parametrize("seed", range(4))
def test_a_number_is_let_through_if_its_value_is_within_the_bounds(seed: int) -> None:
    draw = random.Random(seed)
    root = Subschema({}, None, ())
    arena = Arena()
    for _ in range(60):
        low, high = (
            Bound(Decimal(draw.choice(VALUES.split())), draw.random() < 0.5, root, "bound")
            if draw.random() < 0.8
            else None
            for _ in range(2)
        )
        shape = NumberShape(draw.random() < 0.4, low, high)
        if low is None and high is None:
            continue
        node = number_between(arena, shape)
        for text in draw.sample(TEXTS, 150):
            assert arena.matches(node, text) is _is_within(shape, text), (shape, text)


@pytest.mark.parametrize(
    ("bounds", "accept", "reject"),
    [
        ({"minimum": 3}, ["3", "10", "29", "299", "3.0"], ["2", "-5", "0", "03", "2.0"]),
        (
            {"minimum": 0, "maximum": 255},
            ["0", "9", "99", "199", "255"],
            ["256", "300", "-1", "1000"],
        ),
        ({"exclusiveMinimum": 3, "exclusiveMaximum": 5}, ["4"], ["3", "5"]),
        ({"minimum": 1.5, "maximum": 3.5}, ["2", "3"], ["1", "4"]),
        ({"minimum": -12, "maximum": -3}, ["-12", "-3", "-7"], ["-2", "-13", "3", "0"]),
        ({"minimum": -1, "maximum": 1}, ["-1", "0", "1"], ["2", "-2"]),
        (
            {"minimum": 2**64, "maximum": 2**64 + 1},
            ["18446744073709551616", "18446744073709551617"],
            ["18446744073709551615", "18446744073709551618", "1844674407370955161"],
        ),
        ({"minimum": -(10**40)}, ["-1" + "0" * 40, "7"], ["-1" + "0" * 39 + "1" + "0"]),
        ({"minimum": 3, "exclusiveMinimum": 3}, ["4"], ["3"]),
    ],
)
def test_integer_bounds(bounds: dict[str, Any], accept: list[str], reject: list[str]) -> None:
    check({"type": "integer", **bounds}, accept, reject)


@pytest.mark.parametrize(
    ("bounds", "accept", "reject"),
    [
        (
            {"minimum": -0.5, "maximum": 0.5},
            ["0", "-0.25", "0.5", "-0.5", "0.499", "-0"],
            ["0.6", "-0.51", "1"],
        ),
        (
            {"exclusiveMinimum": 0, "exclusiveMaximum": 1},
            ["0.5", "0.001"],
            ["0", "1", "0.0", "1.0", "-0.1"],
        ),
        (
            {"minimum": 0.1},
            ["0.1", "0.10", "1", "99.9"],
            ["0.09", "0", "-1", "0.0999999999999999999"],
        ),
        (
            {"maximum": 2.5},
            ["2.5", "2.50", "-1000", "2.49"],
            ["2.51", "2.5000000000000000000001", "3"],
        ),
        ({"minimum": 1e-9, "maximum": 2e-9}, ["0.0000000015"], ["0.000000003", "0"]),
        ({"minimum": 0}, ["0", "1e5", "0.5e-3", "12"], ["-1", "-0.5", "-1e5"]),
        ({"exclusiveMinimum": 0}, ["1e-9", "0.1", "3"], ["0", "0.0", "0e5", "-1"]),
        ({"maximum": 0}, ["0", "-1", "-1e5", "0.00"], ["1", "1e-9", "0.1"]),
        ({"exclusiveMaximum": 0}, ["-1e-9", "-3"], ["0", "-0.0", "1"]),
    ],
)
def test_number_bounds(bounds: dict[str, Any], accept: list[str], reject: list[str]) -> None:
    check({"type": "number", **bounds}, accept, reject)


def test_a_bound_in_json_text_is_the_decimal_written() -> None:
    bound = "0.1000000000000000000000000000000001"
    compiled = language(f'{{"type": "number", "maximum": {bound}}}')
    assert compiled.matches(bound)
    assert not compiled.matches(bound + "1")


def test_a_minus_sign_is_not_offered_where_only_zero_could_follow() -> None:
    assert not language({"type": "integer", "minimum": 0}).has_prefix("-")
    assert not language({"type": "number", "minimum": 0}).has_prefix("-")
    assert not language({"type": "integer", "exclusiveMinimum": -1}).has_prefix("-")


def test_integers_may_end_in_point_zero() -> None:
    check({"type": "integer"}, ["1", "-0", "12.0", str(10**50)], ["1.5", "01", "-", "1.", "1.05"])


@pytest.mark.parametrize("draft", ["draft-04", "draft-07"])
def test_exclusive_bounds_are_flags_in_draft_4_only(draft: str) -> None:
    schema = {"$schema": f"http://json-schema.org/{draft}/schema#", "type": "integer", "minimum": 0}
    if draft == "draft-04":
        assert matches({**schema, "exclusiveMinimum": True}, "1")
        assert not matches({**schema, "exclusiveMinimum": True}, "0")
        assert matches({**schema, "exclusiveMinimum": False}, "0")
    else:
        assert not matches({**schema, "exclusiveMinimum": 0}, "0")
