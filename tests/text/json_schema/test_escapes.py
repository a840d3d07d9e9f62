"""How characters are spelled: as json.dumps does it, or in all ways that JSON has."""

from __future__ import annotations

import json
from itertools import islice, product
from typing import Any

import pytest
from hypothesis import strategies as st

from guided._core import Arena
from guided.text.json_schema.strings.spelling import JsonSpelling
from guided.text.json_schema.values.any_json import COMMON_CLASSES
from guided.text.regex.classes import Flags, dot, shorthand
from guided.text.regex.codepoints import intersect
from tests.laws.law import law
from tests.text.json_schema.matching import language

MODES = ("minimal", "any")

# Where one way of spelling ends and another begins.
MARKS = [0, 7, 8, 9, 10, 11, 12, 13, 14, 0x1F, 0x20, 0x22, 0x2F, 0x5C, 0x61, 0x7E, 0x7F, 0x80, 0xFF]
MARKS += [0xFFF, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x103FF, 0x10400, 0x1F600, 0xFFFFF, 0x100000]
MARKS += [0x10FFFF]

SHORT = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def spellings(character: str, escapes: str) -> set[str]:
    """Return the spellings of a character, the digits of escapes all small or all capital."""
    units = character.encode("utf-16-be")
    pairs = [units[k : k + 2].hex() for k in range(0, len(units), 2)]
    plain = {character} if character >= " " and character not in '"\\' else set()
    short = {SHORT[character]} if character in SHORT else set()
    long = {
        "".join(f"\\u{unit}" for unit in pairs),
        "".join(f"\\u{unit.upper()}" for unit in pairs),
    }
    if escapes == "any":
        return plain | short | long | ({"\\/"} if character == "/" else set())
    is_long = json.dumps(character).startswith('"\\u')
    return plain | short | (long if is_long else set())


codes = st.sampled_from(MARKS) | st.integers(0, 0x10FFFF).filter(lambda c: not 0xD800 <= c < 0xE000)
ranges = st.lists(st.tuples(codes, codes).map(lambda pair: tuple(sorted(pair))), max_size=3)
texts = st.text(alphabet='ab/é\n"\\\x7f\x1f😀漢', max_size=4)


@law(st.sampled_from(MODES), ranges, st.lists(codes, min_size=1, max_size=6), plain=100)
def test_a_character_class_is_spelled_in_all_ways_and_no_other(
    escapes: Any, members: list[tuple[int, int]], tried: list[int]
) -> None:
    arena = Arena()
    node = JsonSpelling(escapes).characters(arena, members)
    edges = [edge for member in members for edge in member]
    for character in map(chr, tried + edges):
        is_member = any(low <= ord(character) <= high for low, high in members)
        allowed = spellings(character, escapes) if is_member else set()
        for spelling in spellings(character, "any"):
            assert arena.matches(node, spelling) is (spelling in allowed)


@law(st.sampled_from(MODES), st.lists(texts, max_size=10), st.lists(texts, max_size=5), plain=60)
def test_one_of_some_texts_is_each_of_them_in_all_spellings(
    escapes: Any, members: list[str], others: list[str]
) -> None:
    arena = Arena()
    spelling = JsonSpelling(escapes)
    bare, quoted = spelling.one_of(arena, members), spelling.one_string_of(arena, members)
    for text in members + others:
        options = [spellings(character, "any") for character in text]
        for parts in islice(product(*options), 60):
            is_right = text in members and all(
                part in spellings(character, escapes)
                for part, character in zip(parts, text, strict=True)
            )
            assert arena.matches(bare, "".join(parts)) is is_right
            assert arena.matches(quoted, f'"{"".join(parts)}"') is is_right


@pytest.mark.parametrize("escapes", MODES)
def test_a_lone_surrogate_is_no_character(escapes: str) -> None:
    compiled = language({"type": "string"}, escapes=escapes)
    for text in ("\\ud83d", "\\ude00", "\\ude00\\ud83d", "\\ud83d\\ud83d", "\\ud83d\\u0041"):
        assert not compiled.matches(f'"{text}"')
    assert compiled.matches('"\\ud83d\\ude00"')


SCHEMA = {
    "type": "object",
    "properties": {"a": {"enum": ["b/", "é"]}, "ñ": {}, 'q"': {}},
    "patternProperties": {"^x": {"type": "integer"}},
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("text", "is_minimal"),
    [
        ('{"a":"b/","ñ":"a/"}', True),
        ('{"a":"\\u00e9","\\u00f1":1,"q\\"":2,"x":3}', True),
        ('{"a":"\\u00E9","\\u00F1":"\\u00e9é"}', True),
        ('{"\\u0061":"é"}', False),
        ('{"a":"b\\/"}', False),
        ('{"a":"\\u0062/"}', False),
        ('{"ñ":"\\/"}', False),
        ('{"q\\u0022":0}', False),
        ('{"\\u0078":3}', False),
    ],
)
def test_keys_values_and_free_strings_are_spelled_in_one_mode(text: str, is_minimal: bool) -> None:
    assert language(SCHEMA).matches(text) is is_minimal
    assert language(SCHEMA, escapes="any").matches(text)


@pytest.mark.parametrize("escapes", MODES)
def test_a_spelling_of_what_is_not_allowed_is_not_allowed(escapes: str) -> None:
    compiled = language(SCHEMA, escapes=escapes)
    for text in ('{"a":"\\u0063"}', '{"\\u0079":1}', '{"\\u0078":"a"}', '{"a":"e\\u0301"}'):
        assert not compiled.matches(text)


@pytest.mark.parametrize("escapes", MODES)
def test_the_controls_and_del_are_escaped_as_json_dumps_does(escapes: str) -> None:
    compiled = language({"type": "string"}, escapes=escapes)
    for code in [*range(0x20), 0x7F]:
        assert compiled.matches(json.dumps(chr(code)))
        assert compiled.matches(json.dumps(chr(code)).upper().replace("\\U", "\\u")) or code in (
            8,
            9,
            10,
            12,
            13,
        )
        assert compiled.matches(f'"{chr(code)}"') is (code == 0x7F)


def test_many_texts_that_begin_alike_are_one_trie() -> None:
    texts_of = [f"漢字{number * 7919 % 3000}é" for number in range(3000)]
    arena = Arena()
    JsonSpelling("any").one_of(arena, texts_of)
    assert len(arena) < 3 * len(texts_of)


def test_the_classes_that_are_kept_are_those_of_patterns() -> None:
    flags = Flags("ecma")
    beyond = ((0x80, 0x10FFFF),)
    for kept, meant in zip(COMMON_CLASSES, (dot(flags), shorthand("S", flags)), strict=True):
        assert kept == intersect(meant, beyond)
