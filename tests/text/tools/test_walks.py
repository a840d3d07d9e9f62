"""Whatever a grammar of calls lets through is read as calls that are valid: random walks."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from guided.grammar import Grammar
from guided.text.tools import find_format, tool_formats
from guided.text.tools.format import ToolFormat
from guided.text.tools.reading import parse_calls
from tests.text.tags.matching import byte_vocabulary

# Bytes that lead out of strings and brackets: a walk that never takes them never ends.
WAY_OUT = b"\"'}])</>|\n"
LONGEST = 2_000


def walk(grammar: Grammar, closing: str, chance: random.Random) -> str | None:
    """Write at random, ending where that can be; None if it gets too long.

    `closing` is what ends text without quotes.
    """
    vocabulary = byte_vocabulary()
    matcher = grammar.compile(vocabulary).matcher()
    written = bytearray()
    while len(written) < LONGEST:
        if matcher.is_complete and (chance.random() < 0.5 or matcher.allowed_tokens() == [256]):
            return written.decode()
        if closing and chance.random() < 0.1:
            spelled = list(closing.encode())
            if matcher.accepted_prefix(spelled) == len(spelled):
                matcher.accept_all(spelled)
                written += closing.encode()
                continue
        allowed = bytes(token for token in matcher.allowed_tokens() if token < 256)
        out = bytes(set(allowed) & set(WAY_OUT))
        byte = chance.choice(out if out and chance.random() < 0.6 else allowed)
        matcher.accept(byte)
        written.append(byte)
    return None


def tools_of(corpora: Path) -> list[list[dict[str, Any]]]:
    lines = (corpora / "tools" / "tool-calls.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["tools"] for line in lines]


def closing_of(form: ToolFormat) -> str:
    """What ends a string without quotes, or a message before the calls."""
    return form.parameter_end or (form.messages.before[0][1] if form.messages else "")


def check_walks(name: str, lists: list[list[dict[str, Any]]], seed: int) -> int:
    count = 0
    chance = random.Random(seed)
    for tools in lists:
        grammar = Grammar.from_tools(tools, format=name, tool_choice="required")
        text = walk(grammar, closing_of(find_format(name)), chance)
        # A number so small that Python takes it for 0 is none of the grammar's faults.
        if text is None or re.search(r"[eE][-+]?\d{3}", text):
            continue
        found = parse_calls(text, name, tools=tools)
        schemas = {tool["name"]: tool["parameters"] for tool in tools}
        assert found.calls, (seed, text)
        assert found.unfinished == "", (seed, text)
        if name not in ("harmony", "openai-api"):
            assert found.text.strip() == "", (seed, text)
        for call in found.calls:
            try:
                jsonschema.validate(call.arguments, schemas[call.name])
            except jsonschema.ValidationError as error:
                error.add_note(f"seed {seed}: {text!r}")
                raise
        count += 1
    return count


@pytest.mark.parametrize("name", tool_formats())
def test_walks_are_read_as_valid_calls(name: str, corpora: Path) -> None:
    assert check_walks(name, tools_of(corpora)[::6], seed=1) >= 2


@pytest.mark.nightly
@pytest.mark.parametrize("name", tool_formats())
def test_many_walks_are_read_as_valid_calls(name: str, corpora: Path) -> None:
    lists = tools_of(corpora)
    assert sum(check_walks(name, lists, seed) for seed in range(10)) >= 200
