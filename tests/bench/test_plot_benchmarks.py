"""The plots of benchmarks are drawn from what the benchmarks print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench.plot_benchmarks import POINTS, main

pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra bench)")


def test_both_plots_are_drawn(tmp_path: Path) -> None:
    times = {"mean": 3.0, **{point: 2.0 * place + 1 for place, point in enumerate(POINTS)}}
    engine = {"token_us": times, "first_mask_us": times}
    masks = {"engines": {"guided": engine, "llguidance": engine}}
    rows = [
        {"dtype": dtype, "case": "even 1", "engine": name, "tokens_per_second": 20.0}
        for dtype in ("float32", "bfloat16")
        for name in ("guided", "llguidance")
    ]
    rows += [
        {"dtype": "GGUF", "case": "even 1", "engine": "llama.cpp, free", "tokens_per_second": 9.0},
        {"dtype": "float32", "case": "even 8", "engine": "llguidance", "failure": "out of memory"},
    ]
    for name, found in (("m.json", masks), ("d.json", {"rows": rows})):
        (tmp_path / name).write_text(json.dumps(found))
    main([str(tmp_path), str(tmp_path / "m.json"), str(tmp_path / "d.json")])
    for name, words in (
        ("masks.svg", ("guided (mean 3 us)", "llguidance (mean 3 us)", "first mask")),
        ("decode.svg", ("llguidance", "float32", "bfloat16", "even 1")),
    ):
        drawn = (tmp_path / name).read_text()
        assert all(f"<!-- {word} -->" in drawn for word in words)
        assert "llama.cpp" not in drawn
