"""Attention by torch, on any device, made for decoding on a CPU.

The query heads of a group become rows of their key head, so keys and values are read once a group
and not once a head. Sequences whose pages are neighbours are read in place.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from guided.decoding.attention.core_attention import attend_by_core, plan_of
from guided.decoding.attention.padded import attend_padded, is_short, padded_of
from guided.decoding.attention.spans import Span, spans_of
from guided.decoding.batch import Batch
from guided.decoding.pages import LayerPages

# From so many rows on, copies of keys and values for each head cost less than computing the half of
# the scores that a causal mask hides.
_PREFILL_ROWS = 64


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
    """Attend as `guided.decoding.attention.attend` says: (T, Hq, D) to (T, Hq, Dv)."""
    plan = plan_of(query, pages, batch, window, sinks)
    if plan is not None:
        return attend_by_core(query, pages, plan, scale, soft_cap, sink_logits)
    if soft_cap is None and sink_logits is None:
        block = padded_of(batch, window, sinks, query.dtype)
        if block is not None and is_short(block, pages):
            return attend_padded(query, pages, block, scale)
    spans = spans_of(batch, window, sinks, query.dtype)
    read = [span.read(pages) for span in spans]
    return attend_spans(query, read, spans, scale, soft_cap, sink_logits)


def attend_packed(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    batch: Batch,
    *,
    scale: float,
    window: int | None = None,
    sinks: int = 0,
    soft_cap: float | None = None,
    sink_logits: Tensor | None = None,
) -> Tensor:
    """Attend over keys and values that were gathered, one sequence after the other.

    Args:
        query: (T, Hq, D).
        keys, values: (1, H, sum of all L, D) and (.., Dv), in the order of `spans_of`.

    Returns:
        (T, Hq, Dv).
    """
    spans = spans_of(batch, window, sinks, query.dtype)
    counts = [span.count for span in spans]
    read = list(zip(torch.split(keys, counts, 2), torch.split(values, counts, 2), strict=True))
    return attend_spans(query, read, spans, scale, soft_cap, sink_logits)


def attend_spans(
    query: Tensor,
    read: Sequence[tuple[Tensor, Tensor]],
    spans: Sequence[Span],
    scale: float,
    soft_cap: float | None,
    sink_logits: Tensor | None,
) -> Tensor:
    """Attend for the rows (T, Hq, D) of all sequences, with the keys and values of each."""
    count, query_heads, size = query.shape
    keys, values = read[0]
    heads = keys.shape[1]
    if count == len(spans) and soft_cap is None and sink_logits is None:  # a row each
        rows = query.reshape(count, 1, heads, query_heads // heads, size).unbind(0)
        parts = [
            scaled_dot_product_attention(row, keys, values, scale=scale)
            for row, (keys, values) in zip(rows, read, strict=True)
        ]  # (1, H, group, Dv) each
        out = parts[0] if count == 1 else torch.cat(parts)
        return out.reshape(count, query_heads, -1)
    if len(spans) == 1:
        return attend_span(query, keys, values, spans[0], scale, soft_cap, sink_logits)
    return torch.cat(
        [
            attend_span(query[span.start : span.stop], *both, span, scale, soft_cap, sink_logits)
            for both, span in zip(read, spans, strict=True)
        ]
    )


def attend_span(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    span: Span,
    scale: float,
    soft_cap: float | None,
    sink_logits: Tensor | None,
) -> Tensor:
    """Attend for the rows of one sequence.

    Args:
        query: (rows, Hq, D).
        keys, values: (1, H, L, D) and (1, H, L, Dv).

    Returns:
        (rows, Hq, Dv).
    """
    count, heads = len(query), keys.shape[1]
    group = query.shape[1] // heads
    if soft_cap is not None or sink_logits is not None:
        return attend_openly(query, keys[0], values[0], span, scale, soft_cap, sink_logits)
    if count >= _PREFILL_ROWS:
        out = scaled_dot_product_attention(
            query.transpose(0, 1).unsqueeze(0),  # (1, Hq, rows, D)
            keys,
            values,
            attn_mask=span.bias,
            is_causal=span.is_causal,
            scale=scale,
            enable_gqa=group > 1,
        )
        return out[0].transpose(0, 1)
    out = scaled_dot_product_attention(
        fold(query, heads).unsqueeze(0),  # (1, H, group * rows, D)
        keys,
        values,
        attn_mask=folded_bias(span, group, query),
        scale=scale,
    )  # (1, H, group * rows, Dv)
    return unfold(out[0], count)


def attend_openly(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    span: Span,
    scale: float,
    soft_cap: float | None,
    sink_logits: Tensor | None,
) -> Tensor:
    """Attend with what torch's fused attention lacks, the scores in float32.

    Args:
        query: (rows, Hq, D).
        keys, values: (H, L, D) and (H, L, Dv).
    """
    count, query_heads, _ = query.shape
    heads = keys.shape[0]
    group = query_heads // heads
    scores = torch.matmul(fold(query, heads).float(), keys.float().transpose(1, 2)) * scale
    if soft_cap is not None:
        scores = torch.tanh(scores / soft_cap) * soft_cap  # (H, group * rows, L)
    bias = folded_bias(span, group, query)
    if bias is not None:
        scores = scores + bias.float()
    if sink_logits is not None:
        sink = sink_logits.float().view(heads, group, 1).expand(heads, group, count)
        scores = torch.cat([scores, sink.reshape(heads, group * count, 1)], 2)
    weights = torch.softmax(scores, 2)[:, :, : keys.shape[1]]
    return unfold(torch.matmul(weights, values.float()).to(query.dtype), count)


def fold(query: Tensor, heads: int) -> Tensor:
    """Make the heads of a group rows of their key head: (rows, Hq, D) to (H, group * rows, D)."""
    count, query_heads, size = query.shape
    if count == 1:
        return query.reshape(heads, query_heads // heads, size)
    grouped = query.reshape(count, heads, query_heads // heads, size)
    return grouped.permute(1, 2, 0, 3).reshape(heads, -1, size)


def unfold(out: Tensor, count: int) -> Tensor:
    """Undo `fold`: (H, group * rows, Dv) to (rows, Hq, Dv)."""
    heads, folded, size = out.shape
    if count == 1:
        return out.reshape(1, heads * folded, size)
    grouped = out.reshape(heads, folded // count, count, size)
    return grouped.permute(2, 0, 1, 3).reshape(count, -1, size)


def folded_bias(span: Span, group: int, query: Tensor) -> Tensor | None:
    """Return the bias for each row of `fold`, (group * rows, L), or None where all is seen."""
    bias = span.bias
    if span.is_causal:
        count = len(query)
        bias = torch.full((count, count), -torch.inf, dtype=query.dtype, device=query.device).triu_(
            1
        )
    return None if bias is None else bias.repeat(group, 1)
