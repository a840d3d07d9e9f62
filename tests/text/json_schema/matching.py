"""Verdicts on whole texts: a schema compiled over a vocabulary in which each byte is a token."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import lru_cache
from itertools import islice, permutations, product
from typing import Any

import jsonschema

from guided._core import Automaton, Matcher, Vocabulary
from guided.errors import TokenRejected
from guided.text.json_schema import CompiledSchema, compile_schema

ACCEPT, REJECT = True, False


@lru_cache(maxsize=1)
def byte_vocabulary() -> Vocabulary:
    return Vocabulary([bytes([byte]) for byte in range(256)] + [None], eos=[256])


class Language:
    """The texts that a compiled schema lets through."""

    def __init__(self, compiled: CompiledSchema) -> None:
        self.compiled = compiled
        self._automaton = Automaton(compiled.arena, compiled.start, byte_vocabulary())

    def matches(self, text: str | bytes) -> bool:
        matcher = self._matcher(text)
        return matcher is not None and matcher.is_complete

    def has_prefix(self, text: str | bytes) -> bool:
        return self._matcher(text) is not None

    def _matcher(self, text: str | bytes) -> Matcher | None:
        matcher = Matcher(self._automaton)
        try:
            matcher.accept_bytes(text.encode() if isinstance(text, str) else text)
        except TokenRejected:
            return None
        return matcher


def language(schema: Any, **options: Any) -> Language:
    return Language(compile_schema(schema, **options))


def matches(schema: Any, text: str | bytes, **options: Any) -> bool:
    return language(schema, **options).matches(text)


def is_valid(schema: Any, text: str) -> bool:
    """Return what the jsonschema package says of a text that is JSON, with exact decimals."""
    exact = json.loads(json.dumps(schema), parse_float=_exact)
    validator = jsonschema.validators.validator_for(exact, jsonschema.Draft202012Validator)
    return bool(validator(exact).is_valid(json.loads(text, parse_float=_exact)))


def _exact(text: str) -> Decimal | int:
    number = Decimal(text)
    return int(number) if number == number.to_integral_value() else number


def check(schema: Any, accept: Iterable[str], reject: Iterable[str]) -> None:
    """Assert the verdicts on texts, and that jsonschema has the same ones where they are JSON."""
    compiled = language(schema)
    for texts, verdict in ((accept, ACCEPT), (reject, REJECT)):
        for text in texts:
            assert compiled.matches(text) is verdict, text
            try:
                assert is_valid(schema, text) is verdict, f"jsonschema differs: {text}"
            except json.JSONDecodeError:
                assert verdict is REJECT


def spellings(value: Any) -> list[str]:
    """Write a value compactly, as json.dumps does it, and indented."""
    return [
        json.dumps(value, separators=(",", ":"), ensure_ascii=False),
        json.dumps(value),
        json.dumps(value, indent=2),
    ]


def key_orders(value: Any, limit: int = 2000) -> Iterator[Any]:
    """Give a value with the keys of its objects in all orders, as far as `limit`."""
    return islice(_orders(value), limit)


def _orders(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for names in permutations(value):
            for parts in product(*(list(key_orders(value[name], 720)) for name in names)):
                yield dict(zip(names, parts, strict=True))
    elif isinstance(value, list):
        for parts in product(*(list(key_orders(item, 720)) for item in value)):
            yield list(parts)
    else:
        yield value


def in_schema_order(value: Any, schema: Any, branch: int = 0) -> Any:
    """Give a value with the keys of its objects in the order that the schema declares them in.

    Branches of an anyOf may differ in it; the one numbered `branch` (of so many as there are) comes
    first.
    """
    return _in_order(value, [schema], schema, branch)


def _in_order(value: Any, schemas: list[Any], root: Any, branch: int) -> Any:
    applied: list[Any] = []
    for schema in schemas:
        _gather(schema, root, applied, branch)
    if isinstance(value, list):
        return [
            _in_order(item, [_item_schema(schema, index) for schema in applied], root, branch)
            for index, item in enumerate(value)
        ]
    if not isinstance(value, dict):
        return value
    declared = [name for schema in applied for name in schema.get("properties", ())]
    declared += [name for schema in applied for name in schema.get("required", ())]
    names = dict.fromkeys([*(name for name in declared if name in value), *value])
    result = {}
    for name in names:
        parts = []
        for schema in applied:
            if name in schema.get("properties", ()):
                parts.append(schema["properties"][name])
            elif "additionalProperties" in schema:
                parts.append(schema["additionalProperties"])
        result[name] = _in_order(value[name], parts, root, branch)
    return result


def _item_schema(schema: Any, index: int) -> Any:
    prefix, rest = schema.get("prefixItems", []), schema.get("items", True)
    if isinstance(rest, list):
        prefix, rest = rest, schema.get("additionalItems", True)
    return prefix[index] if index < len(prefix) else rest


def _gather(schema: Any, root: Any, applied: list[Any], first: int) -> None:
    """Collect the schemas that apply to the same value, in the order in which they are read."""
    if not isinstance(schema, dict) or any(schema is known for known in applied):
        return
    applied.append(schema)
    for keyword, content in schema.items():
        if keyword == "$ref" and isinstance(content, str) and content.startswith("#"):
            target = root
            for token in content.split("/")[1:]:
                token = token.replace("~1", "/").replace("~0", "~")
                target = target[int(token)] if isinstance(target, list) else target[token]
            _gather(target, root, applied, first)
        elif keyword in ("allOf", "anyOf"):
            turn = first % len(content) if keyword == "anyOf" else 0
            for branch in content[turn:] + content[:turn]:
                _gather(branch, root, applied, first)
