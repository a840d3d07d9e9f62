"""Failures of other tools' command lines, as they were reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Write
from tests.cli.running import Ran, run

CASES = [
    "cfg-char-class-looks-like-optional",
    "cfg-json-pasted-as-grammar-error",
    "cfg-missing-root-error",
    "cfg-custom-start-symbol",
    "cli-validate-reports-offset",
    "cli-unsupported-keywords-listed",
    "cli-bom-accepted",
]


def read_cases(corpora: Path) -> dict[str, Any]:
    text = (corpora / "reported-cases.jsonl").read_text(encoding="utf-8")
    cases = map(json.loads, text.strip().split("\n"))
    return {case["id"]: case for case in cases if case["area"] == "cli"}


def test_each_case_of_this_area_is_run(corpora: Path) -> None:
    assert set(CASES) == set(read_cases(corpora))


@pytest.mark.parametrize("name", CASES)
def test_a_reported_case_is_right(name: str, corpora: Path, write: Write) -> None:
    case = read_cases(corpora)[name]
    if case["input"]["kind"] == "cli":
        check_call(case["input"], write)
    else:
        check_grammar(case, write)


def check_call(given: dict[str, Any], write: Write) -> None:
    for file, content in given["files"].items():
        write(file, content if isinstance(content, str) else bytes.fromhex(content["hex"]))
    # What others call "validate" is "check" here.
    ran = run(*["check" if word == "validate" else word for word in given["argv"]])
    wanted = given["expect"]
    if "exit" in wanted:
        assert (ran.status != 0) is (wanted["exit"] == "nonzero")
    for word in wanted.get("mentions", []) + wanted.get("stderr_or_stdout_mentions", []):
        assert mentions(ran, word)


def check_grammar(case: dict[str, Any], write: Write) -> None:
    write("case.gbnf", case["input"]["value"])
    options = [f"--{key}={value}" for key, value in case["input"].get("options", {}).items()]
    options += [f"--accept={text}" for text in case["accept"]]
    options += [f"--reject={text}" for text in case["reject"]]
    ran = run("check", "case.gbnf", *options)
    assert ran.status == int(case["expect_error"]), ran.out
    assert all(mentions(ran, word) for word in case.get("error_must_mention", []))
    start = [option for option in options if option.startswith("--start")]
    for prefix in case["prefix_ok"]:
        assert run("explain", "case.gbnf", prefix, *start).status == 0


def mentions(ran: Ran, words: str) -> bool:
    return any(word in ran.out + ran.err for word in words.split("|"))


def test_a_class_spelled_like_an_unused_rule_is_a_warning(write: Write) -> None:
    write("g.gbnf", 'root ::= [sign] [0-9]+\nsign ::= "+" | "-"')
    ran = run("check", "g.gbnf")
    assert ran.status == 0
    assert ran.out.startswith(
        'g.gbnf:1:10: warning: the class [sign] is one character out of "sign", spelled like the'
        ' rule "sign", which is otherwise unused\n'
        "    1 | root ::= [sign] [0-9]+\n"
        "      |          ^^^^^^\n"
        "  mend: write sign? if the rule was meant, and may be left out\n"
    )


def test_a_start_that_is_not_there_is_an_error_that_lists_the_rules(write: Write) -> None:
    write("g.gbnf", 'greeting ::= "hi" name?\nname ::= " " [a-z]+')
    ran = run("check", "g.gbnf", "--start", "nope")
    assert ran.status == 1
    assert '"nope"' in ran.out
    assert '"greeting", "name"' in ran.out
