"""Drafters that guess well, badly, by chance and in trees; for tests."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence

import torch
from torch import Tensor

from guided.decoding import Job
from guided.decoding.drafts import Draft
from guided.decoding.drafts.pace import Pace
from tests.decoding.table_runner import TableRunner


class EagerPace(Pace):
    """Rows cost nothing, so every guess is checked."""

    def reach(self, jobs: int, rows: int) -> int:
        return rows + 10**6

    def seconds(self, jobs: int, rows: int) -> float:
        return 1.0


class Scripted:
    """Proposes trees of tokens that follow from a seed and the text, as good as guesses at random.

    Args:
        width: of the vocabulary.
        tokens: how many are proposed.
        chain: whether each follows the one before it.
    """

    cost = 0.0

    def __init__(self, width: int, tokens: int = 6, *, chain: bool = False, seed: int = 0) -> None:
        self.name = f"scripted {seed}"
        self.width, self.tokens, self.chain, self.seed = width, tokens, chain, seed
        self.observed: list[list[int]] = []

    def propose(self, jobs: Sequence[Job], most: Sequence[int]) -> list[Draft]:
        return [self._draft(job, limit) for job, limit in zip(jobs, most, strict=True)]

    def _draft(self, job: Job, most: int) -> Draft:
        chance = random.Random(f"{self.seed} {job.history}")
        draft = Draft()
        for place in range(min(self.tokens, most)):
            parent = place - 1 if self.chain else chance.randrange(-1, place)
            draft.add(chance.randrange(self.width), parent)
        return draft

    def observe(self, job: Job, tokens: Sequence[int], states: Sequence[int]) -> None:
        self.observed.append(list(tokens))
        assert job.matcher is None or len(states) == len(tokens)


class Drawing:
    """Draws tokens from a model of its own, under the grammar, several after the same place.

    Args:
        model: gives the distributions.
        depth: tokens one after the other.
        siblings: tokens after each place, drawn without putting back.
        ends: tokens after which nothing comes.
    """

    name, cost = "drawing", 0.0

    def __init__(
        self,
        model: TableRunner,
        depth: int = 2,
        siblings: int = 1,
        seed: int = 0,
        ends: Collection[int] = (),
    ) -> None:
        self.model, self.depth, self.siblings, self.ends = model, depth, siblings, ends
        self.generator = torch.Generator().manual_seed(seed)

    def propose(self, jobs: Sequence[Job], most: Sequence[int]) -> list[Draft]:
        return [self._draft(job) for job in jobs]

    def _draft(self, job: Job) -> Draft:
        draft = Draft()
        self._grow(draft, job, list(job.history), -1, self.depth)
        return draft

    def _grow(self, draft: Draft, job: Job, text: list[int], parent: int, depth: int) -> None:
        if depth == 0:
            return
        ids, probabilities = self._distribution(job, text)
        for _ in range(min(self.siblings, len(ids))):
            place = int(torch.multinomial(probabilities, 1, generator=self.generator))
            token = int(ids[place])
            child = draft.add(token, parent, 0, (ids, probabilities))
            if token not in self.ends:
                self._grow(draft, job, [*text, token], child, depth - 1)
            left = probabilities.clone()
            left[place] = 0.0
            if not float(left.sum()) > 0:
                break
            probabilities = left / left.sum()

    def _distribution(self, job: Job, text: Sequence[int]) -> tuple[Tensor, Tensor]:
        logits = self.model.logits(text).double()
        ids = torch.arange(len(logits))
        if job.matcher is not None:
            fork = job.matcher.fork()
            fork.accept_all(text[len(job.history) :])
            ids = torch.tensor(fork.allowed_tokens())
        return ids, logits[ids].softmax(0)

    def observe(self, job: Job, tokens: Sequence[int], states: Sequence[int]) -> None:
        pass
