"""Temperature, top-k, top-p and min-p on the logits of the allowed tokens."""

from __future__ import annotations

import torch
from torch import Tensor

from guided.sampling.options import Sampling

# How many of the most likely tokens top-p looks at first, and next.
LIKELY = (1024, 16_384)


def warp(scores: Tensor, options: Sampling) -> Tensor:
    """Scale and cut logits as transformers' warpers would, in the order it applies them.

    Only allowed tokens count: minus infinity adds nothing to a softmax, and is dropped again if it
    is among the largest.

    Args:
        scores: (N,) float32 or float64, logits, finite or minus infinity (forbidden, or impossible
            for the model), at least one finite.
        options: not greedy.

    Returns:
        (N,), new; minus infinity where a token is dropped, never everywhere.
    """
    scores = scores / options.effective_temperature
    if options.top_k:
        scores = keep_top_k(scores, options.top_k)
    if options.top_p is not None and options.top_p < 1.0:
        scores = keep_top_p(scores, options.top_p)
    if options.min_p:
        scores = keep_min_p(scores, options.min_p)
    return scores


def keep_top_k(scores: Tensor, count: int) -> Tensor:
    """Drop what is less likely than the `count`-th; ties with it stay."""
    if count >= scores.shape[0]:
        return scores
    last = torch.topk(scores, count).values[-1]
    return scores.masked_fill(scores < last, -torch.inf)


def keep_top_p(scores: Tensor, mass: float) -> Tensor:
    """Keep the smallest set of most likely tokens with at least this mass; at least one."""
    probabilities = scores.softmax(dim=-1)
    # The set is mostly small, and sorting everything takes tens of times as long.
    for count in (*LIKELY, len(scores)):
        likely, places = torch.topk(probabilities, min(count, len(scores)))  # descending
        cumulative = likely.cumsum(dim=-1)
        if cumulative[-1] >= mass:
            break
    kept = places[cumulative - likely < mass]  # what is likelier has less than the mass
    kept = places[:1] if len(kept) == 0 else kept
    return torch.full_like(scores, -torch.inf).scatter_(0, kept, scores[kept])


def keep_min_p(scores: Tensor, share: float) -> Tensor:
    """Drop what is less likely than `share` times the most likely token."""
    probabilities = scores.softmax(dim=-1)
    return scores.masked_fill(probabilities < share * probabilities.max(), -torch.inf)
