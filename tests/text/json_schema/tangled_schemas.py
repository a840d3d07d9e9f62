"""Random schemas in all drafts that say much of few values: keywords beside and within each other.

Unlike those of `random_schemas` they look like no schema anybody writes; they are there to get
every keyword negated, counted, and combined with every other one.
"""

from __future__ import annotations

import random
from typing import Any

DIALECTS = {
    4: "http://json-schema.org/draft-04/schema#",
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    2019: "https://json-schema.org/draft/2019-09/schema",
    2020: "https://json-schema.org/draft/2020-12/schema",
}

NAMES = ["a", "b", "ab", "c"]
PATTERNS = ["^a", "b", "^.$"]
TYPES = ["string", "integer", "object", "array", "null", "boolean", "number"]

PARTS = ["properties", "patternProperties", "additionalProperties", "propertyNames", "items"]
PARTS += ["prefixItems", "contains", "unevaluatedProperties", "unevaluatedItems"]
COUNTS = ["minProperties", "maxProperties", "minItems", "maxItems", "minLength", "maxLength"]
UNIONS = ["allOf", "anyOf", "oneOf", "oneOf", "not", "if", "dependencies", "dependencies"]
OTHERS = ["type", "enum", "required", "uniqueItems", "pattern", "minimum", "multipleOf", "$ref"]
KEYWORDS = [*PARTS, *COUNTS, *UNIONS, *OTHERS, "properties", "required"]
OF_OBJECTS = [*PARTS[:4], *PARTS[7:8], *COUNTS[:2], *UNIONS, *UNIONS, "properties", "required"]

Schema = dict[str, Any] | bool


def tangled_schema(seed: int) -> dict[str, Any]:
    """Return the schema of a seed."""
    maker = _Maker(random.Random(seed))
    definitions = {"x": maker.schema(2), "y": maker.schema(1)}
    return {"$schema": DIALECTS[maker.draft], **maker.keywords(3), "definitions": definitions}


def simple_value(chance: random.Random, depth: int = 3) -> Any:
    """Draw a value that such schemas speak of."""
    match chance.choice(["null", "boolean", "number", "string", "array", "object", "object"]):
        case "null":
            return None
        case "boolean":
            return chance.random() < 0.5
        case "number":
            return chance.choice([0, 1, 2, 3, -1, 1.5])
        case "string":
            return chance.choice(["", "a", "b", "ab", "abc"])
        case "array":
            return [_part(chance, depth) for _ in range(chance.randrange(4))]
        case _:
            names = chance.sample(NAMES, chance.randrange(4))
            return {name: _part(chance, depth) for name in names}


def _part(chance: random.Random, depth: int) -> Any:
    return simple_value(chance, depth - 1) if depth > 1 else chance.choice([1, "a", None])


class _Maker:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.draft = chance.choice(list(DIALECTS))
        self.pool = chance.choice([KEYWORDS, OF_OBJECTS])

    def schema(self, depth: int) -> Schema:
        if depth == 0 or self.chance.random() < 0.1:
            return self.leaf()
        return self.keywords(depth)

    def leaf(self) -> Schema:
        values = self.chance.choice([[1], ["a"], [{"a": 1}], [[1]], [1, "a"], [None]])
        leaves: list[Schema] = [
            {},
            {"type": self.chance.choice(TYPES)},
            {"minimum": 1},
            {"enum": values},
            {"maxLength": 1},
            {"minProperties": 1},
            {"maxItems": 1},
        ]
        return self.chance.choice([*leaves, True, False] if self.draft > 4 else leaves)

    def keywords(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {}
        for keyword in self.chance.sample(self.pool, self.chance.choice([1, 1, 2, 2, 3, 4])):
            self.add(schema, keyword, depth - 1)
        return schema

    def add(self, schema: dict[str, Any], keyword: str, depth: int) -> None:
        chance = self.chance
        match keyword:
            case "properties":
                schema[keyword] = {name: self.schema(depth) for name in self.names()}
            case "patternProperties":
                texts = chance.sample(PATTERNS, chance.randrange(1, 3))
                schema[keyword] = {text: self.schema(depth) for text in texts}
            case "prefixItems":
                items = [self.schema(depth) for _ in range(chance.randrange(1, 3))]
                schema[keyword if self.draft == 2020 else "items"] = items
                if self.draft < 2020 and chance.random() < 0.5:
                    schema["additionalItems"] = self.schema(depth)
            case "contains":
                schema[keyword] = self.schema(depth)
                for bound in ("minContains", "maxContains"):
                    if chance.random() < 0.4:
                        schema[bound] = chance.randrange(3)
            case "allOf" | "anyOf" | "oneOf":
                schema[keyword] = [self.schema(depth) for _ in range(chance.randrange(1, 4))]
            case "if":
                for part in ("if", "then", "else"):
                    if chance.random() < 0.7:
                        schema[part] = self.schema(depth)
            case "dependencies":
                self.add_dependency(schema, depth)
            case "required":
                schema[keyword] = self.names()
            case "$ref":
                schema[keyword] = f"#/definitions/{chance.choice('xy')}"
            case _ if keyword in PARTS or keyword == "not":
                schema[keyword] = self.schema(depth)
            case _ if keyword in COUNTS:
                schema[keyword] = chance.randrange(3)
            case _:
                self.add_scalar(schema, keyword)

    def add_scalar(self, schema: dict[str, Any], keyword: str) -> None:
        chance = self.chance
        match keyword:
            case "type":
                schema[keyword] = chance.choice([*TYPES, ["object", "string"], ["array", "null"]])
            case "enum":
                schema[keyword] = [simple_value(chance, 1) for _ in range(chance.randrange(1, 4))]
            case "uniqueItems":
                schema[keyword] = chance.random() < 0.3
            case "pattern":
                schema[keyword] = chance.choice(PATTERNS)
            case "multipleOf":
                schema[keyword] = chance.choice([1, 2, 0.5, 1.5])
            case _:
                schema["minimum"] = chance.choice([0, 1, 1.5])
                if self.draft == 4:
                    schema["exclusiveMinimum"] = chance.random() < 0.5
                else:
                    schema["exclusiveMaximum"] = chance.choice([1, 2, 3])

    def add_dependency(self, schema: dict[str, Any], depth: int) -> None:
        name, needs_names = self.chance.choice(NAMES), self.chance.random() < 0.4
        needs = self.names() if needs_names else self.schema(depth)
        if self.draft <= 7:
            schema["dependencies"] = {name: needs}
        else:
            schema["dependentRequired" if needs_names else "dependentSchemas"] = {name: needs}

    def names(self) -> list[str]:
        return self.chance.sample(NAMES, self.chance.randrange(1, 3))
