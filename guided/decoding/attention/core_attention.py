"""Attention by the core, on a CPU: keys and values are read in place, of all sequences at once.

What torch's fused attention needs is copied together first, and a call a sequence or padding is
needed where sequences differ in length. The core (`attend_rows`) walks the pages, of all sequences
in one call, and dequantizes int8 as it goes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from guided import _core
from guided.decoding.batch import Batch, SequenceRows
from guided.decoding.models.openmp import share_threads
from guided.decoding.pages import LayerPages

_MOST_TREE = 64  # rows of a tree: a bit each
_MOST_QUANTIZED = 4  # rows of int8: the core dequantizes for each few queries, torch once for all
_DTYPES = (torch.float32, torch.bfloat16)


def plan_of(
    query: Tensor, pages: LayerPages, batch: Batch, window: int | None, sinks: int
) -> _core.AttentionPlan | None:
    """Return who sees what, kept for the other layers of the step; None where torch must attend."""
    layout = pages.layout
    serves = (
        query.is_cpu
        and query.dtype in _DTYPES
        and layout.dtype == query.dtype
        and (
            layout.kv_dtype is None
            or (layout.kv_dtype == "int8" and batch.most_rows <= _MOST_QUANTIZED)
        )
        and all(len(rows.parents) <= _MOST_TREE for rows in batch.rows)
        and batch.page_size % 4 == 0
        and _core.can_attend(layout.key_size, layout.value_size)
        and share_threads()
    )
    if not serves:
        return None
    key = ("plan", window, sinks)
    if key not in batch.memo:
        batch.memo[key] = plan(batch, window, sinks)
    found: _core.AttentionPlan = batch.memo[key]
    return found


def plan(batch: Batch, window: int | None, sinks: int) -> _core.AttentionPlan:
    """Work out who sees what."""
    sequences, seen = [], []
    for start, rows in zip(batch.row_starts, batch.rows, strict=False):
        low = 0 if window is None else max(0, rows.cached - window + 1)
        count = len(rows.tokens)
        sequences.append((start, count, rows.cached, rows.length, min(sinks, low), low))
        seen += what_is_seen(rows, window, sinks)
    tables = batch.tables
    return _core.AttentionPlan(
        batch.page_size, sinks, sequences, seen, tables.data_ptr(), tables.shape[1]
    )


def what_is_seen(rows: SequenceRows, window: int | None, sinks: int) -> list[tuple[int, int]]:
    """Return for each row the first token that it sees, and in a tree the new ones as bits."""
    if window is None and not rows.parents:
        return [(0, 0)] * len(rows.tokens)
    positions = rows.positions()
    firsts = [0 if window is None else max(0, at - window + 1) for at in positions]
    if not rows.parents:
        return [(first, 0) for first in firsts]
    found = []
    for first, others in zip(firsts, rows.sees(), strict=True):
        places = [each for each in others if positions[each] >= first or positions[each] < sinks]
        found.append((min(first, rows.cached), sum(1 << each for each in places)))
    return found


def attend_by_core(
    query: Tensor,
    pages: LayerPages,
    plan: _core.AttentionPlan,
    scale: float,
    soft_cap: float | None,
    sink_logits: Tensor | None,
) -> Tensor:
    """Attend for the rows (T, Hq, D) of a plan; returns (T, Hq, Dv)."""
    if query.stride(2) != 1:
        query = query.contiguous()
    if sink_logits is not None:
        sink_logits = sink_logits.float().contiguous()
    layout, (count, query_heads, _) = pages.layout, query.shape
    out = query.new_empty(count, query_heads, layout.value_size)
    key_scales, value_scales = pages.key_scales, pages.value_scales
    _core.attend_rows(
        plan,
        query.data_ptr(),
        query.stride(0),
        query.stride(1),
        pages.keys.data_ptr(),
        pages.values.data_ptr(),
        0 if key_scales is None else key_scales.data_ptr(),
        0 if value_scales is None else value_scales.data_ptr(),
        len(pages.keys),
        layout.heads,
        query_heads // layout.heads,
        layout.key_size,
        layout.value_size,
        scale,
        soft_cap or 0.0,
        0 if sink_logits is None else sink_logits.data_ptr(),
        out.data_ptr(),
        query.dtype == torch.bfloat16,
        torch.get_num_threads(),
    )
    return out
