"""The benchmark of processors: that it runs, and that all engines write the texts."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.bench import bench_processors
from tests.bench.bench_processors import SCHEMA, texts
from tests.decoding.tiny_model import tiny_tokenizer


def test_the_texts_fit_the_schema_and_differ() -> None:
    written = texts(4)
    assert len(set(written)) == 4
    for text in written:
        jsonschema.validate(json.loads(text), SCHEMA)


def test_it_measures_each_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny_tokenizer().save_pretrained(tmp_path)
    options = ["--tokenizer", str(tmp_path), "--tokens", "12", "--repeats", "2"]
    bench_processors.main([*options, "--engines", "no mask", "guided", "--batch", "1", "3"])
    shown = capsys.readouterr()
    result = json.loads(shown.out)
    assert result["failures"] == []
    assert [(row["engine"], row["batch"], row["calls"]) for row in result["rows"]] == [
        ("no mask", 1, 24),
        ("guided", 1, 24),
        ("no mask", 3, 24),
        ("guided", 3, 24),
    ]
    assert all(row["call_us"]["p50"] > 0 for row in result["rows"])
    assert "whole step, us" in shown.err
