"""Strings: length, pattern, format, enum, and what is excluded, all together."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import strategies as st

from guided import Grammar
from guided._core import Arena
from guided.errors import SchemaError, UnsupportedError
from guided.text.json_schema import compile_schema
from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.shapes.shape import Count, Finite, Fitting, Pattern, StringShape
from guided.text.json_schema.strings.contents import Contents
from guided.text.json_schema.strings.plain_texts import Texts
from guided.text.json_schema.strings.spelling import JsonSpelling, escape
from tests.laws.law import law
from tests.text.json_schema.matching import check, language

AT = Subschema({}, None, ())

# In these the syntax of ECMA-262 and that of Python mean the same on texts without line ends.
PATTERNS = [
    "a",
    "^a",
    "b$",
    "^$",
    "^[a-c]+$",
    "^(ab|c)*$",
    "^.{1,3}$",
    "a.*b",
    "^(?!ab)",
    "[^a]",
    "é",
    "^[a-c]([a-d-]*[a-d])?$",
    "^[a-b]{2,3}-[a-c]+$",
    "^(a|bb|é)$",
    "^(ab){1,3}c?$",
    "^[a-z]+(-[a-z]+)*$",
]

texts = st.text(alphabet='abcd-é"\\😀', max_size=8)
bounds = st.none() | st.none() | st.builds(Count, st.integers(0, 5), st.just(AT), st.just("x"))
patterns = st.lists(st.sampled_from(PATTERNS), max_size=2, unique=True).map(
    lambda found: tuple(Pattern(text, AT) for text in found)
)
values = st.none() | st.lists(texts, min_size=1, max_size=12, unique=True).map(
    lambda found: Finite(tuple(found), AT, "enum")
)


GRAMMARS: dict[Any, str] = {
    Grammar.from_regex(pattern): pattern for pattern in ["[a-c]*é?", r'(?:"|\\|😀|a)+', "ab|cd"]
}
grammars = st.lists(st.sampled_from(list(GRAMMARS)), max_size=1).map(
    lambda found: tuple(Fitting(each, AT) for each in found)
)


def _shapes(excluded: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    formats = st.just(())
    return st.builds(StringShape, bounds, bounds, patterns, values, formats, grammars, excluded)


shapes: st.SearchStrategy[StringShape] = st.recursive(
    _shapes(st.just(())),
    lambda inner: _shapes(st.lists(inner, max_size=2).map(tuple)),
    max_leaves=4,
)


def fits(shape: StringShape, text: str) -> bool:
    """Return what a shape says of a text, by its definition."""
    return (
        (shape.minimum is None or len(text) >= shape.minimum.value)
        and (shape.maximum is None or len(text) <= shape.maximum.value)
        and all(re.search(pattern.text, text) for pattern in shape.patterns)
        and all(re.fullmatch(GRAMMARS[one.value], text) for one in shape.grammars)
        and (shape.values is None or text in shape.values.members)
        and not any(fits(other, text) for other in shape.excluded)
    )


def refuse(at: Subschema, keyword: str | None, fact: str, mend: str | None = None, /) -> None:
    raise AssertionError(fact)


@law(
    shapes,
    st.lists(texts, min_size=1, max_size=12),
    st.sampled_from(["minimal", "any"]),
    plain=100,
)
def test_the_node_of_a_shape_matches_what_fits_it(
    shape: StringShape, drawn: list[str], escapes: Any
) -> None:
    arena = Arena()
    contents = Contents(arena, JsonSpelling(escapes), refuse)
    node, known = contents.content(shape), Texts()
    tried = drawn + list(shape.values.members if shape.values else ())
    wanted = [fits(shape, text) for text in tried]
    assert [arena.matches(node, escape(text)) for text in tried] == wanted
    assert [arena.matches(node, json.dumps(text)[1:-1]) for text in tried] == wanted
    assert [known.fits(shape, text) for text in tried] == wanted
    # Emptiness is a fact about texts, whatever their spelling.
    shortest = arena.shortest(node)
    assert known.is_void(shape) is contents.is_void(node) is (shortest is None)
    if shortest is not None:
        assert fits(shape, json.loads(b'"' + shortest + b'"'))


def test_length_counts_code_points_in_whatever_spelling() -> None:
    schema = {"type": "string", "minLength": 2, "maxLength": 3}
    accept = ['"ab"', '"abc"', '"é\\u00e9"', '"😀\\ud83d\\ude00"', '"\\n\\"\\\\"']
    reject = ['"a"', '"abcd"', '"\\u00e9"', '"\\ud83d\\ude00"', '"😀"', '""']
    check(schema, accept, reject)
    check(schema, [*accept, '"\\/\\u0041"'], [*reject, '"\\u0041"'], escapes="any")


@pytest.mark.parametrize("bound", [0, 1, 200, 2000, 65535])
def test_long_bounds_are_exact(bound: int) -> None:
    compiled = language({"type": "string", "minLength": bound, "maxLength": bound})
    for length in (bound - 1, bound, bound + 1):
        if length >= 0:
            assert compiled.matches(f'"{"x" * length}"') is (length == bound)


@pytest.mark.parametrize(
    ("pattern", "accept", "reject"),
    [
        ("[0-9]", ['"7"', '"abc7"', '"\\u0037"'], ['""', '"abc"']),
        ("^on$|^off$", ['"on"', '"off"', '"o\\u006e"'], ['"o"', '"onoff"']),
        ('^"[a-z]\\\\$', ['"\\"x\\\\"', '"\\u0022x\\u005C"'], ['"x"', '"\\"x"']),
        ("^é😀$", ['"é😀"', '"\\u00E9\\ud83d\\ude00"'], ['"é"', '"\\ud83d"']),
        ("^\\S+$", ['"ab"', '"/"', '"\\/"'], ['"a\\nb"', '"a\\u0020b"']),
    ],
)
def test_a_pattern_searches_the_decoded_text(
    pattern: str, accept: list[str], reject: list[str]
) -> None:
    check({"type": "string", "pattern": pattern}, accept, reject, escapes="any")
    plain = [text for text in accept if "\\u00" not in text and "\\/" not in text]
    check({"type": "string", "pattern": pattern}, plain, reject)


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


@pytest.mark.parametrize("bound", [3, 5, 63])
@pytest.mark.parametrize(
    "pattern",
    [
        "^[a-z]([-a-z0-9]*[a-z0-9])?$",
        "^[a-z]+(-[a-z]+)*$",
        "^([a-z]{2}-)*x$",
        "^[a-z]{1,3}-?[0-9]+$",
        "^(foo|ba)[a-z]*$",
        "a",
    ],
)
def test_no_length_is_missed_by_the_ways_around_a_product(pattern: str, bound: int) -> None:
    low = {"type": "string", "pattern": pattern, "minLength": bound}
    high = {"type": "string", "pattern": pattern, "maxLength": bound}
    pool = ["a", "ab", "abc-7", "foo", "ba", "ab-x", "ab-ab-x", "a-b", "a1", "abc12345", "x"]
    pool += ["a" * 62, "a" * 63, "a" * 64, "foo" * 21, "a-" * 31 + "b", "a-" * 32 + "b"]
    longest, shortest = language(high), language(low)
    for text in pool:
        found = re.search(pattern, text) is not None
        assert longest.matches(json.dumps(text)) is (found and len(text) <= bound), text
        assert shortest.matches(json.dumps(text)) is (found and len(text) >= bound), text


@pytest.mark.parametrize("escapes", ["minimal", "any"])
def test_format_pattern_and_length_hold_together(escapes: str) -> None:
    schema = {"type": "string", "format": "ipv4", "pattern": "^10\\.", "maxLength": 9}
    compiled = language(schema, escapes=escapes)
    assert compiled.matches('"10.0.0.1"')
    assert compiled.matches('"10.25.0.1"')
    assert not compiled.matches('"10.255.0.1"')
    assert not compiled.matches('"11.0.0.1"')
    assert not compiled.matches('"10.0.0"')


def test_a_list_keeps_what_fits_everything_else() -> None:
    schema = {
        "type": "string",
        "enum": [*(f"value {number}" for number in range(40)), "other", "é"],
        "pattern": "[05]$",
        "maxLength": 8,
    }
    kept = [f'"value {number}"' for number in range(0, 40, 5)]
    check(schema, kept, ['"value 11"', '"other"', '"é"'])


@pytest.mark.parametrize(
    ("schema", "accept", "reject"),
    [
        ({"not": {"pattern": "^a"}}, ['"b"', '""'], ['"a"', '"ab"', "1"]),
        ({"not": {"maxLength": 2}}, ['"abc"'], ['""', '"ab"']),
        ({"not": {"minLength": 2, "maxLength": 3}}, ['"a"', '"abcd"'], ['"ab"', '"abc"']),
        ({"not": {"enum": ["a", "é"]}}, ['"b"', '""'], ['"a"', '"é"', '"\\u00e9"', '"\\u00E9"']),
        ({"not": {"pattern": "^a", "maxLength": 2}}, ['"b"', '"abc"'], ['"a"', '"ab"']),
        ({"maxLength": 3, "not": {"pattern": "b"}}, ['"aaa"', '""'], ['"b"', '"aaaa"']),
        ({"not": {"not": {"pattern": "^a"}}}, ['"a"'], ['"b"']),
    ],
)
def test_what_is_excluded_is_excluded_in_each_spelling(
    schema: dict[str, Any], accept: list[str], reject: list[str]
) -> None:
    for escapes in ("minimal", "any"):
        check({"type": ["string", "integer"], **schema}, accept, reject, escapes=escapes)


def test_a_large_list_is_excluded() -> None:
    names = [f"name {number}" for number in range(5_000)]
    compiled = language({"type": "string", "not": {"enum": names}})
    assert compiled.matches('"name 5000"')
    assert compiled.matches('"name"')
    assert not compiled.matches('"name 4999"')


@pytest.mark.parametrize(
    ("schema", "fact"),
    [
        (
            {"pattern": "^a{4}$", "maxLength": 3},
            'no string can match "^a{4}$" and have at most 3 characters',
        ),
        (
            {"pattern": "^a", "not": {"pattern": "^[a-c]"}},
            'no string can match "^a" and not match "^[a-c]"',
        ),
        (
            {"pattern": "^b", "not": {"pattern": "^b", "minLength": 1}},
            'no string can match "^b" and not (match "^b" and have at least 1 characters)',
        ),
        (
            {"format": "ipv4", "pattern": "x"},
            'no string can match "x" and have the format "ipv4"',
        ),
        (
            {"enum": ["a", "b"], "not": {"pattern": "^[ab]$"}},
            "no string of the enum fits what else is asked of it",
        ),
    ],
)
def test_what_no_string_fits_is_an_error(schema: dict[str, Any], fact: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(fact)):
        compile_schema({"type": "string", **schema})


def test_what_is_passed_over_widens_and_never_narrows() -> None:
    backreference = "^(a)\\1$"
    for schema in (
        {"pattern": backreference, "maxLength": 3},
        {"maxLength": 3, "not": {"pattern": backreference}},
    ):
        whole = {"type": "string", **schema}
        with pytest.raises(UnsupportedError, match=r"the pattern .* is not supported"):
            compile_schema(whole)
        compiled = language(whole, unsupported="ignore")
        assert compiled.compiled.not_enforced
        assert compiled.matches('"aa"')
        assert compiled.matches('"x"')
        assert not compiled.matches('"aaaa"')


def test_of_a_list_a_lone_surrogate_is_left_out() -> None:
    compiled = language({"enum": ["\ud83d", "a"]})
    assert compiled.matches('"a"')
    assert not compiled.matches('"\\ud83d"')
    with pytest.raises(SchemaError, match="half of a surrogate pair"):
        compile_schema({"enum": ["\ud83d"]})
