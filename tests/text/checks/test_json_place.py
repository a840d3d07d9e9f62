"""Where in a JSON value the beginning of its text ends."""

from __future__ import annotations

import json
from typing import Any

import pytest

from guided.text.checks.json_place import member_places, pointer_at


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("", ""),
        ("{", ""),
        ('{"a', ""),
        ('{"a"', ""),
        ('{"a":', "/a"),
        ('{"a": "x, {', "/a"),
        ('{"a": 1,', ""),
        ('{"a": [', "/a/0"),
        ('{"a": [1, {"b/~": tr', "/a/1/b~1~0"),
        ('{"a": [1, {"b": 2}', "/a/1"),
        ('{"a": [1, {"b": 2}]', "/a"),
        ('{"a": {}}', ""),
        ('{"\\u0061\\"": ', '/a"'),
        ('["]", "\\"', "/1"),
    ],
)
def test_the_pointer_leads_to_the_value_that_is_written(text: str, pointer: str) -> None:
    assert pointer_at(text) == pointer


def test_each_scalar_is_found_at_its_own_pointer() -> None:
    value: Any = {"a": [1, {"b": [True, None]}, "x,y"], "c/d": {"": -2.5}, "~": "{"}
    text = json.dumps(value)
    for pointer, scalar in scalars("", value):
        assert pointer in {
            pointer_at(text[: index + 1])
            for index in range(len(text))
            if text.startswith(json.dumps(scalar), index)
        }


def scalars(pointer: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        items: list[tuple[Any, Any]] = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    else:
        return [(pointer, value)]
    found = []
    for key, inner in items:
        name = str(key).replace("~", "~0").replace("/", "~1")
        found += scalars(f"{pointer}/{name}", inner)
    return found


def test_each_member_is_found_where_it_stands() -> None:
    value: Any = {
        "a": [1, {"b": [True, None]}, "x,y", [], {}],
        "c/d": {"": -2.5, "~": {"a": "}"}},
        '"\n': "{",
        "é": [[0]],
    }
    for text in (json.dumps(value), json.dumps(value, indent=2, ensure_ascii=False)):
        places = member_places(text)
        assert set(places) == set(members("", value))
        for pointer, (index, length) in places.items():
            name = pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
            written = text[index : index + length]
            if written[0] == '"' and text[index + length :].lstrip().startswith(":"):
                assert json.loads(written) == name
            else:
                assert name.isdigit()


def members(pointer: str, value: Any) -> list[str]:
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    found = []
    for key, inner in items:
        at = f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"
        found += [at, *members(at, inner)]
    return found
