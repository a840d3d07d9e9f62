"""What `$id`, `id` and anchors name, and what references make of them, draft by draft."""

from __future__ import annotations

from typing import Any

import pytest

from guided.errors import GuidedError, SchemaError
from guided.text.json_schema.document.document import Document
from guided.text.json_schema.document.places import Subschema

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_6 = "http://json-schema.org/draft-06/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def below(document: Document, *ways: tuple[str | int, ...]) -> Subschema:
    """Go down from the root, one way for each schema within another."""
    schema = document.root
    for way in ways:
        value = schema.value
        for token in way:
            value = value[token]
        schema = document.subschema(value, schema, way)
    return schema


def reached(schema: Any) -> str:
    """Return the pointer to what the `$ref` under `properties`, `x` leads to."""
    document = Document(schema)
    return document.target(below(document, ("properties", "x"))).pointer()


def error(schema: Any) -> GuidedError:
    with pytest.raises(GuidedError) as caught:
        reached(schema)
    return caught.value


@pytest.mark.parametrize(
    ("reference", "pointer"),
    [
        ("#", ""),
        ("", ""),
        ("root.json", ""),
        ("root.json#", ""),
        ("http://example.org/a/root.json#/$defs/plain", "/$defs/plain"),
        ("/a/root.json#plain", "/$defs/plain"),
        ("#plain", "/$defs/plain"),
        ("#pl%61in", "/$defs/plain"),
        ("#dynamic", "/$defs/plain/not"),
        ("inner", "/$defs/inner"),
        ("./inner", "/$defs/inner"),
        ("../a/inner", "/$defs/inner"),
        ("//example.org/a/inner", "/$defs/inner"),
        ("inner#plain", "/$defs/inner/items"),
        ("inner#/items", "/$defs/inner/items"),
        ("#/$defs/inner/items", "/$defs/inner/items"),
        ("inner/deep", "/$defs/inner/items/not"),
        ("#/$defs/inner/items/not", "/$defs/inner/items/not"),
        ("urn:example:one#plain", "/$defs/urn/allOf/0"),
        ("urn:example:one#/allOf/0", "/$defs/urn/allOf/0"),
        ("#/unknown/list/0", "/unknown/list/0"),
        ("#/$defs/", "/$defs/"),
    ],
)
def test_a_reference_is_resolved_against_the_base(reference: str, pointer: str) -> None:
    schema = {
        "$id": "http://example.org/a/root.json",
        "properties": {"x": {"$ref": reference}},
        "unknown": {"list": [{"type": "null"}]},
        "$defs": {
            "": {"type": "null"},
            "plain": {"$anchor": "plain", "not": {"$dynamicAnchor": "dynamic"}},
            "inner": {
                "$id": "inner",
                "items": {"$anchor": "plain", "not": {"$id": "inner/deep"}},
            },
            "urn": {"$id": "urn:example:one", "allOf": [{"$anchor": "plain"}]},
        },
    }
    assert reached(schema) == pointer


@pytest.mark.parametrize(
    ("draft", "identifier", "definitions"),
    [
        (DRAFT_4, "id", "definitions"),
        (DRAFT_6, "$id", "definitions"),
        (DRAFT_7, "$id", "definitions"),
    ],
)
def test_up_to_draft_7_a_fragment_is_a_name(draft: str, identifier: str, definitions: str) -> None:
    named = {identifier: "#name", "type": "null"}
    schema = {
        "$schema": draft,
        identifier: "http://example.org/root",
        "properties": {"x": {"$ref": "root#name"}},
        definitions: {"a": {identifier: "other", "items": {**named, "type": "string"}}, "b": named},
    }
    assert reached(schema) == f"/{definitions}/b"
    schema["properties"] = {"x": {"$ref": "other#name"}}
    assert reached(schema) == f"/{definitions}/a/items"


def test_from_2019_on_a_fragment_in_an_id_names_nothing() -> None:
    schema = {"properties": {"x": {"$ref": "#name"}}, "$defs": {"a": {"$id": "#name"}}}
    assert "points at nothing" in error(schema).fact


def test_a_keyword_of_another_draft_is_no_identifier() -> None:
    properties = {"x": {"$ref": "#a"}}
    old = {"$schema": DRAFT_7, "properties": properties, "definitions": {"a": {"$anchor": "a"}}}
    assert "points at nothing" in error(old).fact
    older = {"$schema": DRAFT_4, "properties": properties, "definitions": {"a": {"$id": "#a"}}}
    assert "points at nothing" in error(older).fact


def test_up_to_draft_7_an_id_beside_a_reference_is_ignored() -> None:
    inner: dict[str, Any] = {"$id": "http://example.org/b/", "$ref": "s.json"}
    texts = {"$id": "http://example.org/b/s.json"}, {"$id": "http://example.org/a/s.json"}
    schema = {
        "$schema": DRAFT_7,
        "$id": "http://example.org/a/root",
        "properties": {"x": inner},
        "definitions": {"b": texts[0], "a": texts[1]},
    }
    assert reached(schema) == "/definitions/a"
    schema["$schema"] = DRAFT_2019
    assert reached(schema) == "/definitions/b"


@pytest.mark.parametrize("keyword", ["enum", "const", "unknown", "default", "examples"])
def test_what_is_no_schema_holds_no_identifiers(keyword: str) -> None:
    false_friend = {"$id": "http://example.org/a", "$anchor": "a"}
    holder = {keyword: [false_friend] if keyword in ("enum", "examples") else false_friend}
    schema: dict[str, Any] = {
        "properties": {"x": {"$ref": "http://example.org/a"}},
        "$defs": {"1": holder, "2": {"$id": "http://example.org/a"}, "3": holder},
    }
    assert reached(schema) == "/$defs/2"
    del schema["$defs"]["2"]
    assert "remote document" in error(schema).fact
    assert "points at nothing" in error({**schema, "properties": {"x": {"$ref": "#a"}}}).fact


def test_a_property_named_as_a_keyword_is_no_identifier() -> None:
    names: dict[str, Any] = {"$id": {"type": "null"}, "id": {"type": "null"}, "y": True}
    schema = {"properties": {"x": {"$ref": "#/$defs/a/properties/y"}}}
    assert reached({**schema, "$defs": {"a": {"properties": names}}}) == "/$defs/a/properties/y"


def test_a_schema_under_an_unknown_keyword_has_its_own_base_once_it_is_referred_to() -> None:
    hidden = {
        "$id": "http://example.org/hidden",
        "properties": {"y": {"$ref": "#/$defs/z"}},
        "$defs": {"z": {"type": "null"}},
    }
    document = Document({"unknown": {"a": hidden}, "properties": {"x": {"$ref": "#/unknown/a"}}})
    target = document.target(below(document, ("properties", "x")))
    assert target.pointer() == "/unknown/a"
    inner = document.subschema(hidden["properties"]["y"], target, ("properties", "y"))  # type: ignore[index]
    assert document.target(inner).pointer() == "/unknown/a/$defs/z"


def test_a_resource_may_be_in_another_draft() -> None:
    schema = {
        "$schema": DRAFT_2020,
        "$defs": {
            "old": {"$schema": DRAFT_4, "id": "http://example.org/old", "items": {"id": "deeper"}},
            "no": {"$schema": DRAFT_4, "items": {}},
        },
    }
    document = Document(schema)
    assert below(document, ("$defs", "old")).draft == 4
    assert below(document, ("$defs", "old"), ("items",)).draft == 4
    assert below(document, ("$defs", "no")).draft == 2020  # only a resource may say so
    schema = {"$schema": DRAFT_4, "not": {"$schema": DRAFT_2019, "$id": "new"}}
    assert below(Document(schema), ("not",)).draft == 2019


def test_one_schema_is_one_subschema_whatever_the_way() -> None:
    schema = {
        "$id": "http://example.org/root",
        "properties": {"x": {"$ref": "inner#a"}, "y": {"$ref": "#/$defs/inner/items"}},
        "$defs": {"inner": {"$id": "inner", "items": {"$anchor": "a"}}},
    }
    document = Document(schema)
    x = document.target(below(document, ("properties", "x")))
    assert document.target(below(document, ("properties", "y"))) is x
    assert below(document, ("$defs", "inner"), ("items",)) is x


def test_one_dict_in_two_resources_is_two_schemas() -> None:
    shared = {"$ref": "#/$defs/a"}
    inner = {"$id": "inner", "items": shared, "$defs": {"a": {}}}
    document = Document({"items": shared, "$defs": {"a": {}}, "not": inner})
    assert document.target(below(document, ("items",))).pointer() == "/$defs/a"
    assert document.target(below(document, ("not",), ("items",))).pointer() == "/not/$defs/a"


@pytest.mark.parametrize("depth", [10, 60])
def test_dicts_that_are_shared_are_searched_once(depth: int) -> None:
    shared: dict[str, Any] = {"$anchor": "bottom"}
    for _ in range(depth):
        shared = {"anyOf": [shared, shared]}
    schema = {"properties": {"x": {"$ref": "#bottom"}}, "$defs": {"a": shared}}
    assert reached(schema) == "/$defs/a" + "/anyOf/1" * depth


def test_two_schemas_of_one_name_are_an_error_when_it_is_used() -> None:
    schema = {
        "properties": {"x": {"$ref": "#a"}},
        "$defs": {"1": {"$anchor": "a"}, "2": {"$anchor": "a", "type": "null"}},
    }
    assert 'may mean two schemas: both are named "a"' in error(schema).fact
    schema["$defs"] = {"1": {"$id": "u:a"}, "2": {"$id": "u:a", "type": "null"}}
    schema["properties"] = {"x": {"$ref": "u:a"}}
    assert 'may mean two schemas: both have the URI "u:a"' in error(schema).fact


def test_equal_schemas_may_share_a_name() -> None:
    same = {"$anchor": "a", "type": "null"}
    schema = {"properties": {"x": {"$ref": "#a"}}, "$defs": {"1": same, "2": dict(same)}}
    assert reached(schema) in ("/$defs/1", "/$defs/2")


@pytest.mark.parametrize(
    ("schema", "mend"),
    [
        (
            {"$defs": {"a": {"$anchor": "named"}}, "properties": {"x": {"$ref": "#name"}}},
            'did you mean "#named"?',
        ),
        (
            {"$defs": {"a": {}}, "properties": {"x": {"$ref": "#$defs/a"}}},
            'did you mean "#/$defs/a"?',
        ),
        (
            {"properties": {"x": {"$ref": "#name"}}},
            'write "$anchor": "name" in the schema that is meant, or refer to it by a JSON pointer',
        ),
        (
            {"$schema": DRAFT_4, "properties": {"x": {"$ref": "#name"}}},
            'write "id": "#name" in the schema that is meant, or refer to it by a JSON pointer',
        ),
        (
            {
                "$defs": {"a": {"$id": "u", "$defs": {"thing": {}}}},
                "properties": {"x": {"$ref": "u#/$defs/thin"}},
            },
            'did you mean "u#/$defs/thing"?',
        ),
        (
            {"allOf": [{}], "properties": {"x": {"$ref": "#/allOf/01"}}},
            'add "01" at #/allOf',
        ),
        (
            {"$defs": {"a": {}}, "properties": {"x": {"$id": "u", "$ref": "#/$defs/a"}}},
            'the "$id" at /properties/x makes "#" mean the schema there: take that out',
        ),
        (
            {
                "$id": "r",
                "$defs": {"a": {}},
                "properties": {"x": {"$id": "u", "$ref": "#/$defs/a"}},
            },
            'the "$id" at /properties/x makes "#" mean the schema there: take that out,'
            ' or write "r#/$defs/a"',
        ),
    ],
)
def test_a_reference_to_nothing_is_an_error(schema: Any, mend: str) -> None:
    caught = error(schema)
    assert isinstance(caught, SchemaError)
    assert caught.fact == f'$ref "{schema["properties"]["x"]["$ref"]}" points at nothing'
    assert caught.pointer == "/properties/x/$ref"
    assert caught.mend == mend


def test_pointers_alone_never_search_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    def explore(*arguments: object) -> None:
        raise AssertionError("searched")

    monkeypatch.setattr("guided.text.json_schema.document.resource_collection.explore", explore)
    schema = {
        "$id": "http://example.org/root",
        "properties": {"x": {"$ref": "root#/$defs/a/properties/id/not"}},
        "$defs": {"a": {"properties": {"id": {"not": {"$id": "#a"}}, "$id": True}}},
    }
    assert reached(schema) == "/$defs/a/properties/id/not"
