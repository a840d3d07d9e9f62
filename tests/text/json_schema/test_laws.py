"""Random schemas against jsonschema: one verdict, in every layout."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guided.errors import SchemaError
from tests.text.json_schema.matching import Language, is_valid, key_orders, language, spellings

NAMES = st.sampled_from(["a", "b", "c"])
NUMBERS = st.sampled_from([-2, -1, -0.5, 0, 0.5, 1, 2, 2.25, 3])
# No newline at the end: $ of Python's re, which jsonschema uses, matches before it.
TEXTS = st.sampled_from(["", "a", "b", "ab", "é", "\na"])
COUNTS = st.integers(0, 3)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=5,
)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


def _keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw some keywords, each with a value of its form."""
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": st.one_of(TYPES, st.lists(TYPES, min_size=1, max_size=3, unique=True)),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "const": VALUES,
        "minimum": NUMBERS,
        "maximum": NUMBERS,
        "exclusiveMinimum": NUMBERS,
        "exclusiveMaximum": NUMBERS,
        "minLength": COUNTS,
        "maxLength": COUNTS,
        "pattern": st.sampled_from(["a", "^a", "b$", "^[ab]*$", "."]),
        "properties": st.dictionaries(NAMES, inner, max_size=3),
        "required": st.lists(NAMES, max_size=2, unique=True),
        "additionalProperties": inner,
        "items": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
        "minItems": COUNTS,
        "maxItems": COUNTS,
        "anyOf": st.lists(inner, min_size=1, max_size=3),
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "$ref": st.sampled_from(["#/$defs/x", "#/$defs/y"]),
    }
    # At most four at a time: with more, hardly anything fits.
    chosen = st.lists(st.sampled_from(list(keywords)), max_size=4, unique=True)
    return chosen.flatmap(
        lambda names: st.fixed_dictionaries({name: keywords[name] for name in names})
    )


SCHEMAS = st.recursive(
    st.booleans() | TYPES.map(lambda name: {"type": name}), _keywords, max_leaves=8
)


@st.composite
def documents(draw: st.DrawFn) -> Any:
    schema = draw(_keywords(SCHEMAS))
    definitions = {
        "x": draw(SCHEMAS),
        "y": {"properties": {"a": {"$ref": "#/$defs/x"}, "b": draw(SCHEMAS)}},
    }
    return {**schema, "$defs": definitions}


def _judge(schema: Any, values: list[Any]) -> None:
    compiled: Language | None
    try:
        compiled = language(schema)
    except SchemaError as error:
        # Nothing fits, then, or a reference goes round.
        if "circular" in error.fact:
            return
        compiled = None
    for index, value in enumerate(values):
        expected = is_valid(schema, json.dumps(value))
        if compiled is None:
            assert not expected, (schema, value)
            continue
        texts = (spellings(ordered)[index % 3] for ordered in key_orders(value))
        assert any(map(compiled.matches, texts)) is expected, (schema, value)


@given(documents(), st.lists(VALUES, min_size=8, max_size=8))
@settings(max_examples=150)
def test_a_value_is_let_through_if_jsonschema_accepts_it(schema: Any, values: list[Any]) -> None:
    _judge(schema, values)


@pytest.mark.nightly
@given(documents(), st.lists(VALUES, min_size=8, max_size=8))
@settings(max_examples=20_000)
def test_the_same_for_many_more(schema: Any, values: list[Any]) -> None:
    _judge(schema, values)
