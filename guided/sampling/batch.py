"""Masks and the most likely tokens of all rows of a step at once."""

from __future__ import annotations

import torch
from torch import Tensor

from guided.masks import apply_mask


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

    Cost: one pass over the logits, and one wait for the device for all rows together.
    """
    top, places = logits.max(dim=-1)  # (R,) both; NaN counts as the largest
    ids = places if tokens is None else tokens[places]
    found = torch.stack([ids, top.isfinite().long()]).tolist()
    return [id_ if is_finite else None for id_, is_finite in zip(*found, strict=True)]
