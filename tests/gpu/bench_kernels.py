"""How fast the kernels are on a GPU: JSON on standard output, a table on standard error.

    python tests/gpu/bench_kernels.py [--dtype bfloat16] [--stored plain] [--seconds 100]

Decoding is measured for one layer of 32 query heads and 8 KV heads of 128, pages of 64 tokens in
random order, against the copy bandwidth of the same device and torch's fused attention over
contiguous keys and values of the same numbers. The L2 cache is cleared before each repetition.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from triton.testing import do_bench

from guided.decoding.attention import triton_attention
from guided.decoding.batch import Batch, SequenceRows
from guided.decoding.pages import LayerLayout, LayerPages
from guided.masks.mask_kernel import forbid_on_device
from tests.bench.record import commit, versions

HEADS, KV_HEADS, HEAD, PAGE = 32, 8, 128, 64
BATCHES = [1, 4, 16, 64]
CONTEXTS = [1024, 8192, 65536, 131072]
WIDTH = 128_256
MOST_BYTES = 40e9  # of K and V; a copy of them for torch's attention comes on top


def seconds(function: Any, repetitions: int) -> dict[str, float]:
    """Return median and 99th percentile of the seconds of a call, by events of the device."""
    times = do_bench(function, warmup=5, rep=repetitions, return_mode="all")
    ordered = sorted(times)
    return {
        "median": ordered[len(ordered) // 2] / 1e3,
        "p99": ordered[int(len(ordered) * 0.99)] / 1e3,
        "count": len(ordered),
    }


def copy_bandwidth() -> float:
    """Return bytes a second of a copy of 4 GB on the device, read and written."""
    source = torch.randn(1 << 30, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.nbytes / seconds(lambda: target.copy_(source), 100)["median"]


def measure_decode(
    batch: int, context: int, dtype: torch.dtype, stored: Any, bandwidth: float
) -> dict[str, Any]:
    """Measure a decode step of one layer."""
    count = -(-context // PAGE)
    layout = LayerLayout(KV_HEADS, HEAD, HEAD, dtype, torch.device("cuda", 0), stored)
    pages = LayerPages(layout, 1 + batch * count, PAGE)
    for first in range(0, len(pages.keys), 4096):  # in parts: random numbers are float32 first
        size = min(4096, len(pages.keys) - first)
        slots = torch.arange(first * PAGE, (first + size) * PAGE, device="cuda")
        numbers = torch.randn(2, len(slots), KV_HEADS, HEAD, device="cuda").to(dtype)
        pages.write(slots, numbers[0], numbers[1], first * PAGE)
    order = (torch.randperm(batch * count) + 1).view(batch, count)
    rows = [SequenceRows([0], context, numbers.tolist()) for numbers in order]
    packed = Batch(rows, PAGE, torch.device("cuda", 0))
    query = pages.rotate(torch.randn(batch, HEADS, HEAD, device="cuda", dtype=dtype))

    def ours() -> torch.Tensor:
        return triton_attention.attend(query, pages, packed, scale=HEAD**-0.5)

    found = ours()
    taken = seconds(ours, 40)
    read = batch * context * layout.token_bytes
    row: dict[str, Any] = {"batch": batch, "context": context, "bytes": read, **taken}
    row["share_of_copy"] = read / taken["median"] / bandwidth
    if stored is None:
        keys, values = (
            tensor[order.cuda().flatten()]
            .view(batch, -1, KV_HEADS, HEAD)
            .transpose(1, 2)
            .contiguous()
            for tensor in (pages.keys, pages.values)
        )

        def torchs() -> torch.Tensor:
            return scaled_dot_product_attention(
                query.unsqueeze(2), keys[:, :, :context], values[:, :, :context], enable_gqa=True
            )

        row["error_to_torch"] = float((found.float() - torchs().squeeze(2).float()).abs().max())
        row["torch"] = seconds(torchs, 40)["median"]
        row["times_torch"] = row["torch"] / taken["median"]
    return row


def measure_mask(
    batch: int, dtype: torch.dtype, allowed: float, bandwidth: float
) -> dict[str, Any]:
    """Measure the mask kernel where a share of all words is allowed, and the rest forbidden."""
    logits = torch.randn(batch, WIDTH, device="cuda").to(dtype)
    words = torch.where(torch.rand(4096, WIDTH // 32, device="cuda") < allowed, -1, 0).int()
    numbers = torch.randint(0, 4096, (batch,), device="cuda").int()
    taken = seconds(lambda: forbid_on_device(logits, words, numbers), 20)
    forbidden = int((words[numbers.long()] == 0).sum()) * 32
    moved = forbidden * logits.element_size() + batch * words.shape[1] * 4
    row = {"batch": batch, "dtype": str(dtype), "allowed": allowed, "bytes": moved, **taken}
    return row | {"times_bytes": taken["median"] * bandwidth / moved}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dtype", default="bfloat16", choices=["float32", "float16", "bfloat16"])
    parser.add_argument("--stored", default="plain", choices=["plain", "int8", "fp8"])
    parser.add_argument("--seconds", type=float, default=100, help="begin nothing after these")
    options = parser.parse_args()
    torch.manual_seed(0)
    began = time.monotonic()
    dtype = getattr(torch, options.dtype)
    stored = None if options.stored == "plain" else options.stored
    bandwidth = copy_bandwidth()
    result: dict[str, Any] = {
        "commit": commit(),
        "device": torch.cuda.get_device_name(),
        "versions": versions(["torch", "triton"]),
        "dtype": options.dtype,
        "stored": options.stored,
        "copy_bandwidth": bandwidth,
        "decode": [],
        "mask": [],
        "left_out": [],
    }
    print(f"copy {bandwidth / 1e12:.2f} TB/s", file=sys.stderr)
    for batch in (1, 16, 64, 1024):
        for allowed in (0.0, 0.9):
            row = measure_mask(batch, dtype, allowed, bandwidth)
            result["mask"].append(row)
            print(f"mask {batch} {allowed}: {row['times_bytes']:.2f} x bytes", file=sys.stderr)
    for context in CONTEXTS:
        for batch in BATCHES:
            size = batch * context * 2 * KV_HEADS * HEAD * dtype.itemsize
            if size > MOST_BYTES or time.monotonic() - began > options.seconds:
                result["left_out"].append({"batch": batch, "context": context})
                continue
            row = measure_decode(batch, context, dtype, stored, bandwidth)
            result["decode"].append(row)
            print(
                f"decode {batch} x {context}: {row['median'] * 1e6:.0f} us,"
                f" {row['share_of_copy']:.2f} of copy, {row.get('times_torch', 0):.1f} x torch",
                file=sys.stderr,
            )
            torch.cuda.empty_cache()
    print(json.dumps(result))


if __name__ == "__main__":
    main()
