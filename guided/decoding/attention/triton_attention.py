"""Attention on a GPU: split-KV decoding by Triton kernels, prefills by torch's fused attention.

The kernels read pages where they lie, for any number of rows. A chunk of a prompt has enough rows
to be worth a copy of its context, and torch's own attention is faster then; what that lacks
(windows, soft caps, sink logits, trees) stays with the kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention

from guided.decoding.attention import torch_attention
from guided.decoding.attention.kernels.launch import (
    FORMATS,
    Pages,
    Rows,
    Rule,
    merge_launch,
    split_launch,
)
from guided.decoding.attention.kernels.tiles import (
    WIDEST_HEAD,
    Splits,
    Tile,
    choose_splits,
    choose_tile,
    fixed_splits,
)
from guided.decoding.attention.spans import Span, is_run
from guided.decoding.batch import Batch, SequenceRows
from guided.decoding.pages import LayerPages

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
FUSED_ROWS = 128  # with more rows a sequence goes to torch's fused attention
INTERPRETED_MULTIPROCESSORS = 4  # so that the interpreter splits too


class Workspace:
    """Memory for the partial results of splits; the layers of a step share one."""

    def __init__(self, device: torch.device) -> None:
        self.memory = torch.empty(0, dtype=torch.float32, device=device)

    def take(
        self, splits: int, sequences: int, rows: int, heads: int, width: int
    ) -> tuple[Tensor, Tensor]:
        """Return (splits, B, rows, Hq, Dv) and (splits, B, rows, Hq), float32, uninitialised."""
        if splits == 1:
            return self.memory, self.memory
        sums = splits * sequences * rows * heads
        if self.memory.numel() < sums * (width + 1):
            self.memory = self.memory.new_empty(sums * (width + 1))
        partial = self.memory[: sums * width].view(splits, sequences, rows, heads, width)
        logsums = self.memory[sums * width : sums * (width + 1)]
        return partial, logsums.view(splits, sequences, rows, heads)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done with a batch, in all layers of one shape.

    Attributes:
        rows: for the kernels; `rows.most` is 0 where they have nothing to do.
        tile, splits: how their work is cut.
        fused: the spans of the sequences that torch attends to.
        workspace: of the step.
    """

    rows: Rows
    tile: Tile
    splits: Splits
    fused: list[Span]
    workspace: Workspace


def attend(
    query: Tensor,
    pages: LayerPages,
    batch: Batch,
    *,
    scale: float,
    window: int | None = None,
    sinks: int = 0,
    soft_cap: float | None = None,
    sink_logits: Tensor | None = None,
) -> Tensor:
    """Attend as `guided.decoding.attention.attend` says: (T, Hq, D) to (T, Hq, Dv).

    The query is rotated already where keys are. Softmax and sums are float32. Products of float32
    are not rounded to tf32, and weights keep 16 bits of mantissa or more, so the result is that of
    float64 to about 1e-5 before it is rounded to the dtype of the query. Pages in int8 or fp8 are
    read as they are. Heads above 256 and float64 go to attention by torch operations.
    """
    widest = max(query.shape[2], pages.values.shape[3])
    if widest > WIDEST_HEAD or query.dtype not in DTYPES:
        return torch_attention.attend(
            query,
            pages,
            batch,
            scale=scale,
            window=window,
            sinks=sinks,
            soft_cap=soft_cap,
            sink_logits=sink_logits,
        )
    if query.stride(2) != 1:
        query = query.contiguous()
    fusable = soft_cap is None and sink_logits is None
    plan = plan_of(batch, query, pages, window, sinks, fusable)
    output = query.new_empty(*query.shape[:2], pages.values.shape[3])  # (T, Hq, Dv)
    if plan.rows.most:
        rule = Rule(scale, window, sinks, soft_cap, sink_logits)
        paged_attention(
            query,
            pages,
            plan.rows,
            rule,
            tile=plan.tile,
            splits=plan.splits,
            workspace=plan.workspace,
            output=output,
        )
    for part in plan.fused:
        output[part.start : part.stop] = fused(query[part.start : part.stop], part, pages, scale)
    return output


def plan_of(
    batch: Batch,
    query: Tensor,
    pages: Pages,
    window: int | None,
    sinks: int,
    fusable: bool,
) -> Plan:
    """Plan a step, once for the layers of one shape; query (T, Hq, D)."""
    shape = (query.shape, query.dtype, pages.values.shape[2:], pages.values.dtype)
    key = ("triton", shape, window, sinks, fusable)
    if key not in batch.memo:
        if "workspace" not in batch.memo:
            batch.memo["workspace"] = Workspace(batch.device)
        batch.memo[key] = make_plan(batch, query, pages, window, sinks, fusable)
    plan: Plan = batch.memo[key]
    return plan


def make_plan(
    batch: Batch,
    query: Tensor,
    pages: Pages,
    window: int | None,
    sinks: int,
    fusable: bool,
) -> Plan:
    """Choose which sequences torch attends to, and how the kernels cut the work of the others."""
    spans: list[Span] = []
    most, contexts = 0, []
    for start, rows in zip(batch.row_starts, batch.rows, strict=False):
        count = len(rows.tokens)
        whole = window is None or rows.length <= window
        if fusable and whole and count > FUSED_ROWS and not rows.parents:
            spans.append(whole_span(batch, start, rows))
            continue
        most = max(most, count)
        contexts.append(rows.length if whole else sinks + (window or 0) + count)
    # The kernels tell by its number of rows that a sequence is not theirs.
    if spans and most > FUSED_ROWS:
        spans, most = [], batch.most_rows
        contexts = [rows.length for rows in batch.rows]
    heads, head = query.shape[1:]
    kv_heads, value_head = pages.values.shape[2:]
    quantized = pages.values.dtype in FORMATS
    tile = choose_tile(most * heads // kv_heads, head, value_head, query.element_size(), quantized)
    programs = kv_heads * max(1, -(-most * (heads // kv_heads) // tile.pairs))
    processors = multiprocessors(batch.device)
    if batch.memo.get("static"):
        splits = fixed_splits(
            len(batch.rows), programs=programs, tokens=tile.tokens, multiprocessors=processors
        )
    else:
        splits = choose_splits(
            contexts, programs=programs, tokens=tile.tokens, multiprocessors=processors
        )
    visible = batch.visible
    device_rows = Rows(
        batch.starts,
        batch.lengths,
        batch.tables,
        most,
        None if visible is None else batch.positions,
        visible,
    )
    return Plan(device_rows, tile, splits, spans, batch.memo["workspace"])


def whole_span(batch: Batch, start: int, rows: SequenceRows) -> Span:
    """Return the span of all that a sequence holds, whose first row is `start`."""
    stop, size = start + len(rows.tokens), batch.page_size
    pages = rows.pages[: -(-rows.length // size)]
    if is_run(pages):
        return Span(start, stop, rows.length, first=pages[0] * size)
    return Span(start, stop, rows.length, pages=torch.tensor(pages, device=batch.device))


def paged_attention(
    query: Tensor,
    pages: Pages,
    rows: Rows,
    rule: Rule,
    *,
    tile: Tile,
    splits: Splits,
    workspace: Workspace,
    output: Tensor,
) -> Tensor:
    """Attend by the kernels: one launch, and a second one that merges where there are splits.

    Args:
        query: (T, Hq, D) float32, float16 or bfloat16, the last dimension contiguous.
        pages, rows, rule: what is read, by whom, and how.
        tile, splits: how the work is cut; any choice gives the same result but for rounding.
        workspace: of the device.
        output: (T, Hq, Dv) of a floating dtype, written in place; rows of sequences with more than
            `rows.most` rows are left as they are.

    Returns:
        `output`.
    """
    sequences = rows.lengths.shape[0]
    partial, logsums = workspace.take(
        splits.count, sequences, rows.most, query.shape[1], output.shape[2]
    )
    with torch.cuda.device_of(query):  # type: ignore[no-untyped-call]  # torch has no types here
        split_launch(query, pages, rows, rule, tile, splits, partial, logsums, output).run()
        if splits.count > 1:
            merge_launch(rows, rule, splits, partial, logsums, output).run()
    return output


def fused(query: Tensor, part: Span, pages: LayerPages, scale: float) -> Tensor:
    """Attend for a chunk of a prompt by torch's fused attention.

    Args:
        query: (rows, Hq, D); its rows are the last of the span.

    Returns:
        (rows, Hq, Dv).
    """
    keys, values = part.read(pages)  # (L, Hkv, D), (L, Hkv, Dv)
    output = scaled_dot_product_attention(
        query.transpose(0, 1).unsqueeze(0),  # (1, Hq, rows, D)
        keys.transpose(0, 1).unsqueeze(0),  # (1, Hkv, L, D)
        values.transpose(0, 1).unsqueeze(0),
        # A full mask of rows x L would shut out the flash kernel.
        attn_mask=causal_lower_right(len(query), part.count),
        scale=scale,
        enable_gqa=query.shape[1] != keys.shape[1],
    )  # (1, Hq, rows, Dv)
    return output[0].transpose(0, 1)


@cache
def multiprocessors(device: torch.device) -> int:
    """Count the multiprocessors of a GPU."""
    if device.type != "cuda":
        return INTERPRETED_MULTIPROCESSORS
    return int(torch.cuda.get_device_properties(device).multi_processor_count)
