"""The JSON Schema Test Suite, schemas in the wild, and failures reported elsewhere."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from guided._core import Matcher
from tests.text.json_schema.matching import Language
from tests.text.json_schema.suite import (
    DRAFTS,
    compiled_or_error,
    lines_of,
    registry,
    run,
    suite_cases,
    wild_cases,
)

# Clocks here are those of a shared machine.
PATIENCE = 5


@pytest.mark.parametrize("draft", DRAFTS)
def test_no_verdict_on_the_required_tests_is_wrong_and_few_are_refused(
    corpora: Path, draft: str
) -> None:
    report = run(
        suite_cases(corpora, draft),
        property_order="any",
        formats="annotate",
        registry=registry(corpora, draft),
    )
    assert not report.wrong, report
    assert len(report.refused) <= 0.03 * report.cases, report


@pytest.mark.parametrize("draft", DRAFTS)
def test_no_verdict_on_formats_is_wrong(corpora: Path, draft: str) -> None:
    report = run(suite_cases(corpora, draft, required=False), property_order="any")
    assert not report.wrong, report


@pytest.mark.parametrize("order", ["schema", "any"])
def test_schemas_in_the_wild_let_their_instances_through(corpora: Path, order: str) -> None:
    report = run(wild_cases(corpora), reorder=order == "schema", property_order=order)
    assert report.cases == 300
    assert not [entry for entry in report.wrong if entry[-1] != "valid"], report
    assert report.passed >= 0.97 * report.cases, report


def test_reported_failures_do_not_happen_here(corpora: Path) -> None:
    seen: Counter[str] = Counter()
    for case in map(json.loads, lines_of(corpora / "reported-cases.jsonl")):
        place = case["input"]
        if place["kind"] != "json_schema":
            continue
        schema = _evaluate(place["generate_py"]) if "generate_py" in place else place["value"]
        start = time.perf_counter()
        grammar = compiled_or_error(schema)
        if isinstance(grammar, Language):
            Matcher(grammar.automaton).allowed_tokens()
        seconds = time.perf_counter() - start
        limit = case.get("perf", {}).get("compile_s")
        assert limit is None or seconds < PATIENCE * limit, (case["id"], seconds)
        seen[_judge_reported(case, schema, grammar)] += 1
    assert seen["compiled"] >= 50, seen


def _judge_reported(case: dict[str, Any], schema: Any, grammar: Any) -> str:
    if not isinstance(grammar, Language):
        assert case["expect_error"] is not False, (case["id"], grammar)
        for words in case.get("error_must_mention", []):
            assert any(word in str(grammar) for word in words.split("|")), (case["id"], grammar)
        return "refused"
    assert case["expect_error"] is not True, case["id"]
    for key, verdict in (("accept", True), ("reject", False)):
        for text in map(_text, case.get(key, [])):
            assert grammar.matches(text) is verdict, (case["id"], text)
    for key, verdict in (("prefix_ok", True), ("prefix_bad", False)):
        for text in map(_text, case.get(key, [])):
            assert grammar.has_prefix(text) is verdict, (case["id"], text)
        for digits in case.get(f"{key}_hex", []):
            assert grammar.has_prefix(bytes.fromhex(digits)) is verdict, (case["id"], digits)
    if "accept_with_option" in case:
        other = compiled_or_error(schema, **case["input"]["options"])
        for text in map(_text, case["accept_with_option"]):
            assert isinstance(other, Language), case["id"]
            assert other.matches(text), (case["id"], text)
    return "compiled"


def _text(entry: Any) -> str:
    return str(_evaluate(entry["py"])) if isinstance(entry, dict) else entry


def _evaluate(expression: str) -> Any:
    return eval(expression)  # large inputs of the corpus are given as expressions
