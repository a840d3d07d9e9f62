"""The benchmarks: what their figures mean, and that they run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema_rs
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from tests.bench.bench_cliffs import CLIFFS
from tests.bench.bench_keywords import verdict
from tests.bench.bench_masks import ROOT, make_batches, parse
from tests.bench.keyword_cases import KeywordCase
from tests.bench.summary import Case, compare, quantiles, ratios, report, summarise, table
from tests.bench.worker import Outcome, Walk, fair

CASE = Case("three", "{}", [[1, 2], [3], [4]], [True, True, False])


def outcome(*times_ns: list[int], first_mask_ns: int = 1000) -> Outcome:
    """An outcome whose instances took these times and were accepted."""
    walks = [Walk(token_ns=times, accepted=True) for times in times_ns]
    return Outcome(first_mask_ns=first_mask_ns, walks=walks)


def test_a_percentile_is_the_time_at_that_rank() -> None:
    figures = quantiles([1000 * n for n in range(1000, 0, -1)])
    assert figures == {
        "mean": 500.5,
        "max": 1000.0,
        "p50": 501.0,
        "p90": 901.0,
        "p99": 991.0,
        "p99.9": 1000.0,
    }


def test_nothing_measured_has_no_figures() -> None:
    assert quantiles([]) == {}
    assert ratios({}, quantiles([5])) == {}


def test_a_ratio_is_ours_over_theirs() -> None:
    assert ratios({"mean": 1.0, "p50": 3.0}, {"mean": 4.0, "p50": 0.0}) == {"mean": 0.25}


def test_a_call_that_was_interrupted_counts_its_processor_time() -> None:
    assert fair(900, 50, switched=True) == 50
    assert fair(900, 950, switched=True) == 900
    assert fair(900, 50, switched=False) == 900


def test_each_wrong_verdict_is_counted_by_its_kind() -> None:
    walks = [
        Walk(accepted=True, contradicts_mask=True),
        Walk(accepted=False),
        Walk(accepted=True),
    ]
    summary = summarise([CASE], [Outcome(walks=walks)])
    assert summary["wrong"] == {
        "mask and accept differ": 1,
        "valid rejected": 1,
        "invalid accepted": 1,
    }
    assert [entry[:2] for entry in summary["failures"]] == [["three", "ok"]]


def test_what_was_refused_is_listed_with_its_reason() -> None:
    refused, fine = Outcome("refused", "no such keyword"), outcome([1000], first_mask_ns=3000)
    summary = summarise([CASE, CASE], [refused, fine])
    assert summary["schemas"] == {"refused": 1, "ok": 1}
    assert summary["failures"] == [["three", "refused", "no such keyword"]]
    assert summary["first_mask_us"]["mean"] == 3.0


def test_engines_are_compared_on_what_both_did() -> None:
    ours = [outcome([100, 100], [900]), outcome([7], first_mask_ns=9000), Outcome("refused")]
    theirs = [outcome([400, 400, 400], [100], first_mask_ns=4000), Outcome("refused"), outcome([5])]
    compared = compare(ours, theirs)
    assert (compared["schemas"], compared["tokens"]) == (1, 3)
    assert compared["first_mask"]["mean"] == 0.25
    assert compared["token"]["mean"] == pytest.approx(1100 / 900, abs=0.001)


def test_a_batch_takes_schemas_that_every_engine_got_right() -> None:
    options = parse(["--tokenizer", ".", "--corpus", ".", "--batch", "2", "--steps", "2"])
    cases = [Case(str(n), f"schema {n}", [[n], [n, n, n]], [True, True]) for n in range(5)]
    right = [outcome([1], [1]) for _ in cases]
    wrong_in_one = [*right[:1], Outcome("refused"), *right[2:]]
    batches = make_batches(options, cases, {"a": right, "b": wrong_in_one})
    assert [batch.texts for batch in batches] == [
        ["schema 0", "schema 2"],
        ["schema 3", "schema 4"],
    ]
    assert batches[0].instances == [[0, 0, 0], [2, 2, 2]]


def test_a_table_is_aligned_and_marks_what_is_missing() -> None:
    assert table(["", "a"], [["first", 1234], ["second row", None], ["x", 0.1234]]) == (
        "|            |     a |\n"
        "| ---------- | ----: |\n"
        "| first      | 1,234 |\n"
        "| second row |     - |\n"
        "| x          | 0.123 |"
    )


def test_the_report_leaves_out_rows_that_no_engine_has() -> None:
    drawn = report({"a": {"schemas": {"ok": 3}, "wrong": {}}, "b": {"schemas": {}}})
    assert [line.split("|")[1].strip() for line in drawn.splitlines()[2:]] == ["schemas ok"]


@pytest.fixture
def byte_tokenizer(tmp_path: Path) -> Path:
    """A folder with a tokenizer of the 256 bytes and an end token."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: id_ for id_, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    folder = tmp_path / "tokenizer"
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>").save_pretrained(folder)
    return folder


def test_the_masks_benchmark_runs_as_a_script(byte_tokenizer: Path, tmp_path: Path) -> None:
    tests = [{"data": "ab", "valid": True}, {"data": "abcd", "valid": False}]
    entries = [
        {"id": "short", "schema": {"type": "string", "maxLength": 3}, "tests": tests},
        {"id": "contradiction", "schema": {"type": "string", "enum": [1]}, "tests": tests},
    ]
    corpus, drawn = tmp_path / "corpus.jsonl", tmp_path / "table.md"
    corpus.write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    command = [sys.executable, str(ROOT / "tests" / "bench" / "bench_masks.py")]
    options = ["--tokenizer", byte_tokenizer, "--corpus", corpus, "--table", drawn]
    options += ["--engines", "guided", "--batch", "2", "--steps", "4"]
    ran = subprocess.run(
        [*command, *map(str, options)], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    (line,) = ran.stdout.splitlines()
    result = json.loads(line)
    measured = result["engines"]["guided"]
    assert measured["schemas"] == {"ok": 1, "refused": 1}
    assert measured["failures"][0][:2] == ["contradiction", "refused"]
    assert measured["wrong"] == {}
    # Mask by mask: "ab" and its end are 5; of "abcd" the third letter is the last one allowed.
    assert measured["tokens"] == 5 + 5
    assert result["sizes"]["batch"] == 1
    assert measured["batch"]["cold_ms"]["mean"] > 0
    assert "mask + accept p50, us" in drawn.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ([True, True, False], "enforced"),
        ([True, False, False], "narrowed"),
        ([True, True, True], "ignored"),
        ([False, True, True], "wrong"),
    ],
)
def test_a_keyword_has_one_verdict_of_all_its_texts(accepted: list[bool], expected: str) -> None:
    case = KeywordCase("any type", "type", {"type": "integer"}, ["1", "2"], ["null"])
    walks = [Walk(accepted=one) for one in accepted]
    assert verdict(case, Outcome(walks=walks)) == expected
    assert verdict(case, Outcome("refused", "no")) == "refused"


def test_the_keywords_benchmark_runs_as_a_script(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tests" / "bench" / "bench_keywords.py")]
    options = ["--engines", "guided", "--only", "enum|regex"]
    ran = subprocess.run(
        [*command, *options], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    (line,) = ran.stdout.splitlines()
    assert json.loads(line)["engines"]["guided"]["counts"] == {"enforced": 2, "refused": 1}
    assert "| `enum` | ✓ |" in ran.stderr


def test_the_cliffs_benchmark_runs_as_a_script(byte_tokenizer: Path) -> None:
    command = [sys.executable, str(ROOT / "tests" / "bench" / "bench_cliffs.py")]
    options = ["--tokenizer", str(byte_tokenizer), "--repeats", "2", "--only", "^recursion|^allOf"]
    ran = subprocess.run([*command, *options], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    (line,) = ran.stdout.splitlines()
    result = json.loads(line)
    assert result["failures"] == []
    names = ["allOf of 20 objects", "recursion through five definitions"]
    assert [row["name"] for row in result["rows"]] == names
    assert all(row["late_us"] > 0 for row in result["rows"])


def test_the_text_of_each_cliff_fits_its_schema() -> None:
    for cliff in CLIFFS:
        assert jsonschema_rs.is_valid(cliff.schema("x"), json.loads(cliff.text())), cliff


def test_the_tools_benchmark_runs_as_a_script(byte_tokenizer: Path) -> None:
    command = [sys.executable, str(ROOT / "tests" / "bench" / "bench_tools.py")]
    options = ["--tokenizer", str(byte_tokenizer), "--repeats", "1", "--counts", "1,2"]
    ran = subprocess.run(
        [*command, *options, "--formats", "hermes"], capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert [row["tools"] for row in result["rows"]] == [1, 2]
    assert result["fresh"]["ms"] > result["rows"][0]["ms"] > 0
