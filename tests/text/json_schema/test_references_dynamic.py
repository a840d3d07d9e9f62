"""`$dynamicRef` and `$recursiveRef`: the target depends on the way to the reference."""

from __future__ import annotations

from typing import Any

import pytest

from guided.errors import LimitError, SchemaError
from guided.text.json_schema.document.document import Document
from tests.text.json_schema.test_references_identifiers import DRAFT_2019, below

BASE = "http://example.org/"


def _list(name: str, *, anchor: str = "$dynamicAnchor") -> dict[str, Any]:
    """Make a list whose items its users may say; by itself it takes any."""
    return {"$id": name, "items": {"$dynamicRef": "#item"}, "$defs": {"any": {anchor: "item"}}}


def _user(name: str, reference: str = "list") -> dict[str, Any]:
    return {"$id": name, "$ref": reference, "$defs": {name: {"$dynamicAnchor": "item"}}}


def test_each_way_to_a_dynamic_reference_has_its_own_target() -> None:
    schema = {
        "$id": f"{BASE}root",
        "anyOf": [_user("numbers"), _user("texts"), {"$ref": "list"}],
        "$defs": {"list": _list("list")},
    }
    document = Document(schema)
    targets = []
    lists = []
    for index in range(3):
        one = document.target(below(document, ("anyOf", index)))
        lists.append(one)
        assert one.pointer() == "/$defs/list"
        items = document.subschema(one.value["items"], one, ("items",))
        targets.append(document.target(items, "$dynamicRef").pointer())
    assert targets == ["/anyOf/0/$defs/numbers", "/anyOf/1/$defs/texts", "/$defs/list/$defs/any"]
    assert len(set(lists)) == 3


def test_the_outermost_of_several_counts() -> None:
    schema = {
        "$id": f"{BASE}root",
        "$ref": "a",
        "$defs": {"a": _user("a", "b"), "b": _user("b"), "list": _list("list")},
    }
    document = Document(schema)
    one = document.target(document.target(document.target(document.root)))
    items = document.subschema(one.value["items"], one, ("items",))
    assert document.target(items, "$dynamicRef").pointer() == "/$defs/a/$defs/a"


def test_ways_with_the_same_anchors_share_their_subschemas() -> None:
    schema = {
        "$id": f"{BASE}root",
        "anyOf": [{"$id": "x", "$ref": "list"}, {"$id": "y", "$ref": "list"}, {"$ref": "list"}],
        "$defs": {"list": _list("list")},
    }
    document = Document(schema)
    targets = {document.target(below(document, ("anyOf", index))) for index in range(3)}
    assert len(targets) == 1


@pytest.mark.parametrize(
    ("anchor", "reference", "pointer"),
    [
        ("$dynamicAnchor", "#item", "/$defs/mine"),
        ("$dynamicAnchor", "list#item", "/$defs/mine"),
        ("$dynamicAnchor", "#/$defs/any", "/$defs/list/$defs/any"),
        ("$dynamicAnchor", "#", "/$defs/list"),
        ("$anchor", "#item", "/$defs/list/$defs/any"),  # without its counterpart it is a $ref
    ],
)
def test_only_a_reference_to_a_dynamic_anchor_is_dynamic(
    anchor: str, reference: str, pointer: str
) -> None:
    target = {**_list("list", anchor=anchor), "items": {"$dynamicRef": reference}}
    mine = {"$dynamicAnchor": "item"}
    schema = {"$id": f"{BASE}root", "$ref": "list", "$defs": {"list": target, "mine": mine}}
    document = Document(schema)
    one = document.target(document.root)
    items = document.subschema(target["items"], one, ("items",))
    assert document.target(items, "$dynamicRef").pointer() == pointer


def test_a_plain_reference_to_a_dynamic_anchor_stays_where_it_is() -> None:
    target = {**_list("list"), "items": {"$ref": "#item"}}
    schema = {**_user("root"), "$defs": {"list": target, "mine": {"$dynamicAnchor": "item"}}}
    document = Document(schema)
    one = document.target(document.root)
    items = document.subschema(target["items"], one, ("items",))
    assert document.target(items).pointer() == "/$defs/list/$defs/any"


def test_resources_that_a_pointer_passes_through_are_not_on_the_way() -> None:
    passed = {**_user("passed"), "not": _list("list")}
    schema = {"$id": f"{BASE}root", "$ref": "passed#/not", "$defs": {"passed": passed}}
    document = Document(schema)
    one = document.target(document.root)
    items = document.subschema(one.value["items"], one, ("items",))
    assert document.target(items, "$dynamicRef").pointer() == "/$defs/passed/not/$defs/any"


def test_recursion_comes_back_to_the_same_subschema() -> None:
    tree = {"$id": "tree", "$dynamicAnchor": "node", "items": {"$dynamicRef": "#node"}}
    schema = {"$id": f"{BASE}strict", "$dynamicAnchor": "node", "$ref": "tree", "not": tree}
    document = Document(schema)
    inside = document.target(document.root)
    items = document.subschema(tree["items"], inside, ("items",))
    assert document.target(items, "$dynamicRef") is document.root
    alone = document.target(below(document, ("not",), ("items",)), "$dynamicRef")
    assert alone is document.root


@pytest.mark.parametrize(
    ("outer", "inner", "pointer"),
    [(True, True, ""), (True, False, "/$defs/a"), (False, True, "/$defs/a")],
)
def test_a_recursive_reference_goes_out_if_both_ends_say_so(
    outer: bool, inner: bool, pointer: str
) -> None:
    target = {"$id": "a", "$recursiveAnchor": inner, "items": {"$recursiveRef": "#"}}
    schema = {
        "$schema": DRAFT_2019,
        "$id": f"{BASE}root",
        "$recursiveAnchor": outer,
        "$ref": "a",
        "$defs": {"a": target},
    }
    document = Document(schema)
    one = document.target(document.root)
    items = document.subschema(target["items"], one, ("items",))
    assert document.target(items, "$recursiveRef").pointer() == pointer


def test_a_recursive_reference_is_always_to_the_root() -> None:
    document = Document({"$schema": DRAFT_2019, "$recursiveRef": "#/$defs/a"})
    with pytest.raises(SchemaError, match='"\\$recursiveRef" is always "#"') as caught:
        document.target(document.root, "$recursiveRef")
    assert caught.value.pointer == "/$recursiveRef"


def test_ways_without_number_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guided.text.json_schema.document.document.MAX_WAYS", 100)
    count = 10
    steps: dict[str, Any] = {}
    for index in range(count):
        choices = [
            {"$id": f"{side}{index}", "$dynamicAnchor": f"n{index}", "$ref": f"step{index + 1}"}
            for side in "ab"
        ]
        steps[str(index)] = {"$id": f"step{index}", "anyOf": choices}
    steps["end"] = {"$id": f"step{count}"}
    document = Document({"$id": f"{BASE}root", "$ref": "step0", "$defs": steps})
    with pytest.raises(LimitError, match="too many different meanings"):
        _follow_all(document)


def _follow_all(document: Document) -> None:
    todo = [document.root]
    while todo:
        schema = todo.pop()
        if "$ref" in schema.value:
            todo.append(document.target(schema))
        for index, branch in enumerate(schema.value.get("anyOf", ())):
            todo.append(document.subschema(branch, schema, ("anyOf", index)))
