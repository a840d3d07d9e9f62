"""The keywords of JSON Schema, and the drafts that know them; others are unknown.

Keywords that constrain have a handler in `assertions`, `child_schemas` or `combinations`.
Annotations never make a value invalid.
"""

from __future__ import annotations

from collections.abc import Iterable

DRAFTS = (4, 6, 7, 2019, 2020)

# "$defs" and "definitions" hold schemas for others to refer to; those are read when they are
# referred to. Anchors name a place. "$vocabulary" speaks to meta-schemas.
ANNOTATIONS = frozenset(
    {
        "$schema",
        "$id",
        "id",
        "$comment",
        "$defs",
        "definitions",
        "$anchor",
        "$dynamicAnchor",
        "$recursiveAnchor",
        "$vocabulary",
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "contentMediaType",
        "contentEncoding",
        "contentSchema",
    }
)

# Keywords whose schemas must all fit, and those that list values.
CONJUNCTIONS = ("$ref", "$dynamicRef", "$recursiveRef", "allOf", "const", "enum")

# Keywords that are read with another, and say nothing without it.
COMPANIONS = ("then", "else", "minContains", "maxContains", "additionalItems")

_SINCE = {
    "const": 6,
    "contains": 6,
    "propertyNames": 6,
    "if": 7,
    "then": 7,
    "else": 7,
    "minContains": 2019,
    "maxContains": 2019,
    "dependentRequired": 2019,
    "dependentSchemas": 2019,
    "unevaluatedItems": 2019,
    "unevaluatedProperties": 2019,
    "prefixItems": 2020,
    "$dynamicRef": 2020,
    "$recursiveRef": 2019,
}
_UNTIL = {"dependencies": 7, "additionalItems": 2019, "$recursiveRef": 2019}


# How a keyword is read. Numbers, as an enum would cost a third more time in the loop over keywords.
ANNOTATION, ASSERTION, PART, CONJUNCTION, UNION = range(5)


def kinds_of(
    draft: int, assertions: Iterable[str], parts: Iterable[str], unions: Iterable[str]
) -> dict[str, int]:
    """Return the keywords that a draft knows."""
    kinds = dict.fromkeys((*ANNOTATIONS, *COMPANIONS), ANNOTATION)
    kinds.update(dict.fromkeys(assertions, ASSERTION))
    kinds.update(dict.fromkeys(parts, PART))
    kinds.update(dict.fromkeys(CONJUNCTIONS, CONJUNCTION))
    kinds.update(dict.fromkeys(unions, UNION))
    return {
        keyword: kind
        for keyword, kind in kinds.items()
        if _SINCE.get(keyword, 0) <= draft <= _UNTIL.get(keyword, 9999)
    }
