"""Several short sequences attended to as one padded block: a call a layer, not one a sequence."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from guided.decoding.attention.spans import see
from guided.decoding.batch import Batch
from guided.decoding.pages import LayerPages

# The rows of a sequence, at most, and how much larger than all sequences the block may be.
MOST_ROWS, MOST_WASTE = 8, 1.5
# Bytes of keys and values of a sequence in a layer up to which copying them costs less than a call.
MOST_BYTES = 384 * 1024


@dataclass(frozen=True, slots=True)
class Padded:
    """The sequences of a step as a block of B sequences with M rows and L slots each.

    Attributes:
        pages: (B * N,) int64, those that are read; a sequence with fewer has the page 0 at its end.
        rows: (B * M,) int64, the row of the batch at each place; the last row of a sequence again
            where it has fewer.
        places: (T,) int64, where each row of the batch stands; None where that is its number.
        bias: (B, M, L), 0 where a row sees a slot, else -inf.
        memo: of `folded`.
    """

    pages: Tensor
    rows: Tensor
    places: Tensor | None
    bias: Tensor
    memo: dict[int, Tensor] = field(default_factory=dict)

    def folded(self, group: int) -> Tensor:
        """Return the bias for the heads of a group as rows, (B, 1, group * M, L)."""
        if group not in self.memo:
            self.memo[group] = self.bias.repeat(1, group, 1).unsqueeze(1)
        return self.memo[group]


def padded_of(batch: Batch, window: int | None, sinks: int, dtype: torch.dtype) -> Padded | None:
    """Return the block of a batch, kept for the other layers, or None if it is not worth making."""
    key = ("padded", window, sinks, dtype)
    if key not in batch.memo:
        batch.memo[key] = pad(batch, window, dtype) if is_even(batch, window, sinks) else None
    block: Padded | None = batch.memo[key]
    return block


def is_short(block: Padded, pages: LayerPages) -> bool:
    """Whether the sequences of a block are short enough in this layer."""
    return block.bias.shape[2] * pages.layout.token_bytes <= MOST_BYTES


def is_even(batch: Batch, window: int | None, sinks: int) -> bool:
    """Whether the sequences are about equally long, with few rows each, and nothing special."""
    if len(batch.rows) < 2 or batch.most_rows > MOST_ROWS or (sinks and window is not None):
        return False
    lengths = [rows.length for rows in batch.rows]
    return len(lengths) * max(lengths) <= MOST_WASTE * sum(lengths)


def pad(batch: Batch, window: int | None, dtype: torch.dtype) -> Padded:
    """Make the block."""
    size, most = batch.page_size, batch.most_rows
    lows = [0 if window is None else max(0, rows.cached - window + 1) for rows in batch.rows]
    read = [
        list(rows.pages[low // size : (rows.length - 1) // size + 1])
        for rows, low in zip(batch.rows, lows, strict=True)
    ]
    width = max(map(len, read))
    bias = torch.full((len(batch.rows), most, width * size), -torch.inf, dtype=dtype)
    order: list[int] = []
    places: list[int] = []
    for index, (rows, low) in enumerate(zip(batch.rows, lows, strict=True)):
        count, first, start = len(rows.tokens), low % size, batch.row_starts[index]
        stop = first + rows.length - low
        bias[index, :count, first:stop] = see(rows, low, 0, window, 0, dtype)
        bias[index, count:] = bias[index, count - 1]
        order += [start + min(row, count - 1) for row in range(most)]
        places += [index * most + row for row in range(count)]
    table = [page for pages in read for page in [*pages, *[0] * (width - len(pages))]]
    device = batch.device
    return Padded(
        torch.tensor(table, device=device),
        torch.tensor(order, device=device),
        None if most == 1 else torch.tensor(places, device=device),
        bias.to(device),
    )


def attend_padded(query: Tensor, pages: LayerPages, block: Padded, scale: float) -> Tensor:
    """Attend for the rows (T, Hq, D) of all sequences; returns (T, Hq, Dv)."""
    count, most, slots = block.bias.shape
    keys, values = pages.gather_pages(block.pages)  # (B * L, H, D) and (B * L, H, Dv)
    heads, query_heads = keys.shape[1], query.shape[1]
    group = query_heads // heads
    rows = query if block.places is None else query.index_select(0, block.rows)  # (B * M, Hq, D)
    rows = rows.view(count, most, heads, group, -1).permute(0, 2, 3, 1, 4)
    out = scaled_dot_product_attention(
        rows.reshape(count, heads, group * most, -1),
        keys.view(count, slots, heads, -1).transpose(1, 2),  # (B, H, L, D)
        values.view(count, slots, heads, -1).transpose(1, 2),
        attn_mask=block.folded(group),
        scale=scale,
    )  # (B, H, group * M, Dv)
    out = out.view(count, heads, group, most, -1).permute(0, 3, 1, 2, 4)
    out = out.reshape(count * most, query_heads, -1)
    return out if block.places is None else out.index_select(0, block.places)
