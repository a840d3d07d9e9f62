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
        (rows, width), kind = logits.shape, NATIVE_DTYPES[logits.dtype]
        threads = torch.get_num_threads()
        found = find_largest(logits.data_ptr(), kind, rows, width, logits.stride(0), threads)
        places = torch.tensor(found, dtype=torch.int64)  # (R,), -1 where the maximum is not finite
    else:
        top, places = logits.max(dim=-1)  # (R,) both; NaN counts as the largest
        places = torch.where(top.isfinite(), places, -1)
    if tokens is not None:
        places = torch.where(places < 0, -1, tokens[places])
    return [None if place < 0 else place for place in places.tolist()]
