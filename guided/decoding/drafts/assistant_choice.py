"""What an assistant puts into a draft: tokens chosen from its logits, and how sure it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor

from guided.decoding.drafts.draft import Distribution
from guided.decoding.job import Job
from guided.sampling import Sampler, best_tokens, mask_logits, warp
from guided.sampling.sampler import allowed_scores

CLASSES = 10


@dataclass(frozen=True, slots=True)
class Choice:
    """A token that may come next.

    Attributes:
        token: its id.
        kind: its class. It tells how peaked the distribution is, and not how likely the token that
            was drawn happens to be: a draft that is cut where its tokens look poor would make
            likely tokens more likely than the model has them.
        probability: of the token, 0 to 1.
        distribution: what it was drawn from; None where there was no chance in it.
    """

    token: int
    kind: int
    probability: float
    distribution: Distribution | None = None


def class_of(probability: float) -> int:
    """Return the class of what is so probable: its tenth, 0 to 9."""
    return min(CLASSES - 1, int(CLASSES * probability))


def choose(
    jobs: Sequence[Job],
    randoms: Sequence[Random],
    counts: Sequence[int],
    values: Tensor,
    columns: Tensor | None,
    masks: Tensor | None,
) -> list[list[Choice]]:
    """Choose tokens for each job from a row of logits.

    Args:
        jobs: R of them; greedy ones get the most likely tokens.
        randoms: where those of the others are drawn from.
        counts: how many different tokens each may get, at least one.
        values: (R, V), or (R, n) for the columns `columns`; changed in place.
        columns: (n,) int64, ascending, on the device of the values, or None.
        masks: (R, W) int32 on the same device, or None.

    Returns:
        for each job its choices, the first one first; none where the logits say nothing.
    """
    if masks is not None:
        mask_logits(values, masks, columns)
    bests = best_tokens(values, columns)
    peaks = best_probabilities(values)
    found: list[list[Choice]] = []
    for place, job in enumerate(jobs):
        best, count = bests[place], counts[place]
        if job.sampler.options.is_greedy:
            if best is None:
                found.append([])
                continue
            first = Choice(best, class_of(peaks[place]), peaks[place])
            others = next_best(values[place], columns, best, count - 1) if count > 1 else []
            found.append([first, *others])
        else:
            mask = None if masks is None or job.matcher is None else masks[place]
            drawn_from = distribution(job.sampler, values[place], mask, columns)
            found.append(draw_choices(drawn_from, count, randoms[place]))
    return found


def best_probabilities(values: Tensor) -> list[float]:
    """Return the largest probability of each row of masked logits, (R, n)."""
    scores = values.float()
    peaks: list[float] = (scores.amax(dim=-1) - scores.logsumexp(dim=-1)).exp().tolist()  # (R,)
    return peaks


def next_best(row: Tensor, columns: Tensor | None, best: int, count: int) -> list[Choice]:
    """Return the most likely tokens of (n,) masked logits after the best one."""
    probabilities = row.float().softmax(dim=-1)
    likely, places = probabilities.topk(min(count + 1, len(row)))
    ids = places if columns is None else columns[places]
    choices = [
        Choice(token, class_of(probability), probability)
        for token, probability in zip(ids.tolist(), likely.tolist(), strict=True)
        if token != best and probability > 0
    ]
    return choices[:count]


def draw_choices(drawn_from: Distribution, count: int, random: Random) -> list[Choice]:
    """Draw up to `count` different tokens, each from what those before it have left.

    Their classes come from the most, the second most, ... likely token, whatever is drawn.
    """
    tokens, probabilities = drawn_from
    levels = probabilities.topk(min(count, len(probabilities))).values.tolist()
    choices: list[Choice] = []
    for level in levels:
        if choices:
            kept = tokens != choices[-1].token
            tokens, probabilities = tokens[kept], probabilities[kept]
            probabilities = probabilities / probabilities.sum()
        place = draw_place(probabilities, random.random())
        choices.append(
            Choice(
                int(tokens[place]),
                class_of(level),
                float(probabilities[place]),
                (tokens, probabilities),
            )
        )
    return choices


def draw_place(probabilities: Tensor, point: float) -> int:
    """Return the place of (N,) float64 probabilities that a point in [0, 1) falls into."""
    cumulative = probabilities.cumsum(dim=0)  # (N,)
    place = int(torch.searchsorted(cumulative, point * cumulative[-1], right=True))
    return min(place, len(probabilities) - 1)  # should the point be rounded up to the sum


# What follows stands in for `Sampler.distribution` and a public seed, until the sampler has them.
def distribution(
    sampler: Sampler, logits: Tensor, mask: Tensor | None, tokens: Tensor | None
) -> Distribution:
    """Return what a sampler draws from: ids, ascending, and probabilities above zero.

    Args:
        sampler: not greedy.
        logits: (V,) or (n,), masked.
        mask: (W,) int32 on the same device, or None.
        tokens: (n,) int64, ascending, the ids of the columns, or None.
    """
    ids, scores = allowed_scores(logits, mask, tokens)  # (N,) both
    probabilities = warp(scores.double(), sampler.options).softmax(dim=-1)
    kept = probabilities > 0
    return ids[kept], probabilities[kept]


def random_of(job: Job, name: str) -> Random:
    """Make the random numbers of a drafter for a job: repeatable, and apart from the job's own."""
    return Random(f"{name} {job.sampler._seed}")
