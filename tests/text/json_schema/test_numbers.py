"""Bounds of numbers, by value."""

from __future__ import annotations

import itertools
import json
import random
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from guided._core import Arena
from guided.text.json_schema.numbers.sets import End, NumberSet
from guided.text.json_schema.numbers.spelling import least_integer, number_between
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


def _is_within(is_integer: bool, low: End | None, high: End | None, text: str) -> bool:
    """Say by plain comparison what the automaton should say of a text without an exponent."""
    value = Fraction(text)
    if value not in NumberSet(None, low, high):
        return False
    if is_integer and not re.fullmatch(r"-?[0-9]+(\.0)?", text):
        return False
    if value == 0 and text[0] == "-" and low is not None:
        return least_integer(low) < 0 if is_integer else low.value < 0
    return True


@pytest.mark.parametrize("seed", range(4))
def test_a_number_is_let_through_if_its_value_is_within_the_bounds(seed: int) -> None:
    draw = random.Random(seed)
    arena = Arena()
    for _ in range(60):
        low, high = _draw_end(draw), _draw_end(draw)
        is_integer = draw.random() < 0.4
        node = number_between(arena, is_integer, low, high)
        for text in draw.sample(TEXTS, 150):
            expected = _is_within(is_integer, low, high, text)
            assert arena.matches(node, text) is expected, (is_integer, low, high, text)


MANTISSAS = "1 9 1.0 1.2 2.10 2.1 2.5 9.9 1.01 1.99 1.990"
EXPONENTS = "-20 -7 -07 -5 -02 -1 3 +03 4 20 +19"


@pytest.mark.parametrize("seed", range(4))
def test_an_exponent_may_stand_behind_a_number_within_the_bounds(seed: int) -> None:
    draw = random.Random(seed)
    arena = Arena()
    for _ in range(60):
        low, high = _draw_end(draw), _draw_end(draw)
        if low is None or high is None or 0 in (low.value, high.value):
            continue
        numbers = NumberSet(None, low, high)
        node = number_between(arena, False, low, high)
        for mantissa, exponent in itertools.product(MANTISSAS.split(), EXPONENTS.split()):
            for text in (f"{mantissa}e{exponent}", f"-{mantissa}E{exponent}"):
                before = Fraction(re.split("[eE]", text)[0])
                expected = before in numbers and Fraction(text) in numbers
                assert arena.matches(node, text) is expected, (low, high, text)


def _draw_end(draw: random.Random) -> End | None:
    if draw.random() < 0.2:
        return None
    return End(Fraction(Decimal(draw.choice(VALUES.split()))), draw.random() < 0.5)


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


@pytest.mark.parametrize("value", [1e-7, 3.5e-5, 1e16, 2.5e20, 0.1, 5e-324, 1.7e308, 123456.75])
def test_what_json_dumps_writes_is_let_through(value: float) -> None:
    for schema in (
        {},
        {"minimum": 0},
        {"exclusiveMinimum": 0},
        {"minimum": -1},
        {"minimum": 0, "maximum": 1.7e308},
        {"not": {"const": 3}},
        {"const": value},
        {"enum": [value, 5]},
    ):
        assert matches({"type": "number", **schema}, json.dumps(value)), schema


def test_a_digit_above_the_maximum_is_not_offered_for_the_sake_of_an_exponent() -> None:
    compiled = language({"type": "number", "minimum": 0, "maximum": 5})
    assert compiled.matches("2.5e-07")
    assert compiled.matches("0.0000009")
    assert not compiled.has_prefix("9")


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
