"""Greedy texts of a real model, in float32, with and without drafts."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import guided

pytestmark = pytest.mark.model

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 24},
        "born": {"type": "integer", "minimum": 1000, "maximum": 2100},
        "field": {"enum": ["mathematics", "computing", "poetry", "physics"]},
    },
    "required": ["name", "born", "field"],
    "additionalProperties": False,
}
CONSTRAINTS: list[dict[str, Any]] = [
    {},
    {"schema": PERSON},
    {"schema": {"type": "array", "items": {"type": "string", "maxLength": 12}, "maxItems": 4}},
    {"regex": r"\d{4}-\d{2}-\d{2}( or \d{4})?\."},
    {"choices": ["a mathematician", "a poet", "nobody knows", "both of these"]},
]
NAMES = [
    "Ada Lovelace", "Emmy Noether", "Blaise Pascal", "Alan Turing", "Grace Hopper", "Kurt Gödel",
    "Sappho", "Basho", "Rumi", "Emily Dickinson", "Marie Curie", "Lise Meitner", "Niels Bohr",
    "Srinivasa Ramanujan", "Hypatia", "Al-Khwarizmi", "Pablo Neruda", "Anna Akhmatova", "Euler",
    "Sofia Kovalevskaya",
]  # fmt: skip
CASES = [
    (f"{name} is known to many. A few facts about {name}: ", constraint)
    for name in NAMES
    for constraint in CONSTRAINTS
]


def differing(cases: list[tuple[str, dict[str, Any]]]) -> list[str]:
    """The prompts whose texts differ."""
    model = guided.load(dtype=torch.float32)
    plain = guided.Engine(model, speculate="off", memory=256 << 20)
    drafted = guided.Engine(model, speculate="auto", memory=256 << 20)
    found = []
    for prompt, constraint in cases:
        one = plain.submit(prompt, max_tokens=32, **constraint).result()
        other = drafted.submit(prompt, max_tokens=32, **constraint).result()
        if one.tokens != other.tokens:
            found.append(f"{prompt!r} {constraint}: {one.text!r} and {other.text!r}")
    assert drafted.stats().steps < plain.stats().steps
    return found


def test_drafts_change_no_greedy_text() -> None:
    assert differing([CASES[1], CASES[13]]) == []


@pytest.mark.nightly
def test_drafts_change_none_of_a_hundred_greedy_texts() -> None:
    assert differing(CASES) == []
