"""Attention in float64, row by row: slow, and what the others are measured against."""

from __future__ import annotations

import torch
from torch import Tensor

from guided.decoding.batch import Batch
from guided.decoding.pages import LayerPages


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
    """Attend as `guided.decoding.attention.attend` does, in float64.

    Returns:
        (T, Hq, Dv) float64.
    """
    group = query.shape[1] // pages.layout.heads
    query = query.double()
    if pages.rotation is not None:
        query = query @ pages.rotation.double()
    out = torch.zeros(*query.shape[:2], pages.layout.value_size, dtype=torch.float64)
    for start, rows in zip(batch.row_starts, batch.rows, strict=False):
        positions = [*range(rows.cached), *rows.positions()]
        for row, seen in enumerate(rows.sees()):
            place = positions[rows.cached + row]
            indices = [*range(rows.cached), *(rows.cached + other for other in seen)]
            if window is not None:
                indices = [
                    index
                    for index in indices
                    if positions[index] > place - window or positions[index] < sinks
                ]
            slots = [
                rows.pages[index // batch.page_size] * batch.page_size + index % batch.page_size
                for index in indices
            ]
            keys, values = pages.gather(torch.tensor(slots))  # (L, H, D), (L, H, Dv)
            for head in range(query.shape[1]):
                scores = keys[:, head // group].double() @ query[start + row, head]
                scores = scores * scale  # (L,)
                if soft_cap is not None:
                    scores = torch.tanh(scores / soft_cap) * soft_cap
                if sink_logits is not None:
                    scores = torch.cat([scores, sink_logits[head].double().view(1)])
                weights = torch.softmax(scores, 0)[: len(indices)]
                out[start + row, head] = weights @ values[:, head // group].double()
    return out
