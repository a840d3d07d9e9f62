"""The kernels with their arguments: what is launched on a device is what tests compile.

`PLAIN`, `INT8`, `FP8` and the kernels are of `split.py` and `merge.py`; this module turns tensors
into their arguments. It needs Triton.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from triton.runtime import JITFunction

from guided.decoding.attention.kernels.merge import merge_splits
from guided.decoding.attention.kernels.split import split_attention
from guided.decoding.attention.kernels.tiles import Splits, Tile, power_above
from guided.masks.launch import Launch

FORMATS = {torch.int8: 1, torch.uint8: 2}  # of pages; any other dtype is that of the query
MERGED = 16  # splits that the merging kernel takes at a time


@dataclass(frozen=True, slots=True)
class Rows:
    """Which query rows there are, and where their context lies; tensors on the device.

    Attributes:
        starts: (B + 1,) int32, first query row of each sequence, and T.
        lengths: (B,) int32, tokens of each sequence, its query rows included.
        tables: (B, N) int32, pages of each sequence.
        most: rows of the largest sequence to be taken; sequences with more are left alone.
        positions: (T,) int64, wanted with `visible`.
        visible: (T, M) bool; in a tree, which new rows of its own sequence a row sees.
    """

    starts: Tensor
    lengths: Tensor
    tables: Tensor
    most: int
    positions: Tensor | None = None
    visible: Tensor | None = None


class Pages(Protocol):
    """K and V of a layer, as `LayerPages` keeps them.

    Attributes:
        keys: (P, S, Hkv, D), values: (P, S, Hkv, Dv); in the dtype of the query, int8, or uint8
            that holds the bits of e4m3. The last dimension is contiguous.
        key_scales, value_scales: (P, S, Hkv) float32 or float16, of the same strides; None where K
            and V are in the dtype of the query.
    """

    keys: Tensor
    values: Tensor
    key_scales: Tensor | None
    value_scales: Tensor | None


@dataclass(frozen=True, slots=True)
class Rule:
    """Who sees whom, and how scores become weights; see `attend`."""

    scale: float
    window: int | None = None
    sinks: int = 0
    soft_cap: float | None = None
    sink_logits: Tensor | None = None


def interpreted() -> bool:
    """Whether the kernels run in Triton's interpreter, on the CPU."""
    return not isinstance(split_attention, JITFunction)


def split_launch(
    query: Tensor,
    pages: Pages,
    rows: Rows,
    rule: Rule,
    tile: Tile,
    splits: Splits,
    partial: Tensor,
    logsums: Tensor,
    output: Tensor,
) -> Launch:
    """Prepare the attention of each split.

    Args:
        query: (T, Hq, D), the last dimension contiguous.
        pages, rows, rule, tile, splits: as they say.
        partial: (splits, B, rows.most, Hq, Dv) float32, contiguous; unused with one split.
        logsums: (splits, B, rows.most, Hq) float32, likewise.
        output: (T, Hq, Dv), written with one split.
    """
    heads, head_size = query.shape[1:]
    _, page_size, kv_heads, value_size = pages.values.shape
    group = heads // kv_heads
    row_blocks = max(1, -(-rows.most * group // tile.pairs))
    scales = pages.key_scales
    arguments: dict[str, Tensor | int | float | None] = {
        "query": query,
        "keys": pages.keys,
        "values": pages.values,
        "key_scales": pages.key_scales,
        "value_scales": pages.value_scales,
        "starts": rows.starts,
        "lengths": rows.lengths,
        "tables": rows.tables,
        "positions": rows.positions,
        "visible": rows.visible,
        "sink_logits": rule.sink_logits,
        "partial": partial,
        "logsums": logsums,
        "output": output,
        "scale": rule.scale,
        "soft_cap": float(rule.soft_cap or 0.0),
        "window": rule.window or 0,
        "sinks": rule.sinks,
        "least_chunk": splits.chunk,
        "most_rows": rows.most,
        "row_blocks": row_blocks,
        "query_row": query.stride(0),
        "query_head": query.stride(1),
        "key_page": pages.keys.stride(0),
        "key_token": pages.keys.stride(1),
        "key_head": pages.keys.stride(2),
        "value_page": pages.values.stride(0),
        "value_token": pages.values.stride(1),
        "value_head": pages.values.stride(2),
        "scale_page": 0 if scales is None else scales.stride(0),
        "scale_token": 0 if scales is None else scales.stride(1),
        "scale_head": 0 if scales is None else scales.stride(2),
        "table_row": rows.tables.stride(0),
        "visible_row": 0 if rows.visible is None else rows.visible.stride(0),
        "output_row": output.stride(0),
        "output_head": output.stride(1),
    }
    constants: dict[str, int | bool] = {
        "HEADS": heads,
        "GROUP": group,
        "D": head_size,
        "DV": value_size,
        "BLOCK_D": max(16, power_above(head_size)),
        "BLOCK_DV": max(16, power_above(value_size)),
        "PAGE": page_size,
        "BLOCK_M": tile.pairs,
        "BLOCK_N": tile.tokens,
        "FORMAT": FORMATS.get(pages.keys.dtype, 0),
        "WINDOW": rule.window is not None,
        "TREE": rows.visible is not None,
        "SOFT_CAP": rule.soft_cap is not None,
        "SINK_LOGITS": rule.sink_logits is not None,
        "SPLIT": splits.count > 1,
        "INTERPRETED": interpreted(),
    }
    grid = (splits.count, kv_heads * row_blocks, rows.lengths.shape[0])
    return Launch(split_attention, grid, arguments, constants, tile.warps, tile.stages)


def merge_launch(
    rows: Rows, rule: Rule, splits: Splits, partial: Tensor, logsums: Tensor, output: Tensor
) -> Launch:
    """Prepare the merge of what `split_launch` leaves in `partial` and `logsums`."""
    value_size = output.shape[2]
    arguments: dict[str, Tensor | int | float | None] = {
        "partial": partial,
        "logsums": logsums,
        "starts": rows.starts,
        "sink_logits": rule.sink_logits,
        "output": output,
        "splits": splits.count,
        "most_rows": rows.most,
        "output_row": output.stride(0),
        "output_head": output.stride(1),
    }
    constants: dict[str, int | bool] = {
        "HEADS": output.shape[1],
        "DV": value_size,
        "BLOCK_DV": max(16, power_above(value_size)),
        "BLOCK_S": MERGED,
        "SINK_LOGITS": rule.sink_logits is not None,
        "INTERPRETED": interpreted(),
    }
    grid = (rows.most, output.shape[1], rows.lengths.shape[0])
    return Launch(merge_splits, grid, arguments, constants, warps=4, stages=1)
