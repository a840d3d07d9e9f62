"""Draws from all rows of a step at once, where there is a kernel for it: on a GPU with Triton."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import torch
from torch import Tensor

from guided.decoding.drafts.tree import DraftTree
from guided.decoding.job import Job
from guided.decoding.masking import Rows
from guided.masks.apply import suits_triton
from guided.sampling import Sampler


class RowDraws:
    """Tokens drawn ahead, by row of logits.

    A row after a draft takes the random number that it would take if a number were taken at each
    place above it. Where that comes out otherwise, as a forced token takes none, the token is not
    used and the job draws for itself; so the tokens are the same with and without this.

    Args:
        values: (R, V) logits of the step.
        masks: (R, W) int32 on the same device, or None.
        parts: which rows are whose.
        skipped: rows that are not to be drawn from.
    """

    def __init__(
        self,
        values: Tensor,
        masks: Tensor | None,
        parts: Sequence[Rows],
        skipped: Collection[int] = (),
    ) -> None:
        self._found: dict[int, tuple[int, int]] = {}  # by row: place in the stream, token
        if not can_draw(values):
            return
        samplers: list[Sampler] = []
        ahead: list[int] = []
        rows: list[int] = []
        for part in parts:
            if not draws_alone(part):
                continue
            for row, depth in zip(part.masked, depths(part.tree), strict=True):
                if row not in skipped:
                    samplers.append(part.job.sampler)
                    ahead.append(depth)
                    rows.append(row)
        if not rows:
            return
        if len(rows) < len(values):
            wanted = torch.tensor(rows, device=values.device)  # (n,)
            values = values[wanted]
            masks = None if masks is None else masks[wanted]
        from guided.sampling.device import sample_rows  # which imports Triton

        tokens = sample_rows(values, samplers, masks, ahead=ahead).tolist()
        for row, sampler, more, token in zip(rows, samplers, ahead, tokens, strict=True):
            if token >= 0:
                self._found[row] = (sampler.stream.counter + more, token)

    def take(self, row: int, job: Job) -> int | None:
        """Return the token of a row and take its random number; None: the job has to draw."""
        stream = job.sampler.stream
        place, token = self._found.get(row, (None, None))
        if place != stream.counter:
            return None
        stream.counter += 1
        return token


def can_draw(values: Tensor) -> bool:
    """Whether there is a kernel that draws from such logits."""
    return suits_triton(values) and values.dtype != torch.float64


def draws_alone(part: Rows) -> bool:
    """Whether a job draws, by options that the kernel knows and not from what a drafter drew."""
    sampler = part.job.sampler
    is_drawn = any(node.is_drawn for node in part.tree.nodes)
    return not sampler.options.is_greedy and sampler.is_simple and not is_drawn


def depths(tree: DraftTree) -> list[int]:
    """Return how many tokens of a tree are above each of its rows: the text, then its guesses."""
    found = [0]
    for node in tree.nodes[: tree.guesses]:
        found.append(found[node.parent + 1] + 1)
    return found
