"""The JSON Schema Test Suite, schemas in the wild, and failures reported elsewhere."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from guided.errors import GuidedError, SchemaError, UnsupportedError
from tests.text.json_schema.matching import (
    Language,
    in_schema_order,
    key_orders,
    language,
    spellings,
)


def cases(corpora: Path, name: str) -> Iterator[dict[str, Any]]:
    data = (corpora / name).read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
    yield from map(json.loads, filter(None, text.split("\n")))


def compiled_or_error(schema: Any) -> Language | GuidedError:
    try:
        return language(schema)
    except GuidedError as error:
        return error


@pytest.mark.parametrize(
    ("draft", "least"), [("draft2020-12", 144), ("draft7", 140)], ids=["2020-12", "7"]
)
def test_the_test_suite_has_no_wrong_verdict(corpora: Path, draft: str, least: int) -> None:
    groups = 0
    for case in cases(corpora, f"jsts-{draft}.jsonl"):
        schema = case["schema"]
        if not case["required"]:
            continue
        if draft == "draft7" and isinstance(schema, dict):
            schema = {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
        compiled = compiled_or_error(schema)
        if isinstance(compiled, UnsupportedError):
            continue
        if isinstance(compiled, SchemaError):
            assert not any(test["valid"] for test in case["tests"]), (case["group"], compiled)
            continue
        assert isinstance(compiled, Language), compiled
        groups += 1
        for test in case["tests"]:
            for style in range(3):
                # Accepted means in some order of the keys, rejected in all of them.
                texts = (spellings(value)[style] for value in key_orders(test["data"]))
                verdict = any(map(compiled.matches, texts))
                assert verdict is test["valid"], (case["file"], case["group"], test["description"])
    assert groups >= least


def test_schemas_in_the_wild_have_no_wrong_verdict(corpora: Path) -> None:
    outcome: Counter[str] = Counter()
    for case in cases(corpora, "maskbench-300.jsonl.gz"):
        schema = case["schema"]
        compiled = compiled_or_error(schema)
        if isinstance(compiled, UnsupportedError):
            outcome[compiled.keyword] += 1
            continue
        assert isinstance(compiled, Language), (case["id"], compiled)
        outcome["compiled"] += 1
        for test in case["tests"]:
            orders = (in_schema_order(test["data"], schema, branch) for branch in range(8))
            texts = dict.fromkeys(spellings(value)[0] for value in orders)
            verdict = any(map(compiled.matches, texts))
            assert verdict is test["valid"], (case["id"], test["description"])
    assert outcome["compiled"] >= 228, outcome
    assert outcome.total() == 300


def test_reported_failures_do_not_happen_here(corpora: Path) -> None:
    seen: Counter[str] = Counter()
    for case in cases(corpora, "reported-cases.jsonl"):
        if case["input"]["kind"] != "json_schema":
            continue
        place = case["input"]
        schema = _evaluate(place["generate_py"]) if "generate_py" in place else place["value"]
        mentioned = case.get("error_must_mention", [])
        compiled = compiled_or_error(schema)
        if isinstance(compiled, UnsupportedError):
            assert case["expect_error"] is not False or compiled.keyword == "format", case["id"]
        if isinstance(compiled, GuidedError):
            seen[type(compiled).__name__] += 1
            for words in mentioned:
                found = any(word in str(compiled) for word in words.split("|"))
                assert found, (case["id"], compiled)
            continue
        assert case["expect_error"] is not True, case["id"]
        seen["compiled"] += 1
        for key, verdict in (("accept", True), ("reject", False)):
            for text in map(_text, case.get(key, [])):
                assert compiled.matches(text) is verdict, (case["id"], text)
        for key, verdict in (("prefix_ok", True), ("prefix_bad", False)):
            for text in map(_text, case.get(key, [])):
                assert compiled.has_prefix(text) is verdict, (case["id"], text)
            for digits in case.get(f"{key}_hex", []):
                assert compiled.has_prefix(bytes.fromhex(digits)) is verdict, (case["id"], digits)
    assert seen["compiled"] >= 45, seen


def _text(entry: Any) -> str:
    return str(_evaluate(entry["py"])) if isinstance(entry, dict) else entry


def _evaluate(expression: str) -> Any:
    return eval(expression)  # large inputs of the corpus are given as expressions
