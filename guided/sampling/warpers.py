"""Temperature, top-k, top-p, min-p and typical-p on the logits of the allowed tokens."""

from __future__ import annotations

import torch
from torch import Tensor

from guided.sampling.options import Sampling

# Top-p looks first at tokens that have this share of the likeliest one's chance, then at more.
SHARES = (1e-2, 1e-4, 0.0)


def warp(tokens: Tensor, scores: Tensor, options: Sampling) -> tuple[Tensor, Tensor]:
    """Turn logits into probabilities as transformers' warpers would, in the order it applies them.

    All of it is float64: in float32 the border of top-p moves with the order of a sum.

    Args:
        tokens: (N,) int64, ascending.
        scores: (N,) float64, finite or minus infinity, at least one finite.
        options: not greedy.

    Returns:
        (n,) the tokens that are kept, at least one, and (n,) their probabilities, all above 0.
    """
    # A logit less the largest one over the temperature cannot overflow, however small that is.
    weights = ((scores - scores.max()) / options.effective_temperature).exp()  # (N,), largest 1
    kept = weights > 0
    if options.top_k and options.top_k < len(scores):
        kept &= keep_top_k(scores, options.top_k)
    if not bool(kept.all()):
        tokens, scores, weights = tokens[kept], scores[kept], weights[kept]
    if options.top_p is not None and options.top_p < 1.0:
        kept = keep_top_p(scores, weights, options.top_p)
        tokens, weights = tokens[kept], weights[kept]
    if options.min_p:
        kept = weights >= options.min_p * weights.max()
        tokens, weights = tokens[kept], weights[kept]
    if options.typical_p is not None and options.typical_p < 1.0:
        kept = keep_typical(weights, options.typical_p)
        tokens, weights = tokens[kept], weights[kept]
    return tokens, weights / weights.sum()


def keep_top_k(scores: Tensor, count: int) -> Tensor:
    """Say which are as likely as the `count`-th or more: (N,) -> (N,) bool."""
    return scores >= torch.topk(scores, count).values[-1]


def keep_top_p(scores: Tensor, weights: Tensor, mass: float) -> Tensor:
    """Say which make up the smallest set of most likely tokens with this mass; at least one.

    Of equals at the border the first ones are kept; in transformers chance or the device decides.

    Args:
        scores: (N,), which decide what is likelier.
        weights: (N,), in proportion to the probabilities.
        mass: of the probabilities, 0 to 1.
    """
    target = mass * weights.sum()
    # The set is mostly small, and sorting everything takes several times as long.
    for share in SHARES:
        candidates = weights >= share * weights.max()
        if weights[candidates].sum() >= target:
            break
    likely, places = scores[candidates].sort(descending=True)
    cumulative = weights[candidates][places].cumsum(dim=0)
    last = torch.searchsorted(cumulative, target).clamp_(max=len(likely) - 1)
    border = likely[last]
    equals = last + 1 - (likely > border).sum()  # of those at the border, to be kept
    kept = scores > border
    kept[(scores == border).nonzero().squeeze(1)[: int(equals)]] = True
    return kept


def keep_typical(weights: Tensor, mass: float) -> Tensor:
    """Say which are nearest to the expected surprise, until they have this mass; ties stay.

    Args:
        weights: (N,) above 0, in proportion to the probabilities.
        mass: of the probabilities, above 0.

    Source: Meister et al., "Locally typical sampling", TACL 2023.
    """
    probabilities = weights / weights.sum()
    surprises = -probabilities.log()
    distances = (surprises - (probabilities * surprises).sum()).abs()
    nearest, places = distances.sort()
    cumulative = probabilities[places].cumsum(dim=0)
    last = int((cumulative < mass).sum())
    return distances <= nearest[min(last, len(nearest) - 1)]
