"""Attention of one layer on a CPU, by torch and the core: `python tests/bench/bench_attention.py`.

Pages of 64 tokens in random order, heads of the sizes of SmolLM2-135M, random numbers. Prints
milliseconds, minima of `--repeats`, as one JSON line.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from unittest.mock import patch

import torch
from torch import Tensor

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # so that this file also runs as a script

from guided.decoding.attention import torch_attention  # noqa: E402 (after the path is set)
from guided.decoding.attention.core_attention import plan_of  # noqa: E402
from guided.decoding.batch import Batch, SequenceRows  # noqa: E402
from guided.decoding.models.openmp import share_threads  # noqa: E402
from guided.decoding.pages import KVDtype, LayerLayout, LayerPages  # noqa: E402
from tests.bench import record  # noqa: E402

QUERY_HEADS, HEADS, SIZE, PAGE = 9, 3, 64, 64
# Sequences, tokens cached, new rows of each.
CASES = [
    (1, 300, 1),
    (8, 300, 1),
    (8, 2000, 1),
    (1, 16_000, 1),
    (8, 300, 8),
    (8, 0, 137),
    (1, 3500, 512),
]


def draw(
    count: int, cached: int, rows: int, dtype: torch.dtype, kv_dtype: KVDtype | None
) -> tuple[Tensor, LayerPages, list[SequenceRows]]:
    """Sequences of one length, on pages of their own."""
    length = cached + rows
    each = -(-length // PAGE)
    layout = LayerLayout(HEADS, SIZE, SIZE, dtype, torch.device("cpu"), kv_dtype)
    pages = LayerPages(layout, count * each + 1, PAGE)
    slots = torch.arange(PAGE, (count * each + 1) * PAGE)
    keys, values = torch.randn(2, len(slots), HEADS, SIZE).to(dtype)
    pages.write(slots, keys, values)
    free = random.Random(0).sample(range(1, count * each + 1), count * each)
    sequences = [
        SequenceRows([0] * rows, length, free[at * each : (at + 1) * each]) for at in range(count)
    ]
    return torch.randn(count * rows, QUERY_HEADS, SIZE).to(dtype), pages, sequences


def measure(
    case: tuple[int, int, int], dtype: torch.dtype, kv_dtype: KVDtype | None, repeats: int
) -> dict[str, float]:
    """Return milliseconds of one layer; what a step works out once for all is not in them."""
    query, pages, sequences = draw(*case, dtype, kv_dtype)
    found = {}
    for name in ("torch", "core"):
        planned = plan_of if name == "core" else lambda *_: None
        best = float("inf")
        with patch.object(torch_attention, "plan_of", planned):
            for _ in range(repeats):
                batch = Batch(sequences, PAGE)
                torch_attention.attend(query, pages, batch, scale=SIZE**-0.5)
                start = perf_counter()
                torch_attention.attend(query, pages, batch, scale=SIZE**-0.5)
                best = min(best, perf_counter() - start)
        found[name] = round(1e3 * best, 3)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--dtypes", default="bfloat16,float32")
    parser.add_argument("--repeats", type=int, default=8)
    options = parser.parse_args(arguments)
    if not share_threads():
        parser.error("the core cannot use torch's threads here")
    rows = []
    with torch.inference_mode():
        for name in options.dtypes.split(","):
            kinds: list[KVDtype | None] = [None, "int8"] if name == "float32" else [None]
            for kv_dtype in kinds:
                for case in CASES:
                    times = measure(case, getattr(torch, name), kv_dtype, options.repeats)
                    named = dict(zip(("sequences", "cached", "new"), case, strict=True))
                    rows.append({"dtype": name, "kv_dtype": kv_dtype, **named, **times})
    results = {
        **record.about("attention", ["torch"]),
        "rows": rows,
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main()
