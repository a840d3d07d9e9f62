"""Compile the kernels for GPUs that need not be there; print what their machine code takes.

    python tests/gpu/compile_kernels.py --matrix covering     a JSON line a kernel
    python tests/gpu/compile_kernels.py --matrix all          every dtype, page and head size
    python tests/gpu/compile_kernels.py --matrix table        the table of docs/benchmarks.md

Exits with 1 if a kernel spills registers or takes more shared memory than a program may have.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

os.environ.pop("TRITON_INTERPRET", None)  # before Triton is imported

import torch

from guided.decoding.attention.kernels.launch import Rows, Rule, merge_launch, split_launch
from guided.decoding.attention.kernels.tiles import Splits, choose_tile
from guided.masks.launch import Launch
from guided.masks.mask_kernel import mask_launch
from guided.sampling.device import RowOptions, sample_launch
from tests.gpu.compiling import Resources, compile_launch

CAPABILITIES = {80: 163 * 1024, 90: 227 * 1024}  # bytes of shared memory that a program may have
DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
STORED = {"plain": None, "int8": torch.int8, "fp8": torch.uint8}
HEADS = [64, 80, 96, 128, 256]
PAGES = [16, 32, 64, 128]
GROUP, KV_HEADS, SPLITS = 4, 2, 8


@dataclass(frozen=True)
class Variant:
    """A kernel of attention: `full` has window, sinks, soft cap, sink logits and a tree of rows.

    A sampling kernel that is full has masks from a pool."""

    capability: int
    dtype: str
    stored: str
    head: int
    page: int
    full: bool = False
    kernel: str = "split"


@dataclass
class StoredPages:
    keys: torch.Tensor
    values: torch.Tensor
    key_scales: torch.Tensor | None
    value_scales: torch.Tensor | None


def launch_of(variant: Variant) -> Launch:
    """Make the launch of a variant; its tensors have shapes and no memory."""

    def empty(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device="meta")

    dtype, stored = DTYPES[variant.dtype], STORED[variant.stored]
    if variant.kernel == "mask":
        numbers = empty(8, dtype=torch.int32)
        return mask_launch(
            empty(8, 128_256, dtype=dtype), empty(4096, 4008, dtype=torch.int32), numbers
        )
    if variant.kernel == "sample":
        logits, tokens = empty(8, 128_256, dtype=dtype), empty(8, dtype=torch.int64)
        masks, numbers = empty(4096, 4008, dtype=torch.int32), empty(8, dtype=torch.int32)
        options = RowOptions(empty(3, 8, dtype=torch.float64), empty(3, 8, dtype=torch.int64))
        if not variant.full:
            return sample_launch(logits, options, None, None, tokens)
        return sample_launch(logits, options, masks, numbers, tokens)
    count = 8 if variant.full else 1  # rows a sequence
    query = empty(2 * count, KV_HEADS * GROUP, variant.head, dtype=dtype)
    held = empty(9, variant.page, KV_HEADS, variant.head, dtype=stored or dtype)
    scales = None if stored is None else empty(9, variant.page, KV_HEADS)
    rows = Rows(
        starts=empty(3, dtype=torch.int32),
        lengths=empty(2, dtype=torch.int32),
        tables=empty(2, 4, dtype=torch.int32),
        most=count,
        positions=empty(2 * count, dtype=torch.int64) if variant.full else None,
        visible=empty(2 * count, count, dtype=torch.bool) if variant.full else None,
    )
    rule = Rule(0.125)
    if variant.full:
        rule = Rule(0.125, window=100, sinks=4, soft_cap=30.0, sink_logits=empty(8, dtype=dtype))
    tile = choose_tile(
        count * GROUP, variant.head, variant.head, dtype.itemsize, stored is not None
    )
    partial, output = empty(1), empty(*query.shape, dtype=dtype)
    splits = Splits(SPLITS, tile.tokens)
    if variant.kernel == "merge":
        return merge_launch(rows, rule, splits, partial, partial, output)
    pages = StoredPages(held, held, scales, scales)
    return split_launch(query, pages, rows, rule, tile, splits, partial, partial, output)


def covering() -> list[Variant]:
    """A few variants in which each dtype, format, head and page size is met, those at the limit
    of registers and shared memory among them."""
    return [
        Variant(90, "bfloat16", "plain", 128, 64),
        Variant(80, "float16", "plain", 128, 16, full=True),
        Variant(90, "bfloat16", "fp8", 128, 16, full=True),
        Variant(80, "bfloat16", "int8", 64, 32, full=True),
        Variant(80, "float16", "fp8", 256, 128, full=True),
        Variant(90, "bfloat16", "plain", 256, 16, full=True),
        Variant(90, "float32", "plain", 128, 64, full=True),
        Variant(80, "float32", "fp8", 256, 16, full=True),
        Variant(90, "float16", "int8", 96, 128),
        Variant(80, "bfloat16", "plain", 80, 64),
        Variant(90, "bfloat16", "plain", 256, 64, kernel="merge"),
        Variant(80, "float32", "plain", 80, 64, full=True, kernel="merge"),
        Variant(80, "float16", "plain", 64, 64, kernel="mask"),
        Variant(90, "bfloat16", "plain", 64, 64, kernel="mask"),
        Variant(80, "float16", "plain", 64, 64, full=True, kernel="sample"),
        Variant(90, "bfloat16", "plain", 64, 64, full=True, kernel="sample"),
        Variant(90, "float32", "plain", 64, 64, kernel="sample"),
    ]


def everything() -> Iterator[Variant]:
    """Every dtype, format, head and page size, with all features and with none."""
    for capability, dtype, stored, head, page, full in itertools.product(
        CAPABILITIES, DTYPES, STORED, HEADS, PAGES, [False, True]
    ):
        yield Variant(capability, dtype, stored, head, page, full)
    for capability, dtype, head, full in itertools.product(
        CAPABILITIES, DTYPES, HEADS, [False, True]
    ):
        yield Variant(capability, dtype, "plain", head, 64, full, kernel="merge")
    for capability, dtype in itertools.product(CAPABILITIES, DTYPES):
        yield Variant(capability, dtype, "plain", 64, 64, kernel="mask")
    for capability, dtype, full in itertools.product(CAPABILITIES, DTYPES, [False, True]):
        yield Variant(capability, dtype, "plain", 64, 64, full, kernel="sample")


def measure(variant: Variant) -> dict[str, Any]:
    """Compile a variant and return its row of the result."""
    found: Resources = compile_launch(launch_of(variant), variant.capability)
    fits = found.stack == 0 and found.shared <= CAPABILITIES[variant.capability]
    return asdict(variant) | {
        "registers": found.registers,
        "spilled": found.stack,
        "shared": found.shared,
        "pipelined": "cp.async" in found.assembly,
        "fits": fits,
    }


def print_table() -> bool:
    """Print registers, spilled bytes and shared memory of decoding, page size 64."""
    fits = True
    print("| query | pages | head | rows | sm_80 | sm_90 |\n|---|---|---|---|---|---|")
    names = itertools.product(["bfloat16", "float32"], STORED, [64, 128, 256], [False, True])
    for dtype, stored, head, full in names:
        rows = [measure(Variant(each, dtype, stored, head, 64, full)) for each in CAPABILITIES]
        fits &= all(row["fits"] for row in rows)
        cells = [f"{row['registers']} / {row['spilled']} / {row['shared']:,}" for row in rows]
        what = "8, all features" if full else "1"
        print(f"| {dtype} | {stored} | {head} | {what} | {cells[0]} | {cells[1]} |", flush=True)
    return fits


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--matrix", choices=["covering", "all", "table"], default="covering")
    matrix = parser.parse_args().matrix
    if matrix == "table":
        return 0 if print_table() else 1
    fits = True
    for variant in covering() if matrix == "covering" else everything():
        row = measure(variant)
        fits &= row["fits"]
        print(json.dumps(row), flush=True)
    return 0 if fits else 1


if __name__ == "__main__":
    sys.exit(main())
