"""From the logits of a step to the tokens of a job: which of its drafts are accepted.

At each place of a draft the token is chosen as if there were no draft. As long as one of the tokens
drafted there is that token, its logits are those of the next place. So guesses without chance in
them change nothing, not even the random stream. Tokens that a drafter drew from a distribution of
its own are accepted by rejection sampling, which keeps the model's distribution exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from guided.decoding.drafts import Distribution
from guided.decoding.drafts.tree import DraftTree
from guided.decoding.job import Job, TokenLogprob
from guided.decoding.masking import Rows, StepMasks
from guided.decoding.models import Logits
from guided.decoding.row_draws import RowDraws
from guided.decoding.writing import take
from guided.sampling import best_tokens, mask_logits, token_logprobs
from guided.sampling.rejection import accept_or_draw
from guided.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Verified:
    """What a job wrote in a step.

    Attributes:
        path: the places in its tree of what was written, from the root down.
        tokens: all that was written, what the grammar forced and an end token included.
        error: why the job fails, or None.
    """

    path: list[int]
    tokens: list[int]
    error: Exception | None = None


class StepLogits:
    """The logits of a step under its masks, and what is chosen from each row.

    Args:
        logits: R rows; changed in place.
        masks: filled, but for the rows left open.
        parts: which rows are whose.
    """

    def __init__(self, logits: Logits, masks: StepMasks, parts: Sequence[Rows]) -> None:
        values, columns = logits.values, logits.tokens
        self.values = values  # (R, V) or (R, n)
        self.columns = columns if columns is None else columns.to(values.device)  # (n,)
        self.errors = masks.errors
        self._open = masks.open
        self._raw = {
            row: values[row].clone()  # (V,)
            for part in parts
            if part.job.sampler.options.logprobs
            for row in part.masked
        }
        self._masks: Tensor | None = None
        if masks.rows is not None:
            self._masks = masks.rows.to(values.device, non_blocking=True)  # (R, W)
            mask_logits(values, self._masks, self.columns)
        self._best = best_tokens(values, self.columns) if len(values) else []
        drawn = parts if columns is None else ()
        self._draws = RowDraws(values, self._masks, drawn, {*self._open, *self.errors})

    def choose(self, row: int, job: Job) -> int:
        """Choose a token."""
        if row in self._open:
            token = self._choose(row, job)
            assert job.matcher is not None
            assert self._masks is not None
            if job.matcher.can_accept(token):
                return token
            mask = torch.zeros(self._masks.shape[1], dtype=torch.int32)  # (W,)
            job.matcher.fill_mask(mask)
            self._masks[row] = mask.to(self._masks.device)
            mask_logits(self.values[row], self._masks[row], self.columns)
            self._best[row] = best_tokens(self.values[row : row + 1], self.columns)[0]
        return self._choose(row, job)

    def distribution(self, row: int, job: Job) -> Distribution:
        """Return what a token is drawn from: (N,) ids, ascending, and (N,) probabilities."""
        return job.sampler.distribution(self.values[row], self._mask(row, job), self.columns)

    def best(self, row: int) -> int | None:
        """Return the most likely token of a row; None if it holds no number."""
        return self._best[row]

    def measure(self, row: int, token: int) -> TokenLogprob:
        """Return how likely a token was, for a job that asks for it."""
        raw = self._raw[row]
        model = float(token_logprobs(raw.unsqueeze(0), torch.tensor([token], device=raw.device)))
        allowed = self.values[row].double().logsumexp(0) - raw.double().logsumexp(0)
        share = min(1.0, float(allowed.exp()))
        return TokenLogprob(token, logprob_under(model, share), model, share)

    def _choose(self, row: int, job: Job) -> int:
        best = self._best[row]
        if best is not None and job.sampler.is_plain:
            return best
        if (drawn := self._draws.take(row, job)) is not None:
            return drawn
        return job.sampler.choose(self.values[row], self._mask(row, job), self.columns)

    def _mask(self, row: int, job: Job) -> Tensor | None:
        return None if self._masks is None or job.matcher is None else self._masks[row]


def logprob_under(model: float, share: float) -> float:
    """Return the log-probability of an allowed token of which the model gives `model`.

    Args:
        share: of all probability that lies on allowed tokens; 0 or no number where the model says
            nothing about them.
    """
    return min(0.0, model - math.log(share)) if share > 0 else model


def verify(
    job: Job, tree: DraftTree | None, logits: StepLogits, row: int, vocabulary: Vocabulary
) -> Verified:
    """Choose and write tokens from the end of the text down a tree of drafts, as far as they agree.

    Args:
        tree: or None: one token is chosen.
        logits: of the end of the text at `row`, and from there on after each node of the tree.
    """
    path: list[int] = []
    tokens: list[int] = []
    while True:
        at = path[-1] if path else -1
        place = row + 1 + at
        if place in logits.errors:
            # In the middle of a draft it is left to the next step, which meets it at its root.
            return Verified(path, tokens, None if path else logits.errors[place])
        start = len(job.history)
        try:
            token = choose(job, tree, logits, place, at)
            take(job, token, vocabulary)
        except Exception as error:
            return Verified(path, tokens, error)
        written = job.history[start:] or [token]  # an end token is not in the history
        if job.sampler.options.logprobs:
            note_logprob(job, logits.measure(place, written[0]), written)
        tokens += written
        if tree is None or job.is_over or not follow(tree, path, written):
            return Verified(path, tokens)


def follow(tree: DraftTree, path: list[int], tokens: Sequence[int]) -> bool:
    """Go down a tree by tokens, adding to the path; return whether all of them are there."""
    for token in tokens:
        child = tree.child(path[-1] if path else -1, token)
        if child is None:
            return False
        path.append(child)
    return True


def choose(job: Job, tree: DraftTree | None, logits: StepLogits, row: int, at: int) -> int:
    """Choose the token at a place of a tree."""
    drawn = tree.drawn(at) if tree is not None else ()
    if not drawn or job.sampler.options.is_greedy:
        return logits.choose(row, job)
    assert tree is not None
    drafts = [(tree.nodes[place].token, *distribution) for distribution, place in drawn]
    return accept_or_draw(job.sampler, *logits.distribution(row, job), drafts)


def note_logprob(job: Job, found: TokenLogprob, written: Sequence[int]) -> None:
    """Note how likely the first of some tokens was; an end token is not among those of the job."""
    if job.history[-len(written) :] == list(written):
        job.logprobs[-len(written)] = found
