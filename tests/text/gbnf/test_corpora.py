"""Grammars and reported cases of the test data, with the verdicts recorded there."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from guided.errors import GuidedError
from tests.text.gbnf.matching import Texts


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as opened:
        for line in opened:
            yield json.loads(line)


def value_of(entry: Any) -> str:
    """Return a text of a reported case; large ones are given as Python expressions."""
    return str(eval(entry["py"], {})) if isinstance(entry, dict) else entry


def test_samples_of_the_corpus_are_accepted_and_rejected(corpora: Path) -> None:
    wrong = []
    for case in lines(corpora / "grammars" / "samples.jsonl"):
        if case["dialect"] != "gbnf":
            continue
        text = (corpora / "grammars" / case["grammar"]).read_text(encoding="utf-8")
        texts = Texts(text, start=case["start"])
        wrong += [(case["grammar"], each) for each in case["accept"] if not texts.has(each)]
        wrong += [(case["grammar"], each) for each in case["reject"] if texts.has(each)]
    assert wrong == []


def test_reported_cases_behave_as_they_should(corpora: Path) -> None:
    wrong = []
    for case in lines(corpora / "reported-cases.jsonl"):
        if case["input"].get("kind") == "gbnf":
            wrong += list(failures(case))
    assert wrong == []


def failures(case: dict[str, Any]) -> Iterator[tuple[str, object]]:
    given = case["input"]
    text = given["value"] if "value" in given else value_of({"py": given["generate_py"]})
    start = time.process_time()
    try:
        texts = Texts(text, **given.get("options", {}))
    except GuidedError as error:
        wanted = [each.lower().split("|") for each in case.get("error_must_mention", [])]
        message = str(error).lower()
        if case["expect_error"] is False:
            yield case["id"], message
        if not all(any(word in message for word in words) for words in wanted):
            yield case["id"], message
        return
    if case["expect_error"] is True:
        yield case["id"], "compiles"
    if time.process_time() - start > case.get("perf", {}).get("compile_s", 10):
        yield case["id"], "compiles too slowly"
    start = time.process_time()
    for key, verdict in (("accept", True), ("reject", False)):
        for entry in case[key]:
            if texts.has(value_of(entry)) is not verdict:
                yield case["id"], (key, entry)
    for entry in case["prefix_ok"]:
        if not texts.begins(value_of(entry)):
            yield case["id"], ("prefix_ok", entry)
    for key, verdict in (("prefix_ok_hex", True), ("prefix_bad_hex", False)):
        for entry in case.get(key, []):
            if texts.begins(bytes.fromhex(entry)) is not verdict:
                yield case["id"], (key, entry)
    if time.process_time() - start > case.get("perf", {}).get("match_s", 10):
        yield case["id"], "matches too slowly"


@pytest.mark.parametrize("name", ["json", "c", "own_leftrec"])
def test_line_ends_and_a_byte_order_mark_change_nothing(corpora: Path, name: str) -> None:
    text = (corpora / "grammars" / "gbnf" / f"{name}.gbnf").read_text(encoding="utf-8")
    sample = {"json": '{"a": [true, -1.5]}', "c": "char c(){while(i<10){i = i+1;}}"}
    texts = Texts("\ufeff" + text.replace("\n", "\r\n"))
    assert texts.has(sample.get(name, "(1+2)-(3)"))
