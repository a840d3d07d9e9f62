"""The masks of a step, filled by a thread of their own while the model runs."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from time import perf_counter

from torch import Tensor

from guided._core import fill_masks
from guided.decoding.job import Job
from guided.decoding.writing import count_mask
from guided.masks import allocate_mask
from guided.masks.allowed import allowed_tokens
from guided.vocabulary import Vocabulary

# Columns of the head are worth picking while they are at most this share of it.
FEW = 1 / 16
ALL = -1  # a word that allows all its 32 tokens


class StepMasks:
    """The masks of one step, row by row.

    Attributes:
        rows: (R, W) int32 on the CPU, one for each row of logits; a job without a grammar may have
            any token. None if no job has one.
        errors: what went wrong, by row; the others are not touched by it.
        seconds: how long it took to fill them.
        waited: how long the model had to wait for that.
    """

    def __init__(
        self, jobs: Sequence[Job], rows: Tensor | None, worker: ThreadPoolExecutor
    ) -> None:
        self.rows = rows
        self.errors: dict[int, Exception] = {}
        self.seconds = 0.0
        self.waited = 0.0
        self._jobs = jobs
        self._filling: Future[None] | None = None
        if rows is not None:
            self._filling = worker.submit(self._fill, rows)

    def wait(self) -> None:
        """Return when they are filled."""
        if self._filling is not None:
            start = perf_counter()
            self._filling.result()
            self.waited += perf_counter() - start

    def allowed(self) -> list[Tensor | None]:
        """Wait, and return the tokens that each row allows if those of all rows are few.

        Returns:
            for each row (n,) int64, ascending, or None: take all.
        """
        self.wait()
        everything: list[Tensor | None] = [None] * len(self._jobs)
        if self.rows is None or any(job.matcher is None for job in self._jobs):
            return everything
        found: list[Tensor | None] = []
        left = int(32 * self.rows.shape[1] * FEW)
        for row in self.rows:
            tokens = allowed_tokens(row, left)
            if tokens is None:
                return everything
            left -= len(tokens)
            found.append(tokens)
        return found

    def _fill(self, rows: Tensor) -> None:
        start = perf_counter()
        places = [place for place, job in enumerate(self._jobs) if job.matcher is not None]
        matchers = [job.matcher for job in self._jobs if job.matcher is not None]
        try:
            if len(places) == len(rows):
                fill_masks(matchers, rows)
            else:
                filled = rows.new_empty((len(places), rows.shape[1]))
                fill_masks(matchers, filled)
                rows.fill_(ALL)
                rows[places] = filled
        except Exception:  # one of them; which one is seen by filling them one by one
            self._fill_each(rows)
        self.seconds = perf_counter() - start
        for place in places:
            count_mask(self._jobs[place], self.seconds / len(places))

    def _fill_each(self, rows: Tensor) -> None:
        for place, job in enumerate(self._jobs):
            try:
                if job.matcher is not None:
                    job.matcher.fill_mask(rows[place])
            except Exception as error:
                self.errors[place] = error
                rows[place].fill_(ALL)  # its logits are not looked at


class MaskFiller:
    """Has the masks of one step after the other filled beside the forward.

    Args:
        vocabulary: the width of the rows.
        rows: the most rows of a step.
    """

    def __init__(self, vocabulary: Vocabulary, rows: int) -> None:
        self._masks = allocate_mask(rows, vocabulary)  # (rows, W)
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="guided-masks")

    def begin(self, jobs: Sequence[Job]) -> StepMasks:
        """Begin to fill the masks for these jobs; those of the step before are gone then."""
        constrained = any(job.matcher is not None for job in jobs)
        return StepMasks(jobs, self._masks[: len(jobs)] if constrained else None, self._worker)

    def close(self) -> None:
        """Let the thread go."""
        self._worker.shutdown(wait=False)
