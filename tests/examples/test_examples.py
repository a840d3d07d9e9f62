"""The examples: what each promises, held to something else than itself."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from lark import Lark
from pydantic import ValidationError

import guided
from examples import assistant, invoice, jsonl, own_loop, partial, server_masks, speculation, sql

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(path for path in (ROOT / "examples").glob("*.py") if path.stem != "__init__")


@pytest.fixture(scope="module")
def model() -> guided.Model:
    return guided.load()


@pytest.fixture(scope="module")
def vocabulary() -> guided.Vocabulary:
    tokens = [bytes([b]) for b in range(256)] + [b"yes", b"perh", b"2024-", b"[true", None]
    return guided.Vocabulary.from_tokens(tokens, eos=[len(tokens) - 1])


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_each_is_shown_in_the_docs_with_its_command(path: Path) -> None:
    command = f"python examples/{path.name}"
    assert command in path.read_text(encoding="utf-8")
    assert command in (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")


# assistant.py


def test_the_tools_of_the_assistant_are_right() -> None:
    assert assistant.convert_length(42.195, "km", "mile") == 26.219
    assert assistant.days_between(date(2024, 2, 1), date(2024, 3, 1)) == 29


@pytest.mark.model
def test_the_assistant_calls_a_tool_that_exists(model: guided.Model) -> None:
    [(called, outcome)] = assistant.answer(model, assistant.QUESTIONS[0])
    assert re.match(r"(convert_length|days_between)\(", called)
    assert isinstance(outcome, float | int)


# partial.py

VALUE: dict[str, Any] = {
    'k"e\\y': [1.5, -20, 3e10, True, False, None, {}, [], [[]]],
    "text": 'a "quote", a \\, \ttab, é, 😀, }]{[',
    "": {"a": {"b": ["c", {"d": 1}]}},
}
SPELLINGS = {
    "ascii": json.dumps(VALUE),
    "unicode": json.dumps(VALUE, ensure_ascii=False),
    "indented": json.dumps(VALUE, indent=2),
    "compact": json.dumps(VALUE, separators=(",", ":")),
}


def grows_into(part: Any, whole: Any) -> bool:
    """Whether a value can become another one by adding to its end."""
    if isinstance(part, dict) and isinstance(whole, dict):
        keys = list(part)
        return keys == list(whole)[: len(keys)] and all(grows_into(part[k], whole[k]) for k in keys)
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(map(grows_into, part, whole))
    if isinstance(part, str) and isinstance(whole, str):
        return whole.startswith(part)
    return type(part) is type(whole) and part == whole


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_each_partial_object_grows_into_the_next_and_the_last_is_whole(text: str) -> None:
    values = list(partial.partial_objects(iter(text)))
    assert values[-1] == VALUE
    assert len(values) > 30
    for before, after in pairwise(values):
        assert grows_into(before, after)


def test_partial_objects_come_once_each() -> None:
    pieces = iter(['{"a"', ": ", "1", "2", ", ", '"b": "', 'x"', "}"])
    assert list(partial.partial_objects(pieces)) == [
        {},
        {"a": 12},
        {"a": 12, "b": ""},
        {"a": 12, "b": "x"},
    ]


@pytest.mark.model
def test_the_last_partial_object_is_the_value(model: guided.Model) -> None:
    running = guided.stream(
        model, partial.QUESTION, schema=partial.SCHEMA, whitespace=" ?", max_tokens=60
    )
    *_, last = partial.partial_objects(running)
    assert last == running.result.value


# invoice.py


@pytest.mark.parametrize(
    ("total", "verdict"),
    [pytest.param("7.00", True, id="right"), pytest.param("7.01", False, id="a cent too much")],
)
def test_an_invoice_adds_up_to_the_cent(total: str, verdict: bool) -> None:
    text = invoice.EXAMPLE_JSON.replace("7.00", total)
    assert invoice.Invoice.model_validate_json(text).adds_up is verdict


@pytest.mark.model
def test_an_invoice_is_valid_whatever_the_model_reads(model: guided.Model) -> None:
    found = invoice.extract(model, invoice.TEXT)
    assert invoice.Invoice.model_validate_json(found.model_dump_json()) == found
    with pytest.raises(ValidationError):
        invoice.Invoice.model_validate({**found.model_dump(), "number": "2041"})


# jsonl.py


def test_lines_that_are_whole_are_finished_and_a_torn_one_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    assert jsonl.finished(path) == set()
    path.write_text('{"id": 0, "value": 1}\n{"id": 2, "value": 1}\n{"id": 3, "val')
    assert jsonl.finished(path) == {0, 2}
    assert path.read_text() == '{"id": 0, "value": 1}\n{"id": 2, "value": 1}\n'


@pytest.mark.model
def test_an_interrupted_run_goes_on_where_it_stopped(
    model: guided.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, once, twice = jsonl.TEXTS[:2], tmp_path / "once.jsonl", tmp_path / "twice.jsonl"
    assert jsonl.run(model, texts, once) == 2

    def interrupted(*arguments: Any, **options: Any) -> Iterator[dict[str, Any]]:
        lines = whole(*arguments, **options)
        yield next(lines)
        lines.close()  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    whole = jsonl.extract
    with monkeypatch.context() as patch:
        patch.setattr(jsonl, "extract", interrupted)
        with pytest.raises(KeyboardInterrupt):
            jsonl.run(model, texts, twice)
    with twice.open("a") as file:
        file.write('{"id": 1, "va')  # what an interruption may leave
    assert jsonl.run(model, texts, twice) == 1
    assert twice.read_bytes() == once.read_bytes()


@pytest.mark.model
def test_an_output_that_was_cut_short_is_a_line_too(model: guided.Model) -> None:
    with guided.Engine(model) as engine:
        (line,) = jsonl.extract(engine, jsonl.TEXTS[:1], set(), max_tokens=3)
    assert line.keys() == {"id", "error", "text"}
    assert line["error"] == "length"


# sql.py


def test_the_database_takes_nothing_but_questions() -> None:
    database = sql.open_database()
    assert database.execute("SELECT count(*) FROM planets").fetchall() == [(6,)]
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        database.execute("DELETE FROM planets")


def test_what_the_database_says_goes_into_the_next_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queries = iter(["SELECT wings FROM planets;", "SELECT name FROM planets WHERE moons = 1;"])
    complaints: list[str] = []

    def write(model: guided.Model, question: str, complaint: str = "") -> str:
        complaints.append(complaint)
        return next(queries)

    monkeypatch.setattr(sql, "write_query", write)
    model: Any = None
    query, rows = sql.answer(model, sql.open_database(), "Which one has one moon?")
    assert (query, rows) == ("SELECT name FROM planets WHERE moons = 1;", [("Earth",)])
    assert complaints == ["", "no such column: wings"]


@pytest.mark.model
def test_a_query_parses_in_lark(model: guided.Model) -> None:
    query = sql.write_query(model, sql.QUESTIONS[0])
    parser = Lark((ROOT / "grammars" / "sql.lark").read_text(), parser="lalr")
    assert parser.parse(query).data == "start"


# own_loop.py


@pytest.mark.model
@pytest.mark.parametrize(
    "grammar",
    [
        guided.Grammar.from_regex(r"\d{4}-\d{2}-\d{2}"),
        guided.Grammar.from_json_schema({"type": "array", "maxItems": 3}, whitespace="compact"),
    ],
    ids=["a date", "an array"],
)
def test_the_loop_writes_what_generate_writes(model: guided.Model, grammar: guided.Grammar) -> None:
    prompt = "On 1815-12-10 there were: "
    ours = own_loop.decode(
        model.network, model.tokenizer, model.vocabulary, prompt, grammar, max_tokens=16
    )
    assert ours == guided.generate(model, prompt, grammar=grammar, max_tokens=16).text


# server_masks.py


def test_both_ways_to_mask_forbid_what_the_matcher_does(vocabulary: guided.Vocabulary) -> None:
    slots = server_masks.open_batch(vocabulary, 4)
    mirror = guided.RowMirror(vocabulary, "cpu", rows=4)
    by_mask, by_numbers = torch.zeros(2, 4, vocabulary.size)  # (B, V) each
    server_masks.mask_in_threads(slots, by_mask)
    server_masks.mask_by_numbers(slots, by_numbers, mirror)
    for b, slot in enumerate(slots):
        free = slot.matcher is None
        wanted = [free or slot.matcher.can_accept(t) for t in range(vocabulary.size)]  # type: ignore[union-attr]
        assert (by_mask[b] == 0).tolist() == wanted
        assert (by_numbers[b] == 0).tolist() == wanted


def test_rows_that_recur_are_sent_once(vocabulary: guided.Vocabulary) -> None:
    mirror = server_masks.run(vocabulary, batch=32, steps=8)
    assert mirror.misses < mirror.hits


# speculation.py


@pytest.mark.model
def test_drafts_save_forwards_and_change_no_text(model: guided.Model) -> None:
    (_, plain), (_, drafted) = speculation.compare(model, max_tokens=40)
    assert drafted.text == plain.text
    assert drafted.stats.forwards < plain.stats.forwards
    assert plain.stats.drafted_tokens == 0


@pytest.mark.parametrize("module", [invoice, jsonl, own_loop, partial, speculation, sql])
def test_importing_an_example_runs_nothing(module: Any) -> None:
    source = Path(module.__file__).read_text(encoding="utf-8")
    assert re.search(r'^if __name__ == "__main__":$', source, re.MULTILINE)
    assert "guided.load()" not in source.split("def main")[0]
