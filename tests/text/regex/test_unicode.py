"""The table of Unicode properties and the case classes, against the standard library."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest

from guided.text.regex.classes import Flags, fold, shorthand
from guided.text.regex.codepoints import Ranges, complement, intersect, single, subtract, union
from guided.text.regex.unicode import property_ranges


def members(ranges: Ranges) -> set[int]:
    return {code for low, high in ranges for code in range(low, high + 1)}


ASSIGNED = [
    code
    for code in range(sys.maxunicode + 1)
    if unicodedata.category(chr(code)) not in ("Cn", "Cs")
]
"""Code points assigned in the interpreter's version of Unicode, which may be an older one."""


def test_general_categories_are_those_of_unicode() -> None:
    known = {
        name: members(property_ranges(name) or ())
        for name in {unicodedata.category(chr(code)) for code in ASSIGNED}
    }
    moved = [code for code in ASSIGNED if code not in known[unicodedata.category(chr(code))]]
    assert len(moved) < 20, "a few characters change their category from version to version"


@pytest.mark.parametrize(
    ("name", "member", "other"),
    [
        ("Script=Greek", "α", "a"),
        ("sc=Grek", "Ω", "Ж"),
        ("scx=Deva", "\u0951", "a"),
        ("Script_Extensions=Han", "〆", "a"),
        ("Alphabetic", "é", "1"),
        ("White_Space", "\u2003", "x"),
        ("Emoji_Presentation", "😀", "1"),
        ("ASCII", "~", "é"),
        ("L", "ß", "5"),
        ("Uppercase_Letter", "É", "é"),
        ("Any", "\U0010ffff", None),
        ("Assigned", "a", "\u0378"),
    ],
)
def test_properties_go_by_their_names_in_ecma_262(
    name: str, member: str, other: str | None
) -> None:
    ranges = property_ranges(name)
    assert ranges is not None
    assert ord(member) in members(ranges)
    assert other is None or ord(other) not in members(ranges)


@pytest.mark.parametrize("letter", ["d", "w", "s"])
def test_unicode_shorthands_are_those_of_python(letter: str) -> None:
    ranges = members(shorthand(letter, Flags("python", unicode=True)))
    oracle = re.compile(f"\\{letter}")
    assert [c for c in ASSIGNED if bool(oracle.match(chr(c))) is not (c in ranges)] == []


@pytest.mark.parametrize("first", [*"aikszµſßéσΩжǅ", "\u0130", "\u0131", "\u212a", "\u1e9e"])
def test_case_variants_are_those_of_python(first: str) -> None:
    folded = members(fold(single(ord(first)), Flags("python", ignore_case=True, unicode=True)))
    oracle = re.compile(re.escape(first), re.IGNORECASE)
    assert {c for c in ASSIGNED if oracle.match(chr(c))} == folded & set(ASSIGNED)


def test_algebra_of_ranges_is_that_of_sets() -> None:
    first: Ranges = ((0, 5), (10, 0xD7FF))
    second: Ranges = ((3, 12), (0xE000, 0xE005))
    assert members(union(first, second)) == members(first) | members(second)
    assert members(intersect(first, second)) == members(first) & members(second)
    assert members(subtract(first, second)) == members(first) - members(second)
    assert complement(complement(first)) == first
    assert not any(0xD800 <= code <= 0xDFFF for code in members(complement(first)))


@pytest.mark.parametrize("letter", ["d", "w", "s"])
def test_the_unicode_classes_of_python_are_those_of_the_python_that_runs(letter: str) -> None:
    matches = re.compile(rf"\{letter}").match
    codes = [code for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    ours = members(shorthand(letter, Flags("python", unicode=True)))
    assert ours == {code for code in codes if matches(chr(code))}
