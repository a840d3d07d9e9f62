"""Masks and the most likely tokens of all rows of a step at once."""

from __future__ import annotations

import torch
from torch import Tensor

from guided._core import find_largest
from guided.masks import apply_mask
from guided.masks.apply import NATIVE_DTYPES, is_native


def mask_logits(logits: Tensor, masks: Tensor, tokens: Tensor | None = None) -> None:
    """Set the logits of forbidden tokens to minus infinity, in place.

    Args:
        logits: (R, V); or (R, n) where only the columns `tokens` are there. One row, without its
            first dimension, does too.
        masks: (R, W) int32 on the same device.
        tokens: (n,) int64, the ids of the columns; None: all V.
    """
    if tokens is None:
        apply_mask(logits, masks)
    else:
        logits.masked_fill_(~allowed_columns(masks, tokens), -torch.inf)


def allowed_columns(masks: Tensor, tokens: Tensor) -> Tensor:
    """Read the bits of some tokens: (..., W) int32 and (n,) int64 -> (..., n) bool."""
    return ((masks[..., tokens >> 5] >> (tokens & 31)) & 1).bool()


def best_tokens(logits: Tensor, tokens: Tensor | None = None) -> list[int | None]:
    """Return the most likely token of each row, ties to the lowest id.

    Args:
        logits: (R, V), or (R, n) for the columns `tokens`; masked.
        tokens: (n,) int64, ascending, or None.

    Returns:
        R ids; None where the row needs a closer look, as its maximum is not finite: then a NaN or
        plus infinity is in it, or nothing is allowed.

    Cost: one pass over the logits, on a CPU some 10 us a row of 50,000; and one wait for the device
        for all rows together.
    """
    if is_native(logits):
        found = find_largest(
            logits.data_ptr(),
            NATIVE_DTYPES[logits.dtype],
            len(logits),
            logits.shape[1],
            logits.stride(0),
            torch.get_num_threads(),
        )
        if tokens is None:
            return [None if place < 0 else place for place in found]
        ids = tokens[torch.tensor(found).clamp(min=0)].tolist()
        return [None if place < 0 else id_ for place, id_ in zip(found, ids, strict=True)]
    top, places = logits.max(dim=-1)  # (R,) both; NaN counts as the largest
    chosen = places if tokens is None else tokens[places]
    rows = torch.stack([chosen, top.isfinite().long()]).tolist()
    return [id_ if is_finite else None for id_, is_finite in zip(*rows, strict=True)]
