"""The results of the splits of a row joined into one, weighted by their sums."""

from __future__ import annotations

import triton
import triton.language as tl

from guided.decoding.attention.kernels.split import narrow


@triton.jit(do_not_specialize=["splits", "most_rows"])
def merge_splits(
    partial,  # (splits, B, most rows, Hq, DV) float32, each split normalised by itself
    logsums,  # (splits, B, most rows, Hq) float32, base 2; minus infinity: it saw nothing
    starts,  # (B + 1,) int32
    sink_logits,  # (Hq,)
    output,  # (T, Hq, DV)
    splits,
    most_rows,  # sequences with more rows are left alone
    output_row,  # strides, in elements
    output_head,
    HEADS: tl.constexpr,
    DV: tl.constexpr,
    BLOCK_DV: tl.constexpr,
    BLOCK_S: tl.constexpr,
    SINK_LOGITS: tl.constexpr,
    INTERPRETED: tl.constexpr,
):
    """Merge the splits of one row and head; grid (most rows of a sequence, Hq, B).

    What an empty split left in `partial` is not read, so it may be anything. A row that saw nothing
    becomes 0. A sink logit takes its share of the sum and gives no value.
    """
    row = tl.program_id(0)
    head = tl.program_id(1)
    sequence = tl.program_id(2)
    first_row = tl.load(starts + sequence)
    rows = tl.load(starts + sequence + 1) - first_row
    if (rows > most_rows) | (row >= rows):
        return
    token = (first_row + row).to(tl.int64)
    dv = tl.arange(0, BLOCK_DV)
    s_range = tl.arange(0, BLOCK_S)
    top = -float("inf")
    total = 0.0
    if SINK_LOGITS:
        top = tl.load(sink_logits + head).to(tl.float32) * 1.4426950408889634
        total = 1.0
    result = tl.zeros((BLOCK_DV,), tl.float32)
    for first in range(0, splits, BLOCK_S):
        s = first + s_range
        sequences = s.to(tl.int64) * tl.num_programs(2) + sequence
        place = (sequences * most_rows + row) * HEADS + head
        logsum = tl.load(logsums + place, mask=s < splits, other=-float("inf"))
        used = logsum > -float("inf")
        mask = used[:, None]
        if BLOCK_DV != DV:
            mask = mask & (dv < DV)[None, :]
        part = tl.load(partial + place[:, None] * DV + dv[None, :], mask=mask, other=0.0)
        higher = tl.maximum(top, tl.max(logsum, 0))
        safe = tl.where(higher == -float("inf"), 0.0, higher)
        weight = tl.exp2(logsum - safe)
        decay = tl.exp2(top - safe)
        total = total * decay + tl.sum(weight, 0)
        result = result * decay + tl.sum(part * weight[:, None], 0)
        top = higher
    result = tl.where(total == 0.0, 0.0, result / tl.where(total == 0.0, 1.0, total))
    tl.store(
        output + token * output_row + head * output_head + dv,
        narrow(result, output.dtype.element_ty, INTERPRETED),
        mask=dv < DV,
    )
