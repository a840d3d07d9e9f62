"""JSON of which only the beginning has come: nothing is made up, nothing is taken back."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guided.text.tools.reading import read_partial_json

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("", None, id="nothing"),
        pytest.param("{", {}, id="an object has begun"),
        pytest.param('{"a', {}, id="a key may go on"),
        pytest.param('{"a": ', {}, id="a value is to come"),
        pytest.param('{"a": "', {"a": ""}, id="a string has begun"),
        pytest.param('{"a": "x\\', {"a": "x"}, id="an escape has begun"),
        pytest.param('{"a": "x\\u00e', {"a": "x"}, id="digits are missing"),
        pytest.param('{"a": "\\ud83d', {"a": ""}, id="half a pair"),
        pytest.param('{"a": "\\ud83d\\ude00', {"a": "😀"}, id="a pair"),
        pytest.param('{"a": "\\ud83dx', {"a": "\ud83dx"}, id="a half that stays one"),
        pytest.param('{"a": 1', {}, id="a number may go on"),
        pytest.param('{"a": 1.', {}, id="a fraction is to come"),
        pytest.param('{"a": 1,', {"a": 1}, id="a number has ended"),
        pytest.param('{"a": tru', {}, id="a word may go on"),
        pytest.param('{"a": true ', {"a": True}, id="a word has ended"),
        pytest.param("[1, [2, ", [1, [2]], id="arrays in arrays"),
        pytest.param('[{"a": [', [{"a": []}], id="brackets that were written"),
    ],
)
def test_what_can_be_told_is_told(text: str, value: Any) -> None:
    assert read_partial_json(text) == value


@given(VALUES, st.booleans())
def test_a_whole_value_is_what_json_loads_reads(value: Any, ascii_only: bool) -> None:
    text = json.dumps([value], ensure_ascii=ascii_only)
    assert read_partial_json(text) == json.loads(text)


def grows(before: Any, after: Any) -> bool:
    """Whether `after` has all of `before`, and perhaps more."""
    if isinstance(before, str) and isinstance(after, str):
        return after.startswith(before)
    if isinstance(before, list) and isinstance(after, list):
        return len(before) <= len(after) and all(map(grows, before, after))
    if isinstance(before, dict) and isinstance(after, dict):
        return all(key in after and grows(before[key], after[key]) for key in before)
    return bool(before == after)


@given(VALUES, st.booleans())
def test_what_was_told_stays(value: Any, ascii_only: bool) -> None:
    text = json.dumps({"a": value}, ensure_ascii=ascii_only)
    seen = [read_partial_json(text[:end]) for end in range(1, len(text) + 1)]
    for before, after in pairwise(seen):
        assert grows(before, after), (before, after)
    assert seen[-1] == {"a": value}


@pytest.mark.parametrize("text", ["}", '{"a" 1', "[1 2", "nul1", "{'a': 1", "[1]]", '"\\x"', "01,"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON|more after"):
        read_partial_json(text + " ")
