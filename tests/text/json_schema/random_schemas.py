"""Random schemas by a seed: of real shape, with any keywords beside each other, and recursive.

Most fit something, as sizes, names and bounds are drawn from few that go together.
"""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

NAMES = ["a", "b", "c", "ab", "xa", 'q"t', "é"]
WORDS = ["", "a", "b", "ab", "ba", "abc", "é", "😀a", 'a"b', "x1", "1", "a b", "\\", "\n"]
PATTERNS = ["a", "^a", "b$", "^[ab]*$", "^.{1,3}$", "[0-9]", "^(a|b)c?$", "^[^a]", "^x?[a-c]+$"]
KEY_PATTERNS = ["^a", "b$", "^x", "[0-9]", "^.$", "^[a-z]{2}$"]
FORMATS = ["date", "time", "date-time", "ipv4", "ipv6", "email", "hostname", "uri"]
FORMATS += ["json-pointer", "uri-reference", "regex"]
LATER_FORMATS = ["uuid", "duration"]  # unknown to draft 7
NUMBERS: list[int | Decimal] = [-3, -1, 0, 1, 2, 3, 5, 10, 100]
NUMBERS += [Decimal(text) for text in ("0.5", "-0.5", "1.5", "2.25", "0.1", "99.99", "1e3")]
STEPS: list[int | Decimal] = [1, 2, 3, 5, 7, 10, Decimal("0.5"), Decimal("0.1"), Decimal("0.25")]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]

DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"

Schema = dict[str, Any] | bool


def random_schema(seed: int) -> dict[str, Any]:
    """Return the schema of a seed; equal seeds, equal schemas."""
    return _Maker(seed).document()


class _Maker:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.draft = self.random.choice([DRAFT_2020] * 6 + [DRAFT_7] * 3 + [DRAFT_2019])
        self.definitions = self.random.choice([0, 0, 1, 2, 3])
        self.keyword = "definitions" if self.draft == DRAFT_7 else "$defs"
        # How often what is rarer in real schemas comes up.
        self.oddity = self.random.choice([0.05, 0.2, 0.5, 0.8])

    def document(self) -> dict[str, Any]:
        root = self.schema(self.random.choice([1, 2, 2, 3, 3]))
        while isinstance(root, bool):
            root = self.schema(3)
        if self.draft == DRAFT_7 and "$ref" in root:
            root = {"allOf": [root]}
        if self.definitions:
            names = [f"d{index}" for index in range(self.definitions)]
            root[self.keyword] = {name: self.schema(2) for name in names}
        return {"$schema": self.draft, **root}

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def odd(self) -> bool:
        return self.chance(self.oddity)

    def some(self, texts: list[str], most: int) -> list[str]:
        return self.random.sample(texts, self.random.randrange(1, most + 1))

    def schema(self, depth: int) -> Schema:
        if self.chance(0.03):
            return self.chance(0.8)
        if self.definitions and self.chance(0.2 if depth > 0 else 0.05):
            return self.reference()
        if depth > 0 and self.odd():
            return self.combined(depth)
        return self.typed(depth)

    def reference(self) -> dict[str, Any]:
        schema = {"$ref": f"#/{self.keyword}/d{self.random.randrange(self.definitions)}"}
        if self.draft != DRAFT_7 and self.odd():
            schema |= self.typed(0)
        return schema

    def combined(self, depth: int) -> dict[str, Any]:
        kinds = ["allOf", "anyOf", "anyOf", "oneOf", "oneOf", "not", "if"]
        kind = self.random.choice(kinds)
        schema = self.typed(depth - 1) if self.chance(0.6) else {}
        match kind:
            case "not":
                schema["not"] = self.schema(depth - 1)
            case "if":
                for keyword in ("if", "then", "else"):
                    if keyword == "if" or self.chance(0.7):
                        schema[keyword] = self.fragment(depth - 1)
            case _:
                same = self.chance(0.5)
                branch = self.fragment if same else self.schema
                schema[kind] = [branch(depth - 1) for _ in range(self.random.randrange(1, 4))]
        return schema

    def fragment(self, depth: int) -> Schema:
        """Return a schema without a type: a constraint on what another one describes."""
        schema = self.typed(depth)
        schema.pop("type", None)
        return schema

    def typed(self, depth: int) -> dict[str, Any]:
        deep = ["object"] * 4 + ["array"] * 2 if depth > 0 else []
        kind = self.random.choice([*TYPES, "string", "integer", "enum", *deep])
        schema: dict[str, Any] = {"type": kind}
        match kind:
            case "enum":
                return self.enumeration()
            case "string":
                schema |= self.string()
            case "integer" | "number":
                schema |= self.number()
            case "array" if depth > 0:
                schema |= self.array(depth)
            case "object" if depth > 0:
                schema |= self.object(depth)
        if self.odd():
            schema["type"] = self.random.sample([kind, *TYPES], 2)
            if len(set(schema["type"])) < 2:
                schema.pop("type")
        if self.odd():
            schema |= self.random.choice([self.string, self.number])()
        return schema

    def enumeration(self) -> dict[str, Any]:
        if self.chance(0.3):
            return {"const": self.value(1)}
        values: list[Any] = []
        for _ in range(self.random.randrange(1, 5)):
            value = self.value(1)
            if value not in values:  # True is 1 here, too: then it is left out
                values.append(value)
        return {"enum": values}

    def value(self, depth: int) -> Any:
        kinds = ["null", "boolean", "number", "string", "string", "string"]
        match self.random.choice([*kinds, *(["array", "object"] if depth > 0 else [])]):
            case "null":
                return None
            case "boolean":
                return self.chance(0.5)
            case "number":
                return self.random.choice(NUMBERS)
            case "string":
                return self.random.choice(WORDS)
            case "array":
                return [self.value(depth - 1) for _ in range(self.random.randrange(3))]
            case _:
                return {name: self.value(depth - 1) for name in self.some(NAMES, 2)}

    def string(self) -> dict[str, Any]:
        schema: dict[str, Any] = {}
        kind = self.random.choice(["plain", "plain", "length", "pattern", "format", "mixed"])
        if kind in ("length", "mixed"):
            low = self.random.choice([0, 1, 2, 5])
            if self.chance(0.7):
                schema["maxLength"] = low + self.random.choice([0, 1, 3, 20])
            schema["minLength"] = low
        if kind == "pattern" or (kind == "mixed" and self.odd()):
            schema["pattern"] = self.random.choice(PATTERNS)
        if kind == "format":
            known = FORMATS if self.draft == DRAFT_7 else [*FORMATS, *LATER_FORMATS]
            schema["format"] = self.random.choice(known)
        return schema

    def number(self) -> dict[str, Any]:
        schema: dict[str, Any] = {}
        kind = self.random.choice(["plain", "plain", "low", "high", "both", "step"])
        low, high = sorted(self.random.sample(NUMBERS, 2))
        if kind in ("low", "both"):
            schema[self.random.choice(["minimum", "minimum", "exclusiveMinimum"])] = low
        if kind in ("high", "both"):
            schema[self.random.choice(["maximum", "maximum", "exclusiveMaximum"])] = high
        if kind == "step" or self.odd():
            schema["multipleOf"] = self.random.choice(STEPS)
        return schema

    def array(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {}
        first = [self.schema(depth - 1) for _ in range(self.random.choice([0, 0, 0, 1, 2, 3]))]
        rest = self.schema(depth - 1) if self.chance(0.8) else None
        if self.draft == DRAFT_2020:
            schema |= {"prefixItems": first} if first else {}
            schema |= {"items": rest} if rest is not None else {}
        elif first:
            schema["items"] = first
            schema |= {"additionalItems": rest} if rest is not None else {}
        elif rest is not None:
            schema["items"] = rest
        if self.chance(0.4):
            low = self.random.choice([0, 1, 2, 3])
            schema["minItems"] = low
            if self.chance(0.6):
                schema["maxItems"] = low + self.random.choice([0, 1, 2, 5])
        if self.odd():
            schema["contains"] = self.schema(depth - 1)
            if self.draft != DRAFT_7 and self.chance(0.5):
                schema["minContains"] = self.random.choice([0, 1, 2])
                if self.chance(0.5):
                    schema["maxContains"] = schema["minContains"] + self.random.choice([0, 1])
        if self.odd():
            schema["uniqueItems"] = True
            if self.chance(0.7):  # of scalars that are told apart while they are written
                schema["items"] = self.random.choice([self.enumeration, self.scalar])()
        # In 2019-09 "contains" evaluates nothing, which the judges do not know.
        if self.draft == DRAFT_2020 and self.odd() and self.odd():
            schema["unevaluatedItems"] = self.schema(0)
        return schema

    def scalar(self) -> dict[str, Any]:
        kind = self.random.choice(["string", "integer", "boolean"])
        return {"type": kind} | (self.string() if kind == "string" else {})

    def object(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {}
        names = self.some(NAMES, 5)
        if self.chance(0.9):
            schema["properties"] = {name: self.schema(depth - 1) for name in names}
        if self.chance(0.6):
            known = NAMES if self.odd() else names
            schema["required"] = self.some(known, min(3, len(known)))
        if self.chance(0.6):
            schema["additionalProperties"] = self.chance(0.2) or (
                self.chance(0.3) and self.schema(depth - 1)
            )
        if self.odd():
            patterns = self.some(KEY_PATTERNS, 2)
            schema["patternProperties"] = {pattern: self.schema(depth - 1) for pattern in patterns}
        if self.odd():
            schema["propertyNames"] = self.random.choice(
                [
                    {"pattern": self.random.choice(KEY_PATTERNS)},
                    {"maxLength": self.random.choice([1, 2, 3])},
                    {"enum": [*names, "z"]},
                ]
            )
        if self.odd():
            low = self.random.choice([0, 1, 2])
            schema["minProperties"] = low
            if self.chance(0.6):
                schema["maxProperties"] = low + self.random.choice([0, 1, 3])
        if self.odd():
            self.dependencies(schema, depth)
        if self.draft != DRAFT_7 and self.odd() and self.odd():
            schema["unevaluatedProperties"] = self.schema(0)
        return schema

    def dependencies(self, schema: dict[str, Any], depth: int) -> None:
        of_names = {name: self.some(NAMES, 2) for name in self.some(NAMES, 2)}
        of_schemas = {name: self.fragment(depth - 1) for name in self.some(NAMES, 2)}
        if self.draft == DRAFT_7:
            schema["dependencies"] = {**of_schemas, **of_names}
        elif self.chance(0.6):
            schema["dependentRequired"] = of_names
        else:
            schema["dependentSchemas"] = of_schemas
