"""What an assistant puts into a draft: tokens chosen from its logits, and how sure it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from torch import Tensor

from guided.decoding.drafts.draft import Distribution
from guided.decoding.job import Job
from guided.errors import GuidedError
from guided.sampling import Sampler, best_tokens, draw, mask_logits

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


@dataclass(frozen=True, slots=True)
class Wish:
    """Whose turn it is to get tokens.

    Attributes:
        sampler: how to choose, with what was written and drafted so far.
        random: where tokens are drawn from if it is not greedy.
        count: how many different tokens are wanted, at least one.
        is_free: whether there is no grammar.
    """

    sampler: Sampler
    random: Random
    count: int
    is_free: bool


def choose(
    wishes: Sequence[Wish], values: Tensor, columns: Tensor | None, masks: Tensor | None
) -> list[list[Choice]]:
    """Choose tokens from rows of logits.

    Args:
        wishes: R of them.
        values: (R, V), or (R, n) for the columns `columns`; changed in place.
        columns: (n,) int64, ascending, on the device of the values, or None.
        masks: (R, W) int32 on the same device, or None.

    Returns:
        for each its choices, the first one first; none where nothing can be chosen.
    """
    if masks is not None:
        mask_logits(values, masks, columns)
    bests = best_tokens(values, columns)
    peaks = best_probabilities(values)
    found: list[list[Choice]] = []
    for place, wish in enumerate(wishes):
        mask = None if masks is None or wish.is_free else masks[place]
        row, best, sampler = values[place], bests[place], wish.sampler
        try:
            if not sampler.options.is_greedy:
                drawn_from = sampler.distribution(row, mask, columns)
                found.append(draw_choices(drawn_from, wish.count, wish.random))
                continue
            if best is None or not sampler.is_plain:
                best = sampler.choose(row, mask, columns)
        except GuidedError:  # the job itself will tell
            found.append([])
            continue
        others = next_best(row, columns, best, wish.count - 1) if wish.count > 1 else []
        found.append([Choice(best, class_of(peaks[place]), peaks[place]), *others])
    return found


def best_probabilities(values: Tensor) -> list[float]:
    """Return the largest probability of each row of masked logits, (R, n); 0 where it is none."""
    scores = values.float()
    peaks = (scores.amax(dim=-1) - scores.logsumexp(dim=-1)).exp()  # (R,)
    found: list[float] = peaks.nan_to_num(0.0).tolist()
    return found


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
        place = draw(probabilities, random.random())
        choices.append(
            Choice(
                int(tokens[place]),
                class_of(level),
                float(probabilities[place]),
                (tokens, probabilities),
            )
        )
    return choices


def random_of(job: Job, name: str) -> Random:
    """Make the random numbers of a drafter for a job: repeatable, and apart from the job's own."""
    return Random(f"{name} {job.sampler.stream.seed}")
