"""The accept rule of speculative sampling."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from guided.sampling.sampler import Sampler


def accept_or_draw(
    sampler: Sampler,
    ids: Tensor,
    probabilities: Tensor,
    drafts: Sequence[tuple[int, Tensor, Tensor]],
) -> int:
    """Choose a token from the target's distribution, one of the drafted ones where that can be.

    Each draft x, drawn from q, is accepted with probability min(1, p(x) / q(x)); if it is not, what
    is left of p is (p - q)+, and the next draft is held against that. When none is accepted the
    token is drawn from what is left. The result has the distribution p exactly, whatever q is.

    Args:
        sampler: its random stream is used, once a draft and once more if none is accepted.
        ids, probabilities: p, (N,) int64 ascending, and (N,) float64.
        drafts: tokens in the order in which they were drawn, each with the ids (M,) and the
            probabilities (M,) of the q that it was drawn from, given those before it.

    Source: Leviathan et al., "Fast inference from transformers via speculative decoding", 2023;
    Chen et al., "Accelerating large language model decoding with speculative sampling", 2023; for
    several drafts: Miao et al., "SpecInfer", 2024.
    """
    for token, their_ids, theirs in drafts:
        target = probability(ids, probabilities, token)
        draft = probability(their_ids, theirs, token)
        if sampler.uniform() * draft < target:
            return token
        left = subtract(ids, probabilities, their_ids, theirs)
        total = left.sum()
        if total > 0:  # else p was q, and only rounding has refused the draft
            probabilities = left / total
    return sampler.draw_from(ids, probabilities)


def probability(ids: Tensor, probabilities: Tensor, token: int) -> float:
    """Return the probability of a token; 0 if it is not among the ids."""
    place = int(torch.searchsorted(ids, token))
    if place == len(ids) or int(ids[place]) != token:
        return 0.0
    return float(probabilities[place])


def subtract(ids: Tensor, probabilities: Tensor, their_ids: Tensor, theirs: Tensor) -> Tensor:
    """Return (p - q)+ on the ids of p, (N,)."""
    places = torch.searchsorted(ids, their_ids).clamp(max=len(ids) - 1)  # (M,)
    common = ids[places] == their_ids  # (M,)
    left = probabilities.clone()
    left[places[common]] -= theirs[common]
    return left.clamp(min=0.0)
