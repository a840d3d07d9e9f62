"""What is done to the logits of the allowed tokens before chance: bias, penalties, `min_tokens`."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from guided.errors import GuidedError
from guided.sampling.history import History
from guided.sampling.options import Sampling


def exclude(
    tokens: Tensor, options: Sampling, history: History, ends: Sequence[int]
) -> Tensor | None:
    """Say which of the allowed tokens stay: no banned ones, and no ends before `min_tokens`.

    If nothing but ends is left these stay: the grammar wins over `min_tokens`.

    Args:
        tokens: (N,) int64, ascending: what the mask allows.
        options, history, ends: of the sequence.

    Returns:
        (N,) bool, at least one true; None: all.

    Raises:
        GuidedError: all of them are banned.
    """
    kept: Tensor | None = None
    if options.banned:
        kept = without(tokens, options.banned)
        if kept is not None and not bool(kept.any()):
            raise GuidedError(
                "logit_bias leaves no allowed token: it bans"
                f" all {len(tokens)} that the grammar allows here",
                mend="ban fewer tokens, or say it in the grammar",
            )
    if too_short(options, history, ends):
        longer = without(tokens, ends)
        if longer is not None and kept is not None:
            longer &= kept
        if longer is not None and bool(longer.any()):
            return longer
    return kept


def too_short(options: Sampling, history: History, ends: Sequence[int]) -> bool:
    """Whether an end token would come before `min_tokens`."""
    return bool(ends) and history.written < (options.min_tokens or 0)


def penalize(tokens: Tensor, scores: Tensor, options: Sampling, history: History) -> Tensor:
    """Add biases, then apply the penalties for what was written already.

    Minus infinity stays: all factors and terms are finite.

    Args:
        tokens: (N,) int64, ascending.
        scores: (N,) float64, finite or minus infinity.
        options, history: of the sequence.

    Returns:
        (N,) float64; the same tensor if there is nothing to do.

    Source: repetition: Keskar et al., "CTRL", 2019, as transformers has it, over prompt and output;
    presence and frequency: the API of OpenAI, over the output.
    """
    biases = options.finite_biases
    if biases:
        places, found = find(tokens, list(biases))
        values = torch.tensor(list(biases.values()), dtype=scores.dtype, device=scores.device)
        scores = scores.index_add(0, places, values[found])
    repetition = options.repetition_penalty or 1.0
    if repetition != 1.0:
        penalized = torch.where(scores < 0, scores * repetition, scores / repetition)  # (N,)
        scores = torch.where(history.seen(tokens), penalized, scores)
    presence, frequency = options.presence_penalty or 0.0, options.frequency_penalty or 0.0
    if presence or frequency:
        counts = history.counts(tokens)  # (N,)
        scores = scores - frequency * counts - presence * (counts > 0)
    return scores


def without(tokens: Tensor, some: Sequence[int]) -> Tensor | None:
    """Say which of (N,) ascending tokens are not among some: (N,) bool, or None for all."""
    places, _ = find(tokens, some)
    if len(places) == 0:
        return None
    kept = torch.ones_like(tokens, dtype=torch.bool)
    kept[places] = False
    return kept


def find(tokens: Tensor, some: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Find some tokens among (N,) ascending ones.

    Returns:
        (F,) the places of those that are there, and (len(some),) bool, which these are.
    """
    wanted = torch.tensor(some, dtype=tokens.dtype, device=tokens.device)
    places = torch.searchsorted(tokens, wanted).clamp_(max=len(tokens) - 1)
    found = tokens[places] == wanted
    return places[found], found
