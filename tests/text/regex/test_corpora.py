"""The patterns of the test data, with the verdicts recorded there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest

from guided.errors import GuidedError, UnsupportedError
from tests.text.regex.matching import Pattern

BACK_REFERENCES = {"backreference", "mb-000"}
# Extensions of the Python dialect: `re` itself refuses them.
EXTENSIONS = {("python", "named-group-js"), ("python", "property-script")}


def read_cases(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("dialect", ["python", "ecma"])
@pytest.mark.parametrize("search", [False, True], ids=["whole", "search"])
def test_verdicts_of_the_corpus_hold(
    corpora: Path, dialect: Literal["python", "ecma"], search: bool
) -> None:
    refused = set()
    wrong = []
    for case in read_cases(corpora / "regexes.jsonl"):
        try:
            pattern = Pattern(case["pattern"], dialect=dialect, search=search)
        except UnsupportedError:
            refused.add(case["id"])
            continue
        for each in case["strings"]:
            if pattern.matches(each["text"]) is not each["search" if search else "full"]:
                wrong.append((case["id"], each["text"]))
    assert wrong == []
    assert refused == BACK_REFERENCES


def test_dialects_part_where_they_should(corpora: Path) -> None:
    wrong = []
    for case in read_cases(corpora / "regex-dialects.jsonl"):
        ecma = case["ecma"] if case["ecma_u"] == "error" else case["ecma_u"]
        verdicts: list[tuple[Literal["python", "ecma"], Any]] = [
            ("ecma", ecma),
            ("python", case["python_re_ascii"]),
        ]
        for dialect, verdict in verdicts:
            if case["id"] == "backref-forward":
                verdict = "error"
            if (dialect, case["id"]) in EXTENSIONS:
                verdict = True
            found: Any
            try:
                found = Pattern(case["pattern"], dialect=dialect, search=True).matches(case["text"])
            except GuidedError:
                found = "error"
            if found != verdict:
                wrong.append((case["id"], dialect, found))
    assert wrong == []


def value_of(entry: Any) -> str:
    """Return a text of a reported case; large ones are given as Python expressions."""
    return str(eval(entry["py"], {})) if isinstance(entry, dict) else entry


def test_reported_cases_behave_as_they_should(corpora: Path) -> None:
    wrong = []
    for case in read_cases(corpora / "reported-cases.jsonl"):
        given = case["input"]
        if given.get("kind") != "regex":
            continue
        text = given["value"] if "value" in given else value_of({"py": given["generate_py"]})
        try:
            pattern = Pattern(text)
        except GuidedError as error:
            message = f"{error}".lower()
            mentioned = [each.lower().split("|") for each in case.get("error_must_mention", [])]
            is_named = all(any(word in message for word in words) for words in mentioned)
            if case["expect_error"] is False or not is_named:
                wrong.append((case["id"], str(error)))
            continue
        if case["expect_error"] is True:
            wrong.append((case["id"], "compiles"))
        for key, verdict in (("accept", True), ("reject", False)):
            for entry in case.get(key, []):
                if pattern.matches(value_of(entry)) is not verdict:
                    wrong.append((case["id"], key))
    assert wrong == []
