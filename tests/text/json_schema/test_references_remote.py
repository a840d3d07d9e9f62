"""Documents outside the schema: the registry, the meta-schemas, and the dialects they define."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT4, DRAFT7, DRAFT202012

from guided.errors import SchemaError, UnsupportedError
from guided.text.json_schema.document.document import Document
from tests.text.json_schema.test_references_identifiers import (
    DRAFT_4,
    DRAFT_7,
    DRAFT_2020,
    below,
)

BASE = "http://example.org/"


def registry(**documents: Any) -> Registry[Any]:
    pairs = [(BASE + uri, DRAFT202012.create_resource(value)) for uri, value in documents.items()]
    return Registry().with_resources(pairs)


@pytest.mark.parametrize(
    ("reference", "pointer"),
    [
        (f"{BASE}one", f"{BASE}one#"),
        ("one#", f"{BASE}one#"),
        ("one#/$defs/a~0b", f"{BASE}one#/$defs/a~0b"),
        ("one#named", f"{BASE}one#/$defs/n"),
        ("two", f"{BASE}two#"),
        ("one#/items", f"{BASE}one#/items"),
        ("self", f"{BASE}self#"),  # the registry knows it by its own $id too
        ("folder/part", f"{BASE}folder/part#"),
    ],
)
def test_a_registered_document_is_found(reference: str, pointer: str) -> None:
    documents = registry(
        one={"$defs": {"a~b": {}, "n": {"$anchor": "named"}}, "items": {"$ref": "two"}},
        two={},
        other={"$id": f"{BASE}self"},
        folder={"$id": f"{BASE}folder/", "$defs": {"p": {"$id": "part"}}},
    )
    document = Document({"$id": f"{BASE}root", "$ref": reference}, registry=documents)
    assert document.target(document.root).pointer() == pointer


def test_references_of_a_remote_document_are_relative_to_it() -> None:
    documents = registry(**{"a/one": {"not": {"$ref": "two"}, "$ref": "#/not"}, "a/two": {}})
    document = Document({"$id": f"{BASE}root", "$ref": "a/one"}, registry=documents)
    one = document.target(document.root)
    inner = document.target(one)
    assert inner.pointer() == f"{BASE}a/one#/not"
    assert inner.short_pointer() == "/not"
    assert document.target(inner).pointer() == f"{BASE}a/two#"


def test_a_remote_document_may_refer_back() -> None:
    documents = registry(one={"$ref": "root#/$defs/a"})
    schema = {"$id": f"{BASE}root", "$ref": "one", "$defs": {"a": {"$ref": "one"}}}
    document = Document(schema, registry=documents)
    one = document.target(document.root)
    back = document.target(one)
    assert back is below(document, ("$defs", "a"))
    assert document.target(back) is one


def test_what_is_in_the_document_comes_first() -> None:
    documents = registry(one={"type": "null"})
    schema = {"$id": f"{BASE}root", "$ref": "one", "$defs": {"a": {"$id": "one"}}}
    document = Document(schema, registry=documents)
    assert document.target(document.root).pointer() == "/$defs/a"


def test_the_draft_of_a_remote_document() -> None:
    documents = (
        registry(said={"$schema": DRAFT_4}, seven={"$schema": DRAFT_7, "$ref": "bare"})
        .with_resource(f"{BASE}known", DRAFT4.create_resource({}))
        .with_resource(f"{BASE}bare", Resource.opaque({}))
    )
    drafts = {}
    for name in ("said", "known", "seven", "bare"):
        schema = {"$id": f"{BASE}root", "$ref": name}
        document = Document(schema, registry=documents)
        drafts[name] = document.target(document.root).draft
    assert drafts == {"said": 4, "known": 4, "seven": 7, "bare": 2020}
    document = Document({"$id": f"{BASE}root", "$ref": "seven"}, registry=documents)
    assert document.target(document.target(document.root)).draft == 7  # as who refers to it


def test_a_pointer_to_nothing_in_a_remote_document() -> None:
    documents = registry(one={"$defs": {"item": {}}, "items": {"$ref": "#/$defs/itm"}})
    document = Document({"$ref": f"{BASE}one#/items"}, registry=documents)
    items = document.target(document.root)
    with pytest.raises(SchemaError) as caught:
        document.target(items)
    assert caught.value.pointer == f"{BASE}one#/items/$ref"
    assert caught.value.mend == 'did you mean "#/$defs/item"?'


def test_a_document_that_is_not_registered() -> None:
    document = Document({"$ref": "one#/a"}, registry=registry())
    with pytest.raises(UnsupportedError) as caught:
        document.target(document.root)
    assert str(caught.value) == (
        '$ref "one#/a" points at a remote document, and those are never fetched'
        " (scope: docs/json-schema.md)\n"
        "  at /$ref\n"
        '  mend: pass registry=, a referencing.Registry that holds "one",'
        ' or copy the schema under "$defs"'
    )


def test_a_registry_may_retrieve() -> None:
    asked: list[str] = []

    def retrieve(uri: str) -> Resource[Any]:
        asked.append(uri)
        if uri.endswith("broken"):
            raise OSError("no route")
        return DRAFT7.create_resource({})

    documents: Registry[Any] = Registry(retrieve=retrieve)  # type: ignore[call-arg]
    schema = {"allOf": [{"$ref": "u:a#"}, {"$ref": "u:a"}, {"$ref": "u:broken"}]}
    document = Document(schema, registry=documents)
    first, second = (document.target(below(document, ("allOf", index))) for index in (0, 1))
    assert first is second
    assert first.draft == 7
    for _ in range(2):
        with pytest.raises(UnsupportedError, match="cannot be retrieved: no route"):
            document.target(below(document, ("allOf", 2)))
    assert asked == ["u:a", "u:broken"]


@pytest.mark.parametrize(
    ("reference", "draft"),
    [
        (DRAFT_4, 4),
        (DRAFT_7, 7),
        ("http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger", 7),
        (DRAFT_2020, 2020),
        ("https://json-schema.org/draft/2020-12/meta/core#/$defs/anchorString", 2020),
    ],
)
def test_the_metaschemas_are_always_there(reference: str, draft: int) -> None:
    document = Document({"$ref": reference})
    assert document.target(document.root).draft == draft


def test_nothing_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys; from guided.text.json_schema.document.document import Document;"
        " d = Document({'$ref': '#/$defs/a', '$defs': {'a': {'$anchor': 'x'}}});"
        " d.target(d.target(d.root).__class__({'$ref': '#x'}, d.root, ()));"
        " print([m for m in ('referencing', 'jsonschema_specifications') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_metaschema_in_the_registry_makes_a_dialect() -> None:
    vocabulary = "https://json-schema.org/draft/2020-12/vocab/"
    documents = registry(
        meta={
            "$schema": DRAFT_2020,
            "$vocabulary": {
                f"{vocabulary}core": True,
                f"{vocabulary}applicator": True,
                "u:x": False,
            },
        },
        old={"$schema": DRAFT_7},
        strange={"$schema": DRAFT_2020, "$vocabulary": {"u:x": True}},
        circle={"$schema": f"{BASE}circle"},
    )
    schema = {"$schema": f"{BASE}meta", "minimum": 1, "items": {"type": "null", "not": {}}}
    document = Document(schema, registry=documents)
    assert not document.is_foreign
    assert document.draft == 2020
    # Without the vocabulary for validation those keywords say nothing.
    assert document.root.value.keys() == {"$schema", "items"}
    assert below(document, ("items",)).value == {"not": {}}
    assert Document({"$schema": f"{BASE}old"}, registry=documents).draft == 7
    for uri in ("strange", "circle", "missing"):
        assert Document({"$schema": BASE + uri}, registry=documents).is_foreign
    assert Document({"$schema": f"{BASE}meta"}).is_foreign


def test_a_resource_in_a_dialect_that_is_not_known_is_refused_when_it_is_used() -> None:
    schema = {"$defs": {"a": {"$schema": "u:dialect", "$id": "u:a"}}, "$ref": "u:a"}
    with pytest.raises(UnsupportedError) as caught:
        Document(schema).target(Document(schema).root)
    assert caught.value.keyword == "$schema"
    assert caught.value.place == "at /$defs/a/$schema"
    refused: list[str] = []
    document = Document(schema)
    document.refuse = lambda at, keyword, fact: refused.append(f"{at.pointer(keyword)}: {fact}")
    assert document.target(document.root).pointer() == "/$defs/a"
    assert refused == ['/$defs/a/$schema: the dialect "u:dialect" is not supported']


def test_the_metaschema_is_one_scope() -> None:
    """All its parts refer back dynamically, always to the same whole."""
    document = Document({"$ref": DRAFT_2020})
    todo = [document.target(document.root)]
    seen = set(todo)
    while todo:
        schema = todo.pop()
        value = schema.value
        found = [document.target(schema, key) for key in ("$ref", "$dynamicRef") if key in value]
        for keyword in ("properties", "$defs"):
            for name, child in value.get(keyword, {}).items():
                found.append(document.subschema(child, schema, (keyword, name)))
        for index, child in enumerate(value.get("allOf", ())):
            found.append(document.subschema(child, schema, ("allOf", index)))
        todo += [one for one in found if one not in seen and isinstance(one.value, dict)]
        seen.update(found)
    texts = {
        json.dumps(one.value, sort_keys=True) + one.pointer()
        for one in seen
        if one.value is not True
    }
    assert len(texts) == sum(one.value is not True for one in seen)
