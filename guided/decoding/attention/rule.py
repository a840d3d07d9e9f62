"""How scores are made, and who sees whom: the keyword arguments of every attention function."""

from __future__ import annotations

from typing import TypedDict

from torch import Tensor


class Rule(TypedDict):
    """The arguments of `guided.decoding.attention.attend`, which explains them."""

    scale: float
    window: int | None
    sinks: int
    soft_cap: float | None
    sink_logits: Tensor | None
