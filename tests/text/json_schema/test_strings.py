"""Strings: length, pattern, spelling."""

from __future__ import annotations

import json
import random

import pytest

from guided._core import Arena
from guided.text.json_schema.strings import JsonSpelling, escape
from tests.text.json_schema.matching import check, language


def test_length_counts_code_points_in_whatever_spelling() -> None:
    schema = {"type": "string", "minLength": 2, "maxLength": 3}
    accept = ['"ab"', '"abc"', '"é\\u00e9"', '"😀\\ud83d\\ude00"', '"\\n\\"\\\\"', '"\\/\\u0041"']
    check(schema, accept, ['"a"', '"abcd"', '"\\u0041"', '"\\ud83d\\ude00"', '"😀"', '""'])


@pytest.mark.parametrize("bound", [0, 1, 200, 2000, 65535])
def test_long_bounds_are_exact(bound: int) -> None:
    compiled = language({"type": "string", "minLength": bound, "maxLength": bound})
    for length in (bound - 1, bound, bound + 1):
        if length >= 0:
            assert compiled.matches(f'"{"x" * length}"') is (length == bound)


def test_pattern_searches_the_decoded_text() -> None:
    check({"type": "string", "pattern": "[0-9]"}, ['"7"', '"abc7"', '"\\u0037"'], ['""', '"abc"'])
    check(
        {"type": "string", "pattern": "^on$|^off$"},
        ['"on"', '"off"', '"o\\u006e"'],
        ['"o"', '"onoff"'],
    )
    check(
        {"type": "string", "pattern": '^"[a-z]\\\\$'},
        ['"\\"x\\\\"', '"\\u0022x\\u005C"'],
        ['"x"', '"\\"x"'],
    )
    check(
        {"type": "string", "pattern": "^é😀$"},
        ['"é😀"', '"\\u00E9\\ud83d\\ude00"'],
        ['"é"', '"\\ud83d"'],
    )
    check(
        {"type": "string", "pattern": "^\\S+$"},
        ['"ab"', '"/"', '"\\/"'],
        ['"a\\nb"', '"a\\u0020b"'],
    )


def test_pattern_and_lengths_hold_together() -> None:
    schema = {"type": "string", "pattern": "^[a-z]+$", "minLength": 2, "maxLength": 3}
    check(schema, ['"ab"', '"abc"'], ['"a"', '"abcd"', '"aB"', '""'])
    check(
        {"type": "string", "pattern": "b", "maxLength": 2},
        ['"b"', '"ab"', '"bb"'],
        ['"aa"', '"aab"'],
    )
    check(
        {"allOf": [{"pattern": "^a"}, {"pattern": "b$"}, {"maxLength": 3}]},
        ['"ab"', '"axb"', "1"],
        ['"ba"'],
    )


def test_a_character_class_is_spelled_in_all_ways_and_no_other() -> None:
    draw = random.Random(7)
    marks = [
        0,
        8,
        0x1F,
        0x20,
        0x22,
        0x2F,
        0x5C,
        0x61,
        0x7F,
        0xFF,
        0xFFF,
        0xD7FF,
        0xE000,
        0xFFFF,
        0x10000,
    ]
    marks += [0x103FF, 0x10400, 0x1F600, 0xFFFFF, 0x100000, 0x10FFFF]
    for _ in range(40):
        arena = Arena()
        low, high = sorted(draw.choice(marks) for _ in range(2))
        node = JsonSpelling().characters(arena, [(low, high)])
        for code in {*marks, low, high, max(low - 1, 0), min(high + 1, 0x10FFFF)}:
            if 0xD800 <= code <= 0xDFFF:
                continue
            text = chr(code)
            units = text.encode("utf-16-be")
            pairs = [units[k : k + 2].hex() for k in range(0, len(units), 2)]
            escaped = "".join("\\u" + unit for unit in pairs)
            for spelling in {
                escape(text),
                json.dumps(text)[1:-1],
                escaped,
                escaped.upper().replace("U", "u"),
            }:
                assert arena.matches(node, spelling) is (low <= code <= high), (low, high, spelling)
