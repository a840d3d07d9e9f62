"""Linear layers of few rows, by torch and by the core: `python tests/bench/bench_linears.py`.

The layers and the head of a model of the sizes of SmolLM2-135M, with weights drawn at random, one
after the other as in a forward. Prints milliseconds, minima of `--repeats`, as one JSON line.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import torch
from torch import Tensor
from torch.nn.functional import linear

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # so that this file also runs as a script

from guided.decoding.models.linears import few_rows_linear  # noqa: E402 (after the path is set)
from guided.decoding.models.openmp import share_threads  # noqa: E402
from tests.bench import record  # noqa: E402

LAYER = [(576, 576), (192, 576), (192, 576), (576, 576), (1536, 576), (1536, 576), (576, 1536)]
HEAD = (49_152, 576)


def measure(weights: Sequence[Tensor], rows: int, repeats: int) -> dict[str, float]:
    """Return milliseconds for the products of all weights with so many rows."""
    inputs = {
        size: torch.randn(1, rows, size).to(weights[0].dtype)
        for size in {weight.shape[1] for weight in weights}
    }
    found = {}
    for name in ("torch", "core"):
        best = float("inf")
        for _ in range(repeats):
            start = perf_counter()
            for weight in weights:
                hidden = inputs[weight.shape[1]]
                if name == "torch":
                    linear(hidden, weight)
                else:
                    few_rows_linear(hidden, weight, None)
            best = min(best, perf_counter() - start)
        found[name] = round(1e3 * best, 1)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--layers", type=int, default=30)
    parser.add_argument("--rows", default="1,2,4,8,16,24,32")
    parser.add_argument("--dtypes", default="float32,bfloat16")
    parser.add_argument("--repeats", type=int, default=8)
    options = parser.parse_args(arguments)
    if not share_threads():
        parser.error("the core cannot use torch's threads here")
    rows = []
    with torch.inference_mode():
        for dtype in options.dtypes.split(","):
            shapes = [*LAYER * options.layers, HEAD]
            weights = [torch.randn(shape).to(getattr(torch, dtype)) / 24 for shape in shapes]
            for count in map(int, options.rows.split(",")):
                times = measure(weights, count, options.repeats)
                rows.append({"dtype": dtype, "rows": count, **times})
    results = {
        **record.about("linears", ["torch"]),
        "rows": rows,
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main()
