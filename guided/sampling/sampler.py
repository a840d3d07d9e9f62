"""The choice of a token from logits under a mask."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from guided.errors import GuidedError
from guided.sampling.allowed import allowed_logits, make_numbers
from guided.sampling.batch import best_tokens, mask_logits
from guided.sampling.history import History
from guided.sampling.options import Sampling
from guided.sampling.processors import exclude, penalize, too_short
from guided.sampling.random_stream import RandomStream
from guided.sampling.warpers import warp


class Sampler:
    """Chooses the tokens of one sequence.

        sampler.begin(prompt, ends)
        while ...:
            token = sampler.choose(logits, mask)
            sampler.observe(token)

    A forbidden token is never chosen, whatever the model says. Where it says nothing about the
    allowed ones (all minus infinity), the mask decides: greedy takes the lowest allowed id,
    sampling takes any of them with equal chance. NaN at an allowed place counts as minus infinity,
    with a RuntimeWarning, plus infinity as larger than every number; at a forbidden place neither
    matters. Banned tokens count as forbidden.

    Args:
        options: how to choose.
        index: which sequence of a batch, so that sequences with one seed differ; the first one is
            as if it were alone.

    Attributes:
        options: as given.
        stream: the random numbers; `seed` and `counter` say which comes next.
    """

    def __init__(self, options: Sampling, index: int = 0) -> None:
        self.options = options
        seed = options.seed
        if seed is None:  # greedy leaves torch's own generator alone
            seed = 0 if options.is_greedy else int(torch.randint(1 << 62, ()).item())
        self.stream = RandomStream(seed + index)
        self._history = History()
        self._ends: list[int] = []

    def begin(self, prompt: Sequence[int], ends: Sequence[int] = (), *, uncounted: int = 0) -> None:
        """Take in the prompt, for `repetition_penalty`; what was written before is forgotten.

        Args:
            prompt: its tokens.
            ends: the end tokens, for `min_tokens`.
            uncounted: how many of the first tokens do not count for `min_tokens`.
        """
        self._history = History(prompt, uncounted)
        self._ends = sorted(ends)

    def observe(self, token: int) -> None:
        """Count a token that was written, forced ones too, for penalties and `min_tokens`."""
        self._history.write(token)

    @property
    def is_simple(self) -> bool:
        """Whether nothing but temperature, top-k, top-p and min-p matters now."""
        options = self.options
        waits = too_short(options, self._history, self._ends)
        return not (options.changes_logits or options.typical_p not in (None, 1.0) or waits)

    @property
    def is_plain(self) -> bool:
        """Whether the choice is now the most likely of the masked logits, and nothing else."""
        options = self.options
        waits = too_short(options, self._history, self._ends)
        return options.is_greedy and not (options.changes_logits or waits)

    def choose(
        self, logits: Tensor, mask: Tensor | None = None, tokens: Tensor | None = None
    ) -> int:
        """Choose a token; under chance this takes one number of the stream, else none.

        Args:
            logits: (V,), or (n,) where only some columns are there; may be changed in place if
                there is a mask.
            mask: (W,) int32 on the same device, or None: everything is allowed.
            tokens: (n,) int64, ascending, the ids of the columns, all that the mask allows among
                them; None: all V.

        Raises:
            GuidedError: the mask allows no token at all, or `logit_bias` bans all that it allows,
                or names a token beyond V.
            ShapeError: the mask does not belong to the logits.
        """
        if self.is_plain:
            if mask is not None:
                mask_logits(logits, mask, tokens)
            [best] = best_tokens(logits.unsqueeze(0), tokens)
            if best is not None:
                return best
        ids, scores = self._scores(logits, mask, tokens)
        if self.options.is_greedy:
            return int(ids[scores.argmax()])
        return self.draw_from(*warp(ids, scores, self.options))

    def distribution(
        self, logits: Tensor, mask: Tensor | None = None, tokens: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return what `choose` draws from, after all options; takes no random number.

        Args:
            logits, mask, tokens: as for `choose`; nothing is changed.

        Returns:
            (N,) int64, the ids that can be chosen, ascending; and (N,) float64, their
            probabilities, all above 0, of sum 1. Greedy: one id of probability 1.

        Raises:
            GuidedError, ShapeError: as for `choose`.
        """
        ids, scores = self._scores(logits, mask, tokens)
        if self.options.is_greedy:
            best = scores.argmax().unsqueeze(0)  # (1,)
            return ids[best], torch.ones_like(scores[best])
        return warp(ids, scores, self.options)

    def uniform(self) -> float:
        """Take the next random number of this sequence: float64, 53 bits, in [0, 1)."""
        return self.stream.next()

    def draw_from(self, ids: Tensor, probabilities: Tensor) -> int:
        """Draw one of the ids with the next random number, by inversion; see `draw`.

        Args:
            ids: (N,) int64, ascending for the same draws as `choose`.
            probabilities: (N,), at least one above 0; their sum need not be 1.
        """
        return int(ids[draw(probabilities, self.uniform())])

    def _scores(
        self, logits: Tensor, mask: Tensor | None, tokens: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Return (N,) ids that can be chosen and (N,) their scores before temperature."""
        options, history = self.options, self._history
        if tokens is None:
            check_biased(options, logits.shape[0])
        ids, scores = allowed_logits(logits, mask, tokens)
        kept = exclude(ids, options, history, self._ends)
        if kept is not None:
            ids, scores = ids[kept], scores[kept]
        scores = make_numbers(scores)
        if options.changes_logits:
            scores = make_numbers(penalize(ids, scores, options, history))
        return ids, scores


def check_biased(options: Sampling, width: int) -> None:
    """Raise GuidedError if `logit_bias` names a token that a vocabulary does not have."""
    if options.logit_bias and (last := max(options.logit_bias)) >= width:
        raise GuidedError(
            f"logit_bias names token {last}, but there are only {width} tokens",
            mend="take ids from the tokenizer of this model",
        )


def draw(probabilities: Tensor, point: float) -> int:
    """Return the place that a random number in [0, 1) falls on, never one without a chance.

    By inversion: the first place whose cumulative sum is above that share of the whole. Unlike
    `torch.multinomial` this takes one random number and not one a place.

    Args:
        probabilities: (N,), at least one above 0; their sum need not be 1.
        point: the random number.
    """
    cumulative = probabilities.double().cumsum(dim=0)  # (N,)
    total = cumulative[-1]
    place = torch.searchsorted(cumulative, point * total, right=True)
    last = torch.searchsorted(cumulative, total)  # should the point be rounded up to the total
    return int(torch.minimum(place, last))
