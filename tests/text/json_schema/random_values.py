"""Random values that a schema is likely to allow, and ways to spell them."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

from tests.text.json_schema.random_schemas import NAMES, NUMBERS, WORDS

SAMPLES = ["2024-02-29", "12:30:00Z", "2024-01-31T23:59:60Z", "127.0.0.1", "::1", "a@b.co", "a.b"]
SAMPLES += ["f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "http://a.b/c?d#e", "/a/b", "P1DT2H", "a/b"]

MAX_PARTS = 200  # of a value, for schemas that ask for ever more


class ValueMaker:
    """Draws values for the schemas of one document."""

    def __init__(self, document: Any, seed: int) -> None:
        self.document = document
        self.random = random.Random(seed)
        self.left = MAX_PARTS

    def value(self) -> Any:
        """Draw a value; one in three is then changed somewhere."""
        self.left = MAX_PARTS
        value = self.of([self.document], 4)
        return self.changed(value) if self.random.random() < 0.3 else value

    def gather(self, schemas: list[Any]) -> list[dict[str, Any]]:
        """Return the schemas that apply beside those given, one branch of each choice."""
        found: list[dict[str, Any]] = []
        queue = list(schemas)
        while queue and len(found) < 30:
            schema = queue.pop(0)
            if not isinstance(schema, dict) or any(schema is known for known in found):
                continue
            found.append(schema)
            if "$ref" in schema:
                _, keyword, name = schema["$ref"].split("/")
                queue.append(self.document[keyword][name])
            queue += schema.get("allOf", [])
            for keyword in ("anyOf", "oneOf"):
                if keyword in schema:
                    queue.append(self.random.choice(schema[keyword]))
            if "if" in schema:
                branches = [["if", "then"], ["else"]]
                queue += [schema.get(keyword) for keyword in self.random.choice(branches)]
        return found

    def of(self, schemas: list[Any], depth: int) -> Any:
        self.left -= 1
        gathered = self.gather(schemas) if depth > -8 else []
        for schema in gathered:
            if "const" in schema:
                return schema["const"]
            if schema.get("enum") and self.random.random() < 0.9:
                return self.random.choice(schema["enum"])
        match self.type_of(gathered) if self.left > 0 else "null":
            case "null":
                return None
            case "boolean":
                return self.random.random() < 0.5
            case "integer" | "number":
                return self.number(gathered)
            case "string":
                return self.string(gathered)
            case "array":
                return self.array(gathered, depth)
            case _:
                return self.object(gathered, depth)

    def type_of(self, schemas: list[dict[str, Any]]) -> str:
        options = ["null", "boolean", "integer", "string", "array", "object"]
        hints = {"properties": "object", "required": "object", "items": "array"}
        for keyword, name in hints.items():
            options += [name] * 6 * sum(keyword in schema for schema in schemas)
        for schema in schemas:
            allowed = schema.get("type", options)
            allowed = [allowed] if isinstance(allowed, str) else allowed
            options = [name for name in options if name in allowed] or list(allowed)
        return self.random.choice(options)

    def number(self, schemas: list[dict[str, Any]]) -> int | Decimal:
        edges = [
            schema[keyword]
            for schema in schemas
            for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
            if keyword in schema
        ]
        steps = [schema["multipleOf"] for schema in schemas if "multipleOf" in schema]
        base = self.random.choice([*edges, *NUMBERS] if edges else NUMBERS)
        if steps and self.random.random() < 0.8:
            step: int | Decimal = self.random.choice(steps)
            return step * self.random.randrange(-3, 60)
        number = base + self.random.choice([0, 0, 1, -1, Decimal("0.5")])
        return int(number) if self.random.random() < 0.7 else number

    def string(self, schemas: list[dict[str, Any]]) -> str:
        if any("format" in schema for schema in schemas):
            return self.random.choice(SAMPLES)
        text = self.random.choice(WORDS)
        low = most(schemas, "minLength")
        return text + self.random.choice("abx1é") * (low - len(text) + self.random.choice([0, 1]))

    def array(self, schemas: list[dict[str, Any]], depth: int) -> list[Any]:
        low = most(schemas, "minItems")
        size = low + self.random.choice([0, 0, 1, 2]) if depth > 0 else low
        return [
            self.of([item_schema(schema, index) for schema in schemas], depth - 1)
            for index in range(size)
        ]

    def object(self, schemas: list[dict[str, Any]], depth: int) -> dict[str, Any]:
        names = [name for schema in schemas for name in schema.get("required", ())]
        if depth > 0:
            declared = [name for schema in schemas for name in schema.get("properties", ())]
            share = self.random.choice([0.2, 0.6, 1])
            names += [name for name in declared if self.random.random() < share]
            if self.random.random() < 0.3:
                names.append(self.random.choice([*NAMES, "z", "x1"]))
        low = most(schemas, "minProperties")
        while len(set(names)) < low:
            names.append(self.random.choice([*NAMES, "z", "y"]))
        for schema in schemas:
            needs = schema.get("dependentRequired", schema.get("dependencies", {}))
            for name in list(names):
                if isinstance(needs.get(name), list):
                    names += needs[name]
        self.random.shuffle(names)
        return {
            name: self.of([part for schema in schemas for part in of_key(schema, name)], depth - 1)
            for name in dict.fromkeys(names)
        }

    def changed(self, value: Any) -> Any:
        if isinstance(value, list) and value and self.random.random() < 0.7:
            at = self.random.randrange(len(value))
            rest = [*value[:at], *value[at + 1 :]]
            return self.random.choice([rest, [*value, value[at]], [*rest, self.changed(value[at])]])
        if isinstance(value, dict) and value and self.random.random() < 0.7:
            name = self.random.choice(list(value))
            others = {key: part for key, part in value.items() if key != name}
            more = {**value, self.random.choice(NAMES): self.random.choice(WORDS)}
            return self.random.choice([others, more, {**others, name: self.changed(value[name])}])
        return self.random.choice([*WORDS, *NUMBERS, None, True, [], {}])


def most(schemas: list[dict[str, Any]], keyword: str) -> int:
    return max((schema.get(keyword, 0) for schema in schemas), default=0)


def item_schema(schema: dict[str, Any], index: int) -> Any:
    prefix, rest = schema.get("prefixItems", []), schema.get("items", True)
    if isinstance(rest, list):
        prefix, rest = rest, schema.get("additionalItems", True)
    if index >= len(prefix) and rest is True:
        return schema.get("contains", True)
    return prefix[index] if index < len(prefix) else rest


def of_key(schema: dict[str, Any], name: str) -> list[Any]:
    """Return what the value of a key must fit, patterns as good as a look at the first letter."""
    parts = [schema["properties"][name]] if name in schema.get("properties", ()) else []
    for pattern, part in schema.get("patternProperties", {}).items():
        if pattern.strip("^$") in name:
            parts.append(part)
    return parts or [schema.get("additionalProperties", True)]


def in_any_order(value: Any, chance: random.Random) -> Any:
    """Return a value with the keys of its objects in some order."""
    if isinstance(value, dict):
        names = chance.sample(list(value), len(value))
        return {name: in_any_order(value[name], chance) for name in names}
    return [in_any_order(item, chance) for item in value] if isinstance(value, list) else value


def with_escapes(text: str, chance: random.Random) -> str:
    """Return a JSON text with some characters of its strings spelled by escapes."""
    parts = []
    inside = False
    at = 0
    while at < len(text):
        size = 1 if text[at] != "\\" else 6 if text[at + 1] == "u" else 2
        piece = text[at : at + size]
        at += len(piece)
        if piece == '"':
            inside = not inside
        elif inside and len(piece) == 1 and chance.random() < 0.3:
            escaped = json.dumps(piece)[1:-1]
            plain = f"\\u{ord(piece):04x}" if ord(piece) < 128 else escaped
            piece = chance.choice([plain, plain.replace("a", "A").replace("e", "E")])
            piece = "\\/" if text[at - 1] == "/" else piece
        parts.append(piece)
    return "".join(parts)
