"""What a drafter's own model holds of each job, in step with what the job has written."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from guided.decoding.job import Job
from guided.decoding.models import Runner
from guided.decoding.pages.pool import common_prefix
from guided.errors import GuidedError


@dataclass(slots=True)
class Held:
    """The sequence of one job.

    Attributes:
        sequence: of the runner. It holds the beginning of the first `start` tokens of the job's
            history, or all of these and the beginning of `drafted`.
        start: how long the history was when last a draft was begun.
        drafted: the tokens of that draft.
    """

    sequence: int
    start: int = 0
    drafted: list[int] = field(default_factory=list)


class Sequences:
    """The sequences of jobs on a runner; those of jobs that are over are given back.

    Args:
        runner: used by nobody else.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._held: dict[Job, Held] = {}  # the one asked for longest ago first

    def __len__(self) -> int:
        return len(self._held)

    def follow(self, job: Job, asked: Container[Job]) -> Held | None:
        """Let the sequence of a job hold a beginning of its history, its last token apart.

        Args:
            job: its history only ever grows.
            asked: jobs whose sequences stay; those of others go where the room is wanted.

        Returns:
            None: there is no room.
        """
        held = self._held.pop(job, None)
        if held is not None and not self._agree(held, job.history):
            self._runner.free(held.sequence)
            held = None
        held = held or self._open(job, asked)
        if held is not None:
            held.start, held.drafted = len(job.history), []
            self._held[job] = held
        return held

    def pending(self, job: Job) -> list[int]:
        """Return the tokens of the history that the sequence of a job has not seen."""
        return job.history[self._runner.length(self._held[job].sequence) :]

    def free(self, job: Job) -> None:
        """Give back the sequence of a job, if there is one."""
        held = self._held.pop(job, None)
        if held is not None:
            self._runner.free(held.sequence)

    def sweep(self) -> None:
        """Give back the sequences of jobs that are over."""
        for job in [job for job in self._held if job.is_over]:
            self.free(job)

    def free_idle(self, asked: Container[Job]) -> bool:
        """Give back the sequence asked for longest ago, of a job not among these, if there is."""
        for job in self._held:
            if job not in asked:
                self.free(job)
                return True
        return False

    def _agree(self, held: Held, history: list[int]) -> bool:
        """Drop what a sequence holds beyond the history; whether that could be done."""
        length = self._runner.length(held.sequence)
        agreed = min(length, held.start)
        if length > held.start:
            agreed += common_prefix(held.drafted[: length - held.start], history[held.start :])
        agreed = min(agreed, len(history) - 1)
        try:
            self._runner.rollback(held.sequence, length - agreed)
        except GuidedError:  # what a window sees from there was given back
            return False
        return True

    def _open(self, job: Job, asked: Container[Job]) -> Held | None:
        """Begin a sequence, if there is room for all of the history."""
        while True:
            if self._has_room(job):
                try:
                    return Held(self._runner.open(job.history)[0])
                except GuidedError:  # the runner has no more sequences
                    pass
            if not self.free_idle(asked):
                return None

    def _has_room(self, job: Job) -> bool:
        """Whether a job fits, and all can go on for a page.

        A sequence that gives way to others a few tokens later has run its prompt for nothing.
        """
        page = self._runner.stats().page_size
        return self._runner.room() >= len(job.history) + page * len(self._held)
