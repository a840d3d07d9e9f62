"""References in random documents, against the library `referencing` and against urljoin."""

from __future__ import annotations

import random
from typing import Any
from urllib.parse import urljoin

import pytest
import referencing.jsonschema
from referencing import Registry
from referencing.exceptions import Unresolvable

from guided.errors import GuidedError
from guided.text.json_schema.document.document import Document
from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.document.uris import join

KEYWORDS = ("items", "not", "additionalProperties", "contains")
MAPS = ("properties", "definitions")
LISTS = ("allOf", "anyOf")
# No two of them can become the same URI.
IDENTIFIERS = ("a", "b", "c/", "c/d", "../e", "/c/f", "http://example.org/x/g", "urn:h")
FRAGMENTS = ("", "#", "#n", "#m", "#/items", "#/definitions/a", "#/allOf/0/items", "#/unknown/a")
DRAFTS = {
    4: ("http://json-schema.org/draft-04/schema#", referencing.jsonschema.DRAFT4),
    7: ("http://json-schema.org/draft-07/schema#", referencing.jsonschema.DRAFT7),
    2019: ("https://json-schema.org/draft/2019-09/schema", referencing.jsonschema.DRAFT201909),
    2020: ("https://json-schema.org/draft/2020-12/schema", referencing.jsonschema.DRAFT202012),
}


def _schema(draw: random.Random, draft: int, depth: int, free: list[str]) -> dict[str, Any]:
    """Draw a schema; no two have one identifier."""
    schema: dict[str, Any] = {"title": str(draw.random())}  # no two are equal
    identifier = "id" if draft == 4 else "$id"
    if draw.random() < 0.3 and free:
        schema[identifier] = free.pop()
    elif draw.random() < 0.2:
        name = draw.choice("nm")
        key, value = ("$anchor", name) if draft > 7 else (identifier, f"#{name}")
        schema[key] = value
    if depth:
        below = [_schema(draw, draft, depth - 1, free) for _ in range(3)]
        schema[draw.choice(KEYWORDS if draft > 4 else KEYWORDS[:3])] = below[0]
        schema[draw.choice(MAPS)] = {"a": below[1]}
        schema[draw.choice(LISTS)] = [below[2]]
        if draw.random() < 0.2:
            schema["unknown"] = {"a": _schema(draw, draft, 0, [])}
    return schema


def _walk(document: Document) -> list[Subschema]:
    """Return all the schemas where schemas belong."""
    found = [document.root]
    for schema in found:
        for keyword, value in schema.value.items():
            if keyword in KEYWORDS:
                found.append(document.subschema(value, schema, (keyword,)))
            elif keyword in MAPS:
                found += [document.subschema(value[k], schema, (keyword, k)) for k in value]
            elif keyword in LISTS:
                found += [document.subschema(v, schema, (keyword, i)) for i, v in enumerate(value)]
    return found


def _bases(schema: Any, draft: int, resolver: Any, into: dict[int, Any]) -> None:
    specification = DRAFTS[draft][1]
    inner = resolver.in_subresource(specification.create_resource(schema))
    into[id(schema)] = inner
    for keyword, value in schema.items():
        if keyword in KEYWORDS:
            _bases(value, draft, inner, into)
        elif keyword in MAPS or keyword in LISTS:
            for child in value.values() if isinstance(value, dict) else value:
                _bases(child, draft, inner, into)


@pytest.mark.parametrize("draft", list(DRAFTS))
@pytest.mark.parametrize("seed", range(12))
def test_references_lead_where_the_library_says(draft: int, seed: int) -> None:
    draw = random.Random(f"{draft} {seed}")
    free = draw.sample(IDENTIFIERS, len(IDENTIFIERS))
    root = _schema(draw, draft, 3, free)
    root["$schema"] = DRAFTS[draft][0]
    root["id" if draft == 4 else "$id"] = "http://example.org/root"
    # As there are below; a document without references is not parted into resources.
    root["examples"] = [{"$ref": "#"}]
    registry: Registry[Any] = Registry()
    resolver = registry.resolver_with_root(DRAFTS[draft][1].create_resource(root))
    resolvers: dict[int, Any] = {}
    _bases(root, draft, resolver, resolvers)
    schemas = _walk(Document(root))
    compared = 0
    for schema in draw.sample(schemas, min(20, len(schemas))):
        document = Document(root)
        reference = draw.choice(("", *IDENTIFIERS)) + draw.choice(FRAGMENTS)
        here = next(one for one in _walk(document) if one.value is schema.value)
        asking = Subschema({"$ref": reference}, here, ("test",))
        try:
            wanted = resolvers[id(here.value)].lookup(reference).contents
        except Unresolvable:
            continue
        try:
            found = document.target(asking)
        except GuidedError as error:
            if "may mean two schemas" not in error.fact:  # the library takes the last of them
                raise
        else:
            assert found.value is wanted, (reference, here.pointer())
            compared += 1
    assert compared


@pytest.mark.parametrize("seed", range(20))
def test_uris_are_joined_as_urljoin_does_where_it_knows_the_scheme(seed: int) -> None:
    draw = random.Random(seed)
    segments = ("a", "b.c", "", ".", "..", "d")
    for _ in range(200):
        base = "http://example.org" + "".join(
            f"/{draw.choice(segments[:2])}" for _ in range(draw.randrange(1, 4))
        )
        reference = "/".join(draw.choice(segments) for _ in range(draw.randrange(1, 5)))
        if "//" in reference:  # urljoin takes empty segments out, against the standard
            continue
        if draw.random() < 0.3:
            reference += "?q=/.."
        assert join(base, reference) == urljoin(base, reference), (base, reference)


# RFC 3986, sections 5.4.1 and 5.4.2, without those that have a fragment.
EXAMPLES = {
    "g:h": "g:h", "g": "x://a/b/c/g", "./g": "x://a/b/c/g", "g/": "x://a/b/c/g/",
    "/g": "x://a/g", "//g": "x://g", "?y": "x://a/b/c/d;p?y", "g?y": "x://a/b/c/g?y",
    ";x": "x://a/b/c/;x", "g;x": "x://a/b/c/g;x", "g;x?y": "x://a/b/c/g;x?y",
    "": "x://a/b/c/d;p?q", ".": "x://a/b/c/", "./": "x://a/b/c/", "..": "x://a/b/",
    "../": "x://a/b/", "../g": "x://a/b/g", "../..": "x://a/", "../../": "x://a/",
    "../../g": "x://a/g", "../../../g": "x://a/g", "../../../../g": "x://a/g",
    "/./g": "x://a/g", "/../g": "x://a/g", "g.": "x://a/b/c/g.", ".g": "x://a/b/c/.g",
    "g..": "x://a/b/c/g..", "..g": "x://a/b/c/..g", "./../g": "x://a/b/g",
    "./g/.": "x://a/b/c/g/", "g/./h": "x://a/b/c/g/h", "g/../h": "x://a/b/c/h",
    "g;x=1/./y": "x://a/b/c/g;x=1/y", "g;x=1/../y": "x://a/b/c/y",
    "g?y/./x": "x://a/b/c/g?y/./x", "g?y/../x": "x://a/b/c/g?y/../x",
}  # fmt: skip


@pytest.mark.parametrize(("reference", "wanted"), EXAMPLES.items())
def test_uris_are_joined_as_the_standard_shows(reference: str, wanted: str) -> None:
    assert join("x://a/b/c/d;p?q", reference) == wanted


@pytest.mark.parametrize(
    ("base", "reference", "wanted"),
    [
        ("", "a/b", "a/b"),
        ("", "./a", "a"),
        ("root.json", "other.json", "other.json"),
        ("a/root.json", "../other.json", "other.json"),
        ("urn:uuid:1", "urn:uuid:2", "urn:uuid:2"),
        ("urn:a/b", "c", "urn:a/c"),
        ("tag:example.org,2020:a/b", "c", "tag:example.org,2020:a/c"),
        ("x://host", "c", "x://host/c"),
        ("file:///folder/a.json", "b.json", "file:///folder/b.json"),
    ],
)
def test_any_scheme_and_none_can_be_a_base(base: str, reference: str, wanted: str) -> None:
    assert join(base, reference) == wanted
