"""Failures that users of other engines reported: a small vocabulary, a constraint, and steps.

The cases are `reported-cases.jsonl` of the corpora; its README gives the meaning of the steps.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, models

from guided import Automaton, Grammar, Matcher, RollbackError, TokenRejected, Vocabulary

Case = dict[str, Any]


def spelling(entry: str | dict[str, str]) -> bytes | None:
    if isinstance(entry, str):
        return entry.encode()
    return bytes.fromhex(entry["hex"]) if "hex" in entry else None


def vocabulary_of(scenario: Case) -> Vocabulary:
    entries = scenario["vocab"]
    if any("▁" in entry for entry in entries):
        return metaspace_vocabulary(entries, scenario["eos"])
    special = {
        entry["special"]: id_
        for id_, entry in enumerate(entries)
        if isinstance(entry, dict) and "special" in entry
    }
    return Vocabulary.from_tokens(
        [spelling(entry) for entry in entries],
        eos=scenario["eos"],
        special=special,
        size=scenario.get("n_logits"),
    )


def metaspace_vocabulary(entries: list[Any], eos: list[int]) -> Vocabulary:
    """The vocabulary of a tokenizer that writes a blank as `▁`."""
    texts = [entry if isinstance(entry, str) else entry["special"] for entry in entries]
    model = models.BPE({text: id_ for id_, text in enumerate(texts)}, merges=[])
    tokenizer = Tokenizer(model)
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens([texts[id_] for id_ in eos])
    return Vocabulary.from_tokenizer(tokenizer, eos=eos)


def automaton_of(scenario: Case) -> Automaton:
    constraint = scenario["constraint"]
    if constraint["kind"] == "regex":
        grammar = Grammar.from_regex(constraint["value"])
    else:
        grammar = Grammar.from_json_schema(constraint["value"])
    return grammar.compile(vocabulary_of(scenario))


def allowed(matcher: Matcher) -> list[int]:
    row = np.full(matcher.vocabulary.words, -1, np.int32)  # (W,), all set: nothing may be left over
    matcher.fill_mask(row)
    bits = np.unpackbits(row.view(np.uint8), bitorder="little")  # (32 * W,)
    return [int(token) for token in np.flatnonzero(bits)]


def accept(matcher: Matcher, token: int, verdict: bool) -> None:
    assert matcher.can_accept(token) is verdict
    if verdict:
        matcher.accept(token)
        return
    before = (matcher.state(), matcher.tokens)
    with pytest.raises(TokenRejected):
        matcher.accept(token)
    assert (matcher.state(), matcher.tokens) == before


def take(matcher: Matcher, step: list[Any]) -> None:
    """Do one step and check what it says."""
    match step:
        case ["mask", tokens]:
            assert allowed(matcher) == sorted(tokens)
        case ["mask_has", tokens]:
            assert set(tokens) <= set(allowed(matcher))
        case ["mask_lacks", tokens]:
            assert not set(tokens) & set(allowed(matcher))
        case ["accept", token, verdict]:
            accept(matcher, token, verdict)
        case ["accept_many", tokens, *_]:
            matcher.accept_all(tokens)
        case ["rollback", count]:
            matcher.rollback(count)
        case ["rollback_error", count]:
            before = (matcher.state(), matcher.tokens)
            with pytest.raises(RollbackError):
                matcher.rollback(count)
            assert (matcher.state(), matcher.tokens) == before
        case ["complete", verdict]:
            assert matcher.is_complete is verdict
        case ["terminated", verdict]:
            assert matcher.is_terminated is verdict
        case ["verify", draft, count]:
            before = (matcher.state(), matcher.tokens)
            assert matcher.accepted_prefix(draft) == count
            assert (matcher.state(), matcher.tokens) == before
        case _:
            raise AssertionError(f"unknown step {step}")


def test_reported_scenarios(corpora: Path, subtests: pytest.Subtests) -> None:
    lines = (corpora / "reported-cases.jsonl").read_text(encoding="utf-8").splitlines()
    scenarios = [case for case in map(json.loads, lines) if case["input"]["kind"] == "scenario"]
    assert len(scenarios) >= 15
    for case in scenarios:
        with subtests.test(case["id"]):
            matcher = automaton_of(case["input"]).matcher()
            for step in case["input"]["steps"]:
                take(matcher, step)
