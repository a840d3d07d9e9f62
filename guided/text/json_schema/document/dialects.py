"""The drafts of JSON Schema: their names, where they have schemas, their vocabularies."""

from __future__ import annotations

from typing import NamedTuple

from guided.text.json_schema.document.places import Json

LATEST = 2020

_NAMES = {
    "draft-04": 4,
    "draft-06": 6,
    "draft-07": 7,
    "draft/2019-09": 2019,
    "draft/2020-12": 2020,
}

# What the value of a keyword holds: a schema, an array of them, an object of them.
ONE, LIST, MAP = 1, 2, 4

_KINDS_4 = {
    "not": ONE,
    "additionalProperties": ONE,
    "additionalItems": ONE,
    "items": ONE | LIST,
    "allOf": LIST,
    "anyOf": LIST,
    "oneOf": LIST,
    "properties": MAP,
    "patternProperties": MAP,
    "dependencies": MAP,
    "definitions": MAP,
}
_KINDS_6 = _KINDS_4 | {"contains": ONE, "propertyNames": ONE}
_KINDS_7 = _KINDS_6 | {"if": ONE, "then": ONE, "else": ONE}
_KINDS_2019 = _KINDS_7 | {
    "unevaluatedItems": ONE,
    "unevaluatedProperties": ONE,
    "contentSchema": ONE,
    "dependentSchemas": MAP,
    "$defs": MAP,
}
_KINDS_2020 = {**_KINDS_2019, "items": ONE, "prefixItems": LIST}
del _KINDS_2020["additionalItems"]

# Where schemas stand, by draft and keyword; nothing else holds identifiers.
KINDS = {4: _KINDS_4, 6: _KINDS_6, 7: _KINDS_7, 2019: _KINDS_2019, 2020: _KINDS_2020}

_ASSERTIONS = (
    "type const enum multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength"
    " minLength pattern maxItems minItems uniqueItems maxContains minContains maxProperties"
    " minProperties required dependentRequired"
)
_APPLICATORS = (
    "items contains additionalProperties properties patternProperties dependentSchemas"
    " dependencies propertyNames if then else allOf anyOf oneOf not"
)
_UNEVALUATED = " unevaluatedItems unevaluatedProperties"

# Keywords by vocabulary; those without effect on validity are left out.
_VOCABULARIES = {
    2019: {
        "core": "",
        "applicator": f"additionalItems {_APPLICATORS}{_UNEVALUATED}",
        "validation": _ASSERTIONS,
        "meta-data": "",
        "format": "format",
        "content": "",
    },
    2020: {
        "core": "",
        "applicator": f"prefixItems {_APPLICATORS}",
        "unevaluated": _UNEVALUATED,
        "validation": _ASSERTIONS,
        "meta-data": "",
        "format-annotation": "format",
        "format-assertion": "format",
        "content": "",
    },
}
_VOCABULARY_URIS = {
    2019: "https://json-schema.org/draft/2019-09/vocab/",
    2020: "https://json-schema.org/draft/2020-12/vocab/",
}


class Dialect(NamedTuple):
    """What the keywords of a schema mean.

    Attributes:
        draft: 4, 6, 7, 2019 or 2020.
        silent: keywords of the draft that say nothing, as their vocabulary is not in use.
    """

    draft: int
    silent: frozenset[str] = frozenset()


STANDARD = {draft: Dialect(draft) for draft in KINDS}

# As they are mostly written.
_USUAL = {
    f"{scheme}://json-schema.org/{name}/schema{end}": STANDARD[draft]
    for name, draft in _NAMES.items()
    for scheme in ("http", "https")
    for end in ("", "#")
}


def standard_dialect(uri: str) -> Dialect | None:
    """Return the dialect that a `$schema` names, None if it is none of the drafts known here."""
    usual = _USUAL.get(uri)
    if usual is not None:
        return usual
    if not uri or uri.rstrip("#").endswith("json-schema.org/schema"):
        return STANDARD[LATEST]
    for name, draft in _NAMES.items():
        if f"json-schema.org/{name}/" in uri:
            return STANDARD[draft]
    return None


def with_vocabularies(base: Dialect, vocabularies: Json) -> Dialect | None:
    """Return the dialect with the `$vocabulary` of a meta-schema of that draft.

    None if it requires a vocabulary that is not known here.
    """
    known = _VOCABULARIES.get(base.draft)
    if known is None or not isinstance(vocabularies, dict):
        return base
    spoken: set[str] = set()
    for uri, is_required in vocabularies.items():
        name = uri.removeprefix(_VOCABULARY_URIS[base.draft])
        if name in known and name != uri:
            spoken.update(known[name].split())
        elif is_required is not False:
            return None
    every = {keyword for keywords in known.values() for keyword in keywords.split()}
    return Dialect(base.draft, frozenset(every - spoken))
