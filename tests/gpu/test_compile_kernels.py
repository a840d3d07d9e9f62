"""Every kernel compiles for sm_80 and sm_90, without a GPU, and spills nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("triton", reason="Triton is not installed (extra gpu)")

ROOT = Path(__file__).parents[2]


def compile_kernels(matrix: str) -> list[dict[str, Any]]:
    """Compile in a process of its own: in this one the kernels may be the interpreter's."""
    environment = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    environment |= {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    environment.setdefault("TRITON_CACHE_DIR", str(ROOT / "build" / "triton"))
    command = [sys.executable, str(ROOT / "tests/gpu/compile_kernels.py"), "--matrix", matrix]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert run.stdout, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def check(rows: list[dict[str, Any]]) -> None:
    assert [row for row in rows if row["spilled"] or not row["fits"]] == []
    # Tiles of K and V are copied while others are worked on: the pace of a decode step.
    assert all(row["pipelined"] for row in rows if row["kernel"] == "split")


def test_kernels_compile_and_spill_nothing() -> None:
    rows = compile_kernels("covering")
    check(rows)
    for name, values in {
        "capability": {80, 90},
        "dtype": {"float32", "float16", "bfloat16"},
        "stored": {"plain", "int8", "fp8"},
        "head": {64, 80, 96, 128, 256},
        "page": {16, 32, 64, 128},
        "kernel": {"split", "merge", "mask", "sample"},
    }.items():
        assert {row[name] for row in rows} == values


@pytest.mark.nightly
def test_kernels_of_all_dtypes_pages_and_heads_compile_and_spill_nothing() -> None:
    rows = compile_kernels("all")
    assert len(rows) == 2 * 3 * 3 * 5 * 4 * 2 + 2 * 3 * 5 * 2 + 2 * 3 + 2 * 3 * 2
    check(rows)
