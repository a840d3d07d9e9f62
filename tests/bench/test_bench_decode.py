"""The benchmark of whole generations: what its rows mean, and that it runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bench.bench_decode import ROOT, Case, draw, even, ragged, row_of, write_prompt
from tests.bench.decode_engines import SCHEMAS
from tests.decoding.tiny_gguf import tiny_network as tiny_qwen
from tests.decoding.tiny_gguf import write_gguf
from tests.decoding.tiny_model import tiny_network, tiny_tokenizer

SCRIPT = ROOT / "tests" / "bench" / "bench_decode.py"
SMALL = ["--tokens", "6", "--length", "20", "--longest", "30", "--repeats", "2", "--threads", "1"]


def run(*options: str) -> tuple[dict[str, Any], str]:
    command = [sys.executable, str(SCRIPT), *SMALL, *options]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert ran.returncode == 0, ran.stderr
    (line,) = ran.stdout.splitlines()
    return json.loads(line), ran.stderr


def test_a_ragged_batch_goes_from_short_to_long_in_equal_steps() -> None:
    assert ragged(3, 100, "string").lengths == (20, 60, 100)
    assert ragged(1, 100, "string").lengths == (20,)
    assert even(2, 30, "string") == Case("string, batch 2", (30, 30), "string")


def test_prompts_differ_from_their_first_word_on_and_are_repeatable() -> None:
    prompts = [write_prompt(30, f"case {b}") for b in range(50)]
    assert len({prompt.split()[0] for prompt in prompts}) == 50
    assert prompts[7] == write_prompt(30, "case 7")
    assert all(len(prompt.split()) > 18 for prompt in prompts)


def test_a_row_has_the_medians_of_its_runs() -> None:
    case = even(2, 30, "string")
    runs = [
        {
            "seconds": s,
            "processor": 2 * s,
            "first": s / 2,
            "tokens": 12,
            "forced": 3,
            "forwards": 5,
            "prompt": 60,
        }
        for s in (1.0, 3.0, 2.0)
    ]
    row = row_of("guided", case, runs)
    assert row["tokens_per_second"] == 6.0
    assert row["tokens_per_processor_second"] == 3.0
    assert row["first_token_seconds"] == 1.0
    assert row["forced_share"] == 0.25
    failed = row_of("other", case, [*runs, {"failure": "MemoryError: "}])
    assert failed["failure"] == "MemoryError: "
    assert "tokens_per_second" not in failed
    slower = {**row, "engine": "slower", "tokens_per_second": 4.0}
    drawn = draw([{**each, "dtype": "bfloat16"} for each in (row, failed, slower)])
    cells = [cell.strip() for cell in drawn.splitlines()[-1].split("|")]
    assert cells[2:7] == ["slower", "4", "1.5", "3", "1"]


def test_no_text_of_a_schema_ends_before_it_is_cut() -> None:
    assert SCHEMAS["string"]["minLength"] > 16 * 64  # no token of the vocabularies is longer
    assert SCHEMAS["records"]["minItems"] > 64


def test_the_decode_benchmark_runs_as_a_script(tmp_path: Path) -> None:
    tiny_network().save_pretrained(tmp_path)
    tiny_tokenizer().save_pretrained(tmp_path)
    options = ["--engines", "guided,no-such", "--dtypes", "float32", "--batches", "1,3"]
    found, drawn = run("--model", str(tmp_path), "--gguf", "", "--schemas", "records", *options)
    names = ["records, batch 1", "records, batch 3", "records, ragged batch 3"]
    ours = [row for row in found["rows"] if row["engine"] == "guided"]
    assert [row["case"] for row in ours] == names
    assert [row["tokens"] for row in ours] == [6, 18, 18]
    assert all(row["tokens_per_second"] > 0 and row["first_token_seconds"] > 0 for row in ours)
    assert len(found["failures"]) == 3
    assert "| records, batch 1, float32 " in drawn


@pytest.mark.nightly
@pytest.mark.llama
def test_it_compares_with_llama_cpp(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp", reason="the extra `llama` is not installed")
    path = tmp_path / "tiny.gguf"
    write_gguf(path, "qwen2", tiny_qwen("qwen2"))
    options = ["--dtypes", "", "--gguf", str(path), "--batches", "1,3", "--schemas", "string"]
    found, _ = run(*options)
    assert found["failures"] == []
    assert [row["engine"] for row in found["rows"][:3]] == [
        "guided",
        "llama.cpp, free",
        "llama.cpp, its grammar",
    ]
    assert [row["tokens"] for row in found["rows"]] == [6] * 3 + [18] * 6
