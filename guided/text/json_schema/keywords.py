"""The keywords of JSON Schema, each in one of three closed lists; others are unknown.

Enforced keywords have a handler in `assertions` or `reader`. Annotations never make a value
invalid. Refused ones could, and are not enforced yet.
"""

from __future__ import annotations

# "$defs" and "definitions" hold schemas for others to refer to; those are read when they are
# referred to. Anchors name a place; it is the references to them that are refused. "$vocabulary"
# speaks to meta-schemas.
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

REFUSED = frozenset(
    {
        "$dynamicRef",
        "$recursiveRef",
        "oneOf",
        "dependentSchemas",
        "dependentRequired",
        "dependencies",
        "patternProperties",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
        "contains",
        "multipleOf",
        "format",
    }
)

# Keywords that do nothing without another beside them: (the other, or others, of which one must be
# there).
COMPANIONS = {
    "if": ("then", "else"),
    "then": ("if",),
    "else": ("if",),
    "minContains": ("contains",),
    "maxContains": ("contains",),
}
