"""Which slots the rows of a sequence read in a layer, and which row sees which; once a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from guided.decoding.batch import Batch, SequenceRows
from guided.decoding.pages import LayerPages
from guided.decoding.pages.storage import by_heads


@dataclass(frozen=True, slots=True)
class Span:
    """The rows of one sequence and what they read.

    Attributes:
        start, stop: its rows in the batch.
        count: L, how many tokens are read.
        first: the first slot where they are consecutive; then nothing is copied.
        pages: (N,) int64, else, the pages that hold them, and `offset` the place in the first.
        slots: (L,) int64, where there are sinks apart from the window.
        bias: (rows, L), 0 where a row sees a token, else -inf; None where each row sees all, or
            `is_causal`: where row i sees the first i + 1.
    """

    start: int
    stop: int
    count: int
    first: int | None = None
    pages: Tensor | None = None
    offset: int = 0
    slots: Tensor | None = None
    bias: Tensor | None = None
    is_causal: bool = False

    def read(self, pages: LayerPages) -> tuple[Tensor, Tensor]:
        """Return keys and values by heads, (1, H, L, D) and (1, H, L, Dv)."""
        if self.first is not None:
            return pages.view(self.first, self.count)
        if self.slots is not None:
            keys, values = pages.gather(self.slots)
        else:
            assert self.pages is not None
            keys, values = pages.gather_pages(self.pages)
            stop = self.offset + self.count
            keys, values = keys[self.offset : stop], values[self.offset : stop]
        return by_heads(keys), by_heads(values)


def spans_of(batch: Batch, window: int | None, sinks: int, dtype: torch.dtype) -> list[Span]:
    """Return the spans of a batch; they are kept for the other layers of the step.

    Args:
        batch: on the device of the layer.
        window, sinks: as `attend` has them.
        dtype: of the bias.
    """
    key = (window, sinks, dtype)
    if key not in batch.memo:
        batch.memo[key] = [
            span(batch, start, rows, window, sinks, dtype)
            for start, rows in zip(batch.row_starts, batch.rows, strict=False)
        ]
    spans: list[Span] = batch.memo[key]
    return spans


def span(
    batch: Batch,
    start: int,
    rows: SequenceRows,
    window: int | None,
    sinks: int,
    dtype: torch.dtype,
) -> Span:
    """Work out the span of one sequence, whose first row is `start`."""
    size, stop = batch.page_size, start + len(rows.tokens)
    low = 0 if window is None else max(0, rows.cached - window + 1)  # the first that any row sees
    kept = min(sinks, low)
    count = kept + rows.length - low
    pages = rows.pages[low // size : (rows.length - 1) // size + 1]
    is_causal, bias = False, None
    if len(rows.tokens) > 1:
        is_causal = rows.cached == 0 and not rows.parents and not (window and rows.length > window)
        if not is_causal:
            bias = see(rows, low, kept, window, sinks, dtype).to(batch.device)
    if kept:
        indices = [*range(kept), *range(low, rows.length)]
        slots = [rows.pages[index // size] * size + index % size for index in indices]
        return Span(
            start,
            stop,
            count,
            slots=torch.tensor(slots, device=batch.device),
            bias=bias,
            is_causal=is_causal,
        )
    if is_run(pages):
        first = pages[0] * size + low % size
        return Span(start, stop, count, first=first, bias=bias, is_causal=is_causal)
    tensor = torch.tensor(pages, device=batch.device)
    return Span(start, stop, count, pages=tensor, offset=low % size, bias=bias, is_causal=is_causal)


def is_run(pages: Sequence[int]) -> bool:
    """Whether each page is the one next to the page before it."""
    return all(later - earlier == 1 for earlier, later in pairwise(pages))


def see(
    rows: SequenceRows, low: int, kept: int, window: int | None, sinks: int, dtype: torch.dtype
) -> Tensor:
    """Return the bias of the rows of a sequence, (rows, L): 0 where a row sees a token, else -inf.

    Args:
        rows: more than one.
        low, kept: what is read are the first `kept` tokens, and those from `low` on.
    """
    new = torch.tensor(rows.positions())  # (rows,)
    old = torch.cat([torch.arange(kept), torch.arange(low, rows.cached)])
    places = torch.cat([old, new])  # (L,)
    seen = places <= new.unsqueeze(1)  # (rows, L)
    if rows.parents:
        seen[:, len(old) :] = False
        for row, others in enumerate(rows.sees()):
            seen[row, [len(old) + other for other in others]] = True
    if window is not None:
        seen &= (places > new.unsqueeze(1) - window) | (places < sinks)
    return torch.zeros(seen.shape, dtype=dtype).masked_fill_(~seen, -torch.inf)
