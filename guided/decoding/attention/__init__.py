"""Attention of packed rows over pages, by torch or by Triton kernels."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

from torch import Tensor

from guided.decoding.attention import torch_attention
from guided.decoding.attention.rule import Rule
from guided.decoding.batch import Batch
from guided.decoding.pages import LayerPages

__all__ = ["attend"]


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
    """Let each row of a batch attend to its own sequence; the new rows are in the cache already.

    Args:
        query: (T, Hq, D); Hq is a multiple of the H heads of the layer.
        pages: keys and values of the layer.
        batch: which rows there are, and what they see; on the device of the layer.
        scale: by which the products of queries and keys are multiplied.
        window: a row at position i sees j with i - window < j <= i; None: all up to i.
        sinks: positions below this are seen in spite of the window.
        soft_cap: c, for scores c * tanh(score / c); None: as they are.
        sink_logits: (Hq,), a score for seeing nothing, which takes its share of the softmax.

    Returns:
        (T, Hq, Dv) in the dtype of the query; a row that sees nothing is 0.
    """
    query = pages.rotate(query)
    rule = Rule(scale=scale, window=window, sinks=sinks, soft_cap=soft_cap, sink_logits=sink_logits)
    if query.is_cuda and has_triton():
        from guided.decoding.attention import triton_attention

        return triton_attention.attend(query, pages, batch, **rule)
    return torch_attention.attend(query, pages, batch, **rule)


@cache
def has_triton() -> bool:
    """Whether Triton is installed."""
    return find_spec("triton") is not None
