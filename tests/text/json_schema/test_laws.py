"""Random schemas against jsonschema and jsonschema-rs: one verdict, in every layout."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guided.errors import LimitError, SchemaError, UnsupportedError
from tests.text.json_schema.matching import Language, language
from tests.text.json_schema.spelling import layouts
from tests.text.json_schema.validators import Validators

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
PATTERNS = st.sampled_from(["a", "^a", "b$", "^[ab]*$", "."])


def _keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw some keywords, each with a value of its form."""
    schemas = st.lists(inner, min_size=1, max_size=3)
    names = st.lists(NAMES, max_size=2, unique=True)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": st.one_of(TYPES, st.lists(TYPES, min_size=1, max_size=3, unique=True)),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "const": VALUES,
        "minimum": NUMBERS,
        "maximum": NUMBERS,
        "exclusiveMinimum": NUMBERS,
        "exclusiveMaximum": NUMBERS,
        "multipleOf": st.sampled_from([1, 2, 0.5, 3]),
        "minLength": COUNTS,
        "maxLength": COUNTS,
        "pattern": PATTERNS,
        "properties": st.dictionaries(NAMES, inner, max_size=3),
        "required": names,
        "additionalProperties": inner,
        "patternProperties": st.dictionaries(PATTERNS, inner, min_size=1, max_size=2),
        "propertyNames": inner,
        "minProperties": COUNTS,
        "maxProperties": COUNTS,
        "dependentRequired": st.dictionaries(NAMES, names, max_size=2),
        "dependentSchemas": st.dictionaries(NAMES, inner, max_size=2),
        "unevaluatedProperties": inner,
        "items": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
        "minItems": COUNTS,
        "maxItems": COUNTS,
        "contains": inner,
        "minContains": COUNTS,
        "maxContains": COUNTS,
        "uniqueItems": st.booleans(),
        "unevaluatedItems": inner,
        "anyOf": schemas,
        "allOf": schemas,
        "oneOf": schemas,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
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
        compiled = language(schema, property_order="any")
    except SchemaError as error:
        # Nothing fits, then, or a reference goes round.
        if "circular" in error.fact:
            return
        compiled = None
    except (UnsupportedError, LimitError):
        return
    judges = Validators(schema)
    for index, value in enumerate(values):
        text = layouts(value)[index % 3]
        expected = judges.verdict(text)
        if expected is not None:
            accepted = compiled is not None and compiled.matches(text)
            assert accepted is expected, (schema, text)


@given(documents(), st.lists(VALUES, min_size=8, max_size=8))
@settings(max_examples=150)
def test_a_value_is_let_through_if_it_is_valid(schema: Any, values: list[Any]) -> None:
    _judge(schema, values)


@pytest.mark.nightly
@given(documents(), st.lists(VALUES, min_size=8, max_size=8))
@settings(max_examples=20_000)
def test_the_same_for_many_more(schema: Any, values: list[Any]) -> None:
    _judge(schema, values)
