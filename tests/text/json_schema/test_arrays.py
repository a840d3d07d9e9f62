"""Arrays: items by position, the rest, and how many."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from guided.errors import SchemaError
from tests.text.json_schema.matching import check, is_valid, language

DRAFT_7 = "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize("prefix", [0, 1, 2, 3])
@pytest.mark.parametrize("rest", [None, False, {"type": "integer"}])
@pytest.mark.parametrize("bounds", [(0, None), (1, None), (2, 3), (0, 1), (3, 3), (0, 0), (0, 5)])
def test_arrays_are_judged_as_jsonschema_does(
    prefix: int, rest: Any, bounds: tuple[int, int | None]
) -> None:
    minimum, maximum = bounds
    schema: dict[str, Any] = {"type": "array", "minItems": minimum}
    if maximum is not None:
        schema["maxItems"] = maximum
    if prefix:
        schema["prefixItems"] = [{"type": "boolean"}] * prefix
    if rest is not None:
        schema["items"] = rest
    if rest is False and minimum > prefix:
        with pytest.raises(SchemaError):
            language(schema)
        return
    compiled = language(schema)
    for length in range(6):
        for head in range(length + 1):
            text = json.dumps([True] * head + [7] * (length - head))
            assert compiled.matches(text) is is_valid(schema, text), text


def test_commas_stand_between_items_only() -> None:
    schema = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3}
    check(
        schema,
        ["[1,2]", "[1, 2, 3]", "[-1,0]"],
        ["[1]", "[,1,2]", "[1,2,]", "[1,,2]", "[1,2,3,4]", "[1 2]"],
    )


def test_an_item_that_nothing_fits_ends_the_array() -> None:
    check({"prefixItems": [{"const": 1}, False, {"const": 3}]}, ["[]", "[1]"], ["[1,2]", "[1,2,3]"])
    check({"type": "array", "items": {"enum": [1], "minimum": 2}}, ["[]"], ["[1]"])


def test_array_form_of_items_in_older_drafts() -> None:
    schema = {"$schema": DRAFT_7, "items": [{"type": "integer"}, {"type": "string"}]}
    check(schema, ["[]", "[1]", '[1,"a"]', '[1,"a",null]'], ['["a"]', "[1,2]"])
    check({**schema, "additionalItems": False}, ["[]", '[1,"a"]'], ['[1,"a",2]'])
    check({**schema, "additionalItems": {"type": "null"}}, ['[1,"a",null]'], ['[1,"a",2]'])
    check(
        {"$schema": DRAFT_7, "items": {"type": "null"}, "additionalItems": False},
        ["[null,null]"],
        ["[1]"],
    )


@pytest.mark.parametrize("count", [10, 1000])
def test_counts_are_exact_and_cost_no_nodes(count: int) -> None:
    compiled = language(
        {"type": "array", "items": {"const": 1}, "minItems": count, "maxItems": count}
    )
    nodes = len(compiled.compiled.arena)
    assert nodes - len(language({"type": "array"}).compiled.arena) < 30
    for length, verdict in ((count - 1, False), (count, True), (count + 1, False)):
        assert compiled.matches("[" + ",".join(["1"] * length) + "]") is verdict


def test_arrays_of_arrays() -> None:
    schema = {
        "type": "array",
        "items": {"type": "array", "items": {"type": "boolean"}, "maxItems": 1},
    }
    for rows in itertools.product([[], [True], [True, False], [1]], repeat=2):
        text = json.dumps(list(rows))
        assert language(schema).matches(text) is is_valid(schema, text)
