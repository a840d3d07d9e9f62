"""The step loop: schedule, run, sample, write; jobs come and go between steps."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

from guided.decoding.drafts.speculation import Speculator
from guided.decoding.job import Job
from guided.decoding.masking import MaskFiller, Rows
from guided.decoding.models import OutOfPages, Runner
from guided.decoding.scheduler import Scheduler, Slice
from guided.decoding.totals import Totals
from guided.decoding.verify import StepLogits, Verified, verify
from guided.decoding.writing import prepare
from guided.errors import LimitError
from guided.vocabulary import Vocabulary


class Loop:
    """Runs jobs over a model, a step at a time.

    `add` may be called by any thread; all else by one thread at a time.

    Args:
        runner: the model.
        vocabulary: its tokens.
        max_batch: the most jobs that run at a time.
        token_budget: the most tokens of one forward, at least `max_batch`.

    Attributes:
        capacity: tokens that the cache holds; None where it grows as it must.
        totals: what was done so far.
        speculator: what drafts tokens for jobs that have drafters.
    """

    def __init__(
        self, runner: Runner, vocabulary: Vocabulary, *, max_batch: int, token_budget: int
    ) -> None:
        self.runner = runner
        self.vocabulary = vocabulary
        self.scheduler = Scheduler(runner, max_batch=max_batch, token_budget=token_budget)
        self.capacity = runner.room() if runner.stats().pages else None
        self.totals = Totals()
        self.speculator = Speculator()
        self._filler = MaskFiller(vocabulary, max_batch)
        self._arriving: deque[Job] = deque()
        self._arrivals = 0

    def add(self, job: Job) -> None:
        """Hand in a job; it takes part from the next step on.

        Raises:
            LimitError: its prompt can never fit into the cache.
        """
        if self.capacity is not None and len(job.prompt) > self.capacity:
            raise too_long(job, self.capacity)
        self._arriving.append(job)

    @property
    def is_idle(self) -> bool:
        """Whether there is no job at all."""
        return not (self._arriving or self.scheduler.running or self.scheduler.waiting)

    @property
    def arriving(self) -> int:
        """How many jobs were handed in since the last step."""
        return len(self._arriving)

    def next_deadline(self) -> float:
        """Return when the first job will be late, by `perf_counter`; infinity if none can be."""
        jobs = [*self._arriving, *self.scheduler.jobs]
        return min((job.deadline for job in jobs), default=math.inf)

    def step(self) -> bool:
        """Do one forward for whoever can go on; return whether anything happened.

        If nothing did, all jobs wait for their grammar, or there is none.
        """
        start = perf_counter()
        moved = self._settle(start)
        slices = self.scheduler.plan()
        if slices:
            self._run(slices, start)
            return True
        if (job := self.scheduler.stuck()) is not None:
            self._give_up(job)
            return True
        return moved

    def fail_all(self, error: BaseException) -> None:
        """Let all jobs fail by an error that belongs to none; the loop can go on with others."""
        self._receive()
        for job in self.scheduler.clear():
            job.error = error
            self._close(job)
        self.runner.reset()

    def close(self) -> None:
        """Cancel all jobs and forget everything."""
        self._receive()
        for job in self.scheduler.clear():
            job.finish("cancelled")
            self._close(job)
        self.runner.reset()
        self._filler.close()

    def _receive(self) -> list[Job]:
        """Let the jobs that were handed in wait for their turn, and return them."""
        new: list[Job] = []
        while self._arriving:
            job = self._arriving.popleft()
            job.arrival = self._arrivals = self._arrivals + 1
            job.sampler.begin(job.prompt, self.vocabulary.eos, uncounted=job.taken_back)
            self.scheduler.add(job)
            new.append(job)
        return new

    def _settle(self, now: float) -> bool:
        """Take in new jobs and grammars, and let go of jobs that were cancelled or are late."""
        new = self._receive()
        moved = bool(new)
        for job in new:
            if job.compiling is None:
                self._prepare(job)
        for job in self.scheduler.jobs:
            if job.cancelled or now >= job.deadline:
                job.finish("cancelled" if job.cancelled else "timeout")
                self._leave(job)
            elif job.compiling is not None and job.compiling.done():
                self._attach(job)
            else:
                continue
            moved = True
        return moved

    def _attach(self, job: Job) -> None:
        """Give a job the matcher that was compiled for it."""
        assert job.compiling is not None
        error = job.compiling.exception()
        if error is not None:
            self._fail(job, error)
            return
        job.matcher = job.compiling.result()
        job.compiling = None
        self._prepare(job)

    def _prepare(self, job: Job) -> None:
        try:
            prepare(job, self.vocabulary)
        except Exception as error:
            self._fail(job, error)
            return
        self._report(job)

    def _run(self, slices: Sequence[Slice], start: float) -> None:
        """Run the model for these slices, and choose the tokens of those whose turn it is."""
        slices = self._with_drafts(slices)
        parts = rows_of(slices)
        masks = self._filler.begin(parts)
        begun = perf_counter()
        try:
            logits = self.runner.run([part.piece() for part in slices], masks.allowed)
        except OutOfPages as error:
            masks.wait()
            self._make_room(error)
            return
        except BaseException as error:
            masks.wait()
            self._lose(slices, error)
            if not isinstance(error, Exception):
                raise
            return
        masks.wait()
        self.totals.run_seconds += perf_counter() - begun - masks.waited
        self.totals.mask_seconds += masks.seconds
        self.totals.mask_wait_seconds += masks.waited
        for part in slices:
            part.job.seen += part.count
        self._filler.note(masks.waited, perf_counter() - begun)
        rows = StepLogits(logits, masks, parts)
        verified = [
            verify(part.job, part.tree, rows, part.start, self.vocabulary) for part in parts
        ]
        self._count(slices, start)
        self._learn(slices, parts, verified, rows, perf_counter() - start - masks.waited)
        for rows_of_job, found in zip(parts, verified, strict=True):
            self._settle_draft(rows_of_job, found)

    def _with_drafts(self, slices: Sequence[Slice]) -> list[Slice]:
        """Add what may come next to the slices of those that write, where it is worth its rows."""
        places = [place for place, part in enumerate(slices) if part.logits]
        jobs = [slices[place].job for place in places]
        if not self.runner.drafts or not any(job.drafters for job in jobs):
            return list(slices)
        rows = sum(part.count for part in slices)
        used = self.runner.needs([part.piece() for part in slices])
        trees = self.speculator.draft(
            jobs,
            rows=rows,
            budget=self.scheduler.budget - rows,
            room=(self.runner.room() - used) // len(jobs) - self.scheduler.page_size + 1,
            chains=not self.runner.trees,
        )
        drafted = list(slices)
        for place, tree in zip(places, trees, strict=True):
            drafted[place] = replace(slices[place], tree=tree)
        return drafted

    def _learn(
        self,
        slices: Sequence[Slice],
        parts: Sequence[Rows],
        verified: Sequence[Verified],
        rows: StepLogits,
        seconds: float,
    ) -> None:
        """Let the speculator see what came of its drafts, and what the step took."""
        if all(part.logits and part.job.timings.forwards > 1 for part in slices):
            count = sum(part.count + len(part.tree) for part in slices)
            self.speculator.pace.note_step(len(slices), count, seconds)
        for part, found in zip(parts, verified, strict=True):
            if found.error is not None or not part.job.drafters:
                continue
            self.speculator.learn(part.job, part.tree, found.path, found.tokens)
            if part.tree.branches:
                learned = range(part.end - part.tree.branches, part.end)
                self.speculator.see(part.job, [rows.best(row) or 0 for row in learned])

    def _settle_draft(self, part: Rows, found: Verified) -> None:
        """Let the cache hold what was accepted of a draft, and tell whoever waits for the job."""
        job, tree, path = part.job, part.tree, found.path
        assert job.sequence is not None
        if len(tree):
            if tree.is_chain:
                self.runner.rollback(job.sequence, len(tree) - len(path))
            else:
                # The piece began with the tokens of the job itself, which all are kept.
                above = part.count
                kept = [*range(above), *(above + place for place in path)]
                self.runner.keep(job.sequence, kept)
            job.seen += len(path)
            job.timings.drafted += tree.guesses
            job.timings.accepted += len(path)
        if found.error is not None:
            self._fail(job, found.error)
        else:
            self._report(job)

    def _count(self, slices: Sequence[Slice], start: float) -> None:
        """Add a step to the statistics of all that took part."""
        now = perf_counter()
        self.totals.steps += 1
        self.totals.step_seconds += now - start
        for part in slices:
            timings = part.job.timings
            if timings.forwards == 0:
                timings.queued = start - timings.submitted
            if timings.has_logits:
                timings.decode += now - start
            else:
                timings.prefill += now - start
            timings.has_logits |= part.logits
            timings.forwards += 1
            timings.batch = max(timings.batch, len(slices))
            self.totals.rows += part.count + len(part.tree)

    def _make_room(self, error: OutOfPages) -> None:
        """Put the last job out, as the runner has less room than it said; a single one fails."""
        running = self.scheduler.running
        if len(running) > 1:
            self.scheduler.preempt(running[-1])
        else:
            self._fail(running[-1], error)

    def _lose(self, slices: Sequence[Slice], error: BaseException) -> None:
        """The model failed in the middle: what its cache holds of these jobs is not known.

        After an interrupt they can go on, as all is run again; after an error they fail.
        """
        for part in slices:
            self.scheduler.preempt(part.job)
            if isinstance(error, Exception):
                self._fail(part.job, error)

    def _give_up(self, job: Job) -> None:
        """Cut a job that fills the whole cache; without any output it fails."""
        if job.tokens:
            job.finish("length")
            self._leave(job)
        else:
            self._fail(job, too_long(job, self.capacity or 0))

    def _fail(self, job: Job, error: BaseException) -> None:
        job.error = error
        self._leave(job)

    def _report(self, job: Job) -> None:
        """Let a job go if it is over, and tell whoever waits for it."""
        if job.finish_reason is not None:
            self._leave(job)
        elif job.wake is not None:
            job.wake()

    def _leave(self, job: Job) -> None:
        """Let a job go that is over."""
        self.scheduler.remove(job)
        self._close(job)

    def _close(self, job: Job) -> None:
        """Add a job that is over to the sums, and tell whoever waits for it."""
        totals = self.totals
        if job.error is not None:
            totals.failed += 1
        elif job.finish_reason in ("cancelled", "timeout"):
            totals.cancelled += 1
        else:
            totals.finished += 1
        totals.prompt_tokens += len(job.prompt)
        totals.cached_tokens += job.timings.cached
        totals.output_tokens += len(job.tokens)
        totals.forced_tokens += job.forced
        totals.preemptions += job.timings.preemptions
        if job.tokens:
            totals.first_token_seconds += job.timings.first_token
            totals.writers += 1
        if job.wake is not None:
            job.wake()


def rows_of(slices: Sequence[Slice]) -> list[Rows]:
    """Number the rows of logits of the slices that have some."""
    parts: list[Rows] = []
    for part in slices:
        if part.logits:
            start = parts[-1].end if parts else 0
            parts.append(Rows(part.job, part.tree, start, part.count))
    return parts


def too_long(job: Job, capacity: int) -> LimitError:
    """Make the error for a prompt that no pages suffice for."""
    return LimitError(
        f"the prompt has {len(job.prompt)} tokens and can never fit",
        limit="tokens of cache",
        value=capacity,
    )
