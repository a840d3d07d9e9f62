"""Verdicts on whole texts: a schema compiled over a vocabulary in which each byte is a token."""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
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
        self.automaton = Automaton(compiled.arena, compiled.start, byte_vocabulary())

    def matches(self, text: str | bytes) -> bool:
        return accepts(self.automaton, text)

    def has_prefix(self, text: str | bytes) -> bool:
        return _matcher_after(self.automaton, text) is not None


def accepts(automaton: Automaton, text: str | bytes) -> bool:
    """Return True if the whole text is let through."""
    matcher = _matcher_after(automaton, text)
    return matcher is not None and matcher.is_complete


def _matcher_after(automaton: Automaton, text: str | bytes) -> Matcher | None:
    matcher = Matcher(automaton)
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


def check(schema: Any, accept: Iterable[str], reject: Iterable[str], **options: Any) -> None:
    """Assert the verdicts on texts, and that jsonschema has the same ones where they are JSON."""
    compiled = language(schema, **options)
    for texts, verdict in ((accept, ACCEPT), (reject, REJECT)):
        for text in texts:
            assert compiled.matches(text) is verdict, text
            try:
                assert is_valid(schema, text) is verdict, f"jsonschema differs: {text}"
            except json.JSONDecodeError:
                assert verdict is REJECT
