"""Who takes part in the next forward, with how many tokens, and who must give its pages back."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field

from guided.decoding.drafts.tree import DraftTree
from guided.decoding.job import Job
from guided.decoding.models import Piece, Runner
from guided.errors import GuidedError

# Tokens of room left for each running sequence when another is let in, so that it is not put out
# again a few steps later.
RESERVE = 32


@dataclass(frozen=True, slots=True)
class Slice:
    """The part of a job in one forward.

    Attributes:
        job: whose.
        count: its next tokens.
        logits: whether logits follow, as these are its last ones.
        tree: what may come after them, to be checked in the same forward.
    """

    job: Job
    count: int
    logits: bool
    tree: DraftTree = field(default_factory=DraftTree)

    def piece(self) -> Piece:
        """Return the rows for the runner."""
        job, tree = self.job, self.tree
        assert job.sequence is not None
        tokens = [*job.history[job.seen : job.seen + self.count], *tree.tokens]
        if tree.is_chain:
            return Piece(job.sequence, tokens, logits=int(self.logits) + len(tree))
        above = [self.count + parent for parent in tree.parents]
        parents = [*range(-1, self.count - 1), *above]
        return Piece(job.sequence, tokens, logits=1 + len(tree), parents=parents)


class Scheduler:
    """Jobs that wait and jobs that run, in the order of priority and arrival.

    A job that runs has a sequence of the runner. When the pages do not suffice, the last in order
    gives its own back and waits again; what it wrote is kept and run again later. The first in
    order is never put out by those after it, so something always comes to its end.

    Args:
        runner: the model.
        max_batch: the most jobs that run at a time.
        token_budget: the most tokens of one forward, at least `max_batch`. A longer prompt is run
            in chunks, beside those that write.

    Attributes:
        waiting, running: jobs, by rank.
        budget: as given.
        page_size: tokens a page of the runner, at least 1.
    """

    def __init__(self, runner: Runner, *, max_batch: int, token_budget: int) -> None:
        self.waiting: list[Job] = []  # sorted by rank
        self.running: list[Job] = []  # sorted by rank
        self._runner = runner
        self._max_batch = max_batch
        self.budget = token_budget
        self.page_size = max(1, runner.stats().page_size)

    @property
    def jobs(self) -> list[Job]:
        """All of them."""
        return self.running + self.waiting

    def add(self, job: Job) -> None:
        """Let a job wait for its turn."""
        bisect.insort(self.waiting, job, key=rank)

    def remove(self, job: Job) -> None:
        """Forget a job that is over, and free its sequence."""
        (self.running if job.sequence is not None else self.waiting).remove(job)
        self._free(job)

    def preempt(self, job: Job) -> None:
        """Take the pages of a job that runs; it waits, and its tokens are run again later."""
        self.running.remove(job)
        self._free(job)
        job.timings.preemptions += 1
        self.add(job)

    def clear(self) -> list[Job]:
        """Forget all jobs, and return them; their sequences are left to the runner's `reset`."""
        jobs, self.running, self.waiting = self.jobs, [], []
        for job in jobs:
            job.sequence, job.seen = None, 0
        return jobs

    def plan(self) -> list[Slice]:
        """Choose the slices of the next forward, for which there is room."""
        self._admit()
        slices = self._cut()
        while slices and not self._has_room(slices):
            youngest = self.running[-1]
            if youngest is not self.running[0]:
                self.preempt(youngest)
                slices = [part for part in slices if part.job is not youngest]
            else:
                slices = self._shrink(slices[0])
        return slices

    def stuck(self) -> Job | None:
        """Return the job that has all the pages to itself, and for which they do not suffice."""
        [job] = self.running if len(self.running) == 1 else [None]
        if job is None or job.pending < 1 or self._has_room([Slice(job, 1, False)]):
            return None
        return job

    def _admit(self) -> None:
        """Let jobs run while there are places and pages for them."""
        for job in [job for job in self.waiting if job.pending > 0]:
            while not self._fits(job):
                youngest = self.running[-1]
                if youngest.priority >= job.priority:
                    return
                self.preempt(youngest)
            try:
                job.sequence, job.seen = self._runner.open(job.history)
            except GuidedError:  # it has no more sequences
                if not self.running:
                    raise
                return
            self.waiting.remove(job)
            if job.timings.preemptions == 0:
                job.timings.cached = min(job.seen, len(job.prompt))
            bisect.insort(self.running, job, key=rank)

    def _fits(self, job: Job) -> bool:
        """Whether a job may run: always if no other does, as then there is all the room."""
        if not self.running:
            return True
        if len(self.running) >= self._max_batch:
            return False
        promised = sum(self._growth(other) for other in self.running)
        return self._runner.room() >= promised + self._whole_pages(len(job.history))

    def _growth(self, job: Job) -> int:
        """Return the room that a job will take in its next steps."""
        most = len(job.prompt) + job.max_tokens
        held = self._whole_pages(job.seen)
        return max(0, self._whole_pages(min(len(job.history) + RESERVE, most)) - held)

    def _whole_pages(self, tokens: int) -> int:
        return -(-tokens // self.page_size) * self.page_size

    def _cut(self) -> list[Slice]:
        """Share the budget out: first to those that write, then to prompts."""
        slices: list[Slice] = []
        left = self.budget
        for job in sorted(self.running, key=lambda job: (job.seen < len(job.prompt), rank(job))):
            count = min(job.pending, left)
            if count > 0:
                is_last = count == job.pending and job.compiling is None
                slices.append(Slice(job, count, is_last))
                left -= count
        return slices

    def _shrink(self, part: Slice) -> list[Slice]:
        """Halve the only slice until there is room for it; nothing if there never is."""
        count = part.count // 2
        while count > 0 and not self._has_room([Slice(part.job, count, False)]):
            count //= 2
        return [Slice(part.job, count, False)] if count else []

    def _has_room(self, slices: Sequence[Slice]) -> bool:
        return self._runner.needs([part.piece() for part in slices]) <= self._runner.room()

    def _free(self, job: Job) -> None:
        if job.sequence is not None:
            self._runner.free(job.sequence)
        job.sequence, job.seen = None, 0


def rank(job: Job) -> tuple[int, int]:
    """Return the place of a job in the order; the lower goes first."""
    return job.rank
