"""Rows of logits of all kinds, and masks, for the tests of this folder."""

from __future__ import annotations

import torch
from torch import Tensor

KINDS = ("peaked", "flat", "ties", "impossible")


def random_rows(kind: str, rows: int, width: int, seed: int = 0) -> Tensor:
    """Return (rows, width) float64 of a kind."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(rows, width, generator=generator, dtype=torch.float64)
    if kind == "peaked":
        return 6 * logits
    if kind == "flat":
        return logits / 20
    if kind == "ties":
        return (2 * logits).round()
    assert kind == "impossible"
    impossible = torch.rand(rows, width, generator=generator) < 0.5
    return (2 * logits).masked_fill(impossible, -torch.inf)


def mask_of(*tokens: int, words: int = 1) -> Tensor:
    """Return the mask (W,) that allows these tokens."""
    bits = [0] * words
    for token in tokens:
        bits[token // 32] |= 1 << token % 32
    signed = [word - (1 << 32) if word >> 31 else word for word in bits]
    return torch.tensor(signed, dtype=torch.int32)
