"""The choice of a token from logits under a mask."""

from __future__ import annotations

import math
import warnings

import torch
from torch import Tensor

from guided.errors import GuidedError
from guided.masks import unpack_bits
from guided.sampling.batch import allowed_columns, mask_logits
from guided.sampling.options import Sampling
from guided.sampling.warpers import warp


class Sampler:
    """Chooses the tokens of one sequence.

    A forbidden token is never chosen, whatever the model says. Where it says nothing about the
    allowed ones (all minus infinity), the mask decides: greedy takes the lowest allowed id,
    sampling takes any of them with equal chance. NaN at an allowed place counts as minus infinity,
    with a RuntimeWarning, plus infinity as larger than every number; at a forbidden place neither
    matters.

    Args:
        options: how to choose.
        index: which sequence of a batch, so that sequences with one seed differ; the first one is
            as if it were alone.
    """

    def __init__(self, options: Sampling, index: int = 0) -> None:
        self.options = options
        seed = options.seed
        if seed is None:  # greedy leaves torch's own generator alone
            seed = 0 if options.is_greedy else int(torch.randint(1 << 62, ()).item())
        self._seed = (seed + index) % (1 << 64)
        self._generator: torch.Generator | None = None

    def choose(
        self, logits: Tensor, mask: Tensor | None = None, tokens: Tensor | None = None
    ) -> int:
        """Choose a token.

        Args:
            logits: (V,), or (n,) where only some columns are there; changed in place if there is a
                mask.
            mask: (W,) int32 on the same device, or None: everything is allowed.
            tokens: (n,) int64, ascending, the ids of the columns, all that the mask allows among
                them; None: all V.

        Raises:
            GuidedError: the mask allows no token at all.
            ShapeError: the mask does not belong to the logits.
        """
        if mask is not None:
            mask_logits(logits, mask, tokens)
        best = int(logits.argmax())
        # A finite maximum proves that no NaN is left, as argmax would have returned that, and no
        # plus infinity; then the forbidden tokens need not even be told from the impossible ones.
        if math.isfinite(logits[best].item()):
            if not self.options.is_greedy:
                best = self._draw(logits if logits.dtype == torch.float64 else logits.float())
            return best if tokens is None else int(tokens[best])
        allowed, scores = allowed_scores(logits, mask, tokens)
        place = int(scores.argmax()) if self.options.is_greedy else self._draw(scores)
        return int(allowed[place])

    def _draw(self, scores: Tensor) -> int:
        """Draw a place of (N,) scores by chance."""
        probabilities = warp(scores, self.options).softmax(dim=-1)
        return draw(probabilities, self._generator_on(scores.device))

    def _generator_on(self, device: torch.device) -> torch.Generator:
        if self._generator is None:
            self._generator = torch.Generator(device=device)
            self._generator.manual_seed(self._seed)
        return self._generator


def draw(probabilities: Tensor, generator: torch.Generator) -> int:
    """Draw a place of (N,) probabilities, never one with zero.

    By inversion: the place where the cumulative sum passes a random point. `torch.multinomial`
    draws a random number for each place instead, which takes several times as long.
    """
    cumulative = probabilities.double().cumsum(dim=0)  # (N,)
    total = cumulative[-1]
    point = total * torch.rand((), generator=generator, dtype=torch.float64, device=total.device)
    place = torch.searchsorted(cumulative, point, right=True)  # the first sum above the point
    last = torch.searchsorted(cumulative, total)  # should the point be rounded up to the total
    return int(torch.minimum(place, last))


def allowed_scores(
    logits: Tensor, mask: Tensor | None, columns: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Gather the allowed tokens with finite logits.

    Args:
        logits: (V,) or (n,), already masked.
        mask: (W,) or None.
        columns: (n,) ids of the columns, or None.

    Returns:
        (N,) ids, ascending, and (N,) float32 (float64 stays) scores: minus infinity for tokens that
        the model excludes, but at least one is finite.
    """
    if mask is None:
        places = torch.arange(logits.shape[0], device=logits.device)  # (V,)
    elif columns is None:
        places = unpack_bits(mask)[: logits.shape[0]].nonzero().squeeze(1)  # (N,)
    else:
        places = allowed_columns(mask, columns).nonzero().squeeze(1)  # (N,)
    tokens = places if columns is None else columns[places]
    if tokens.numel() == 0:
        raise GuidedError(
            "no token is allowed: the mask is empty",
            mend="a matcher's mask is empty only after its end; stop when is_terminated is true",
        )
    scores = logits[places]  # (N,)
    if scores.dtype != torch.float64:
        scores = scores.float()
    unknown = int(scores.isnan().sum())
    if unknown:
        warnings.warn(
            f"the model gave NaN for {unknown} of {len(scores)} allowed tokens;"
            " they count as impossible. Half precision that overflows is the usual reason.",
            RuntimeWarning,
            stacklevel=3,
        )
    return tokens, make_finite(scores)


def make_finite(scores: Tensor) -> Tensor:
    """Replace NaN by minus infinity; if plus infinity occurs it alone stays; never nothing."""
    if bool((scores == torch.inf).any()):
        return torch.where(scores == torch.inf, 0.0, -torch.inf).to(scores.dtype)
    scores = scores.masked_fill(scores.isnan(), -torch.inf)
    if bool((scores == -torch.inf).all()):
        return torch.zeros_like(scores)
    return scores
