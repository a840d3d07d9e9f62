"""Drafts by a smaller model that runs beside the one that decides."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from copy import deepcopy
from random import Random
from time import perf_counter

from guided.decoding.drafts.assistant_choice import choose, random_of
from guided.decoding.drafts.assistant_line import Line
from guided.decoding.drafts.assistant_masks import LineMasks
from guided.decoding.drafts.assistant_sequences import Sequences
from guided.decoding.drafts.draft import Draft
from guided.decoding.drafts.vocabularies import check_assistant
from guided.decoding.job import Job
from guided.decoding.model import Model
from guided.decoding.models import Allowed, Logits, OutOfPages, Piece
from guided.decoding.models.llama_cpp_runner import SEQUENCES
from guided.decoding.runners import CacheDtype, CacheKind, open_runner

FLOOR = 0.05
CHUNK = 512
_CALLS = 32  # of which the cost is the mean
_READING = 64  # a job that is so many tokens behind is read, which the cost of drafting leaves out


class AssistantDrafter:
    """Lets a smaller model with the same tokens write ahead, under the grammar of each job.

    It writes as the job would: the most likely token for a greedy one, else a token drawn under the
    options of its sampler, by random numbers of its own. All jobs of a step are one batch. What it
    has read stays in pages of its own, and goes when a job is over or another one needs the room.

    Args:
        model: the assistant: a smaller model, or the `first_layers` of the target.
        target: the model that decides.
        name: of the source in statistics.
        memory, cache, kv_dtype, max_batch: of the assistant's own cache, as in `open_runner`.
        branches: how many different tokens are guessed for the next place; it goes on behind the
            first of them only.
        floor: a draft ends where the product of the probabilities along it falls below this.
        chunk: the most tokens that are read at a time where jobs are new or far ahead. A job that
            is not read to its end yet has no draft.

    Raises:
        GuidedError: the assistant is the target itself, or has other tokens.
        ValueError: an argument is out of range.
        LimitError, UnsupportedError: see `open_runner`.

    Source: Leviathan et al., "Fast Inference from Transformers via Speculative Decoding", ICML
    2023; Chen et al., "Accelerating Large Language Model Decoding with Speculative Sampling", 2023.
    """

    def __init__(
        self,
        model: Model,
        target: Model,
        *,
        name: str = "assistant",
        memory: int | None = None,
        cache: CacheKind = "paged",
        kv_dtype: CacheDtype | None = None,
        max_batch: int = SEQUENCES,
        branches: int = 1,
        floor: float = FLOOR,
        chunk: int = CHUNK,
    ) -> None:
        check_assistant(model, target)
        if branches < 1 or chunk < 1 or not 0 <= floor < 1:
            raise ValueError(
                "branches and chunk are at least 1, and floor is from 0 to below 1; found"
                f" {branches}, {chunk} and {floor}"
            )
        self.name = name
        self.cost = 0.0
        self.runner = open_runner(
            model, memory=memory, cache=cache, kv_dtype=kv_dtype, max_batch=max_batch
        )
        self._size = target.vocabulary.size
        self._ends = frozenset(target.vocabulary.eos)
        self._branches, self._floor, self._chunk = branches, floor, chunk
        self._sequences = Sequences(self.runner)
        self._masks = LineMasks(target.vocabulary, self.runner.width)
        self._lock = threading.Lock()  # several loops may share the assistant of a model
        self._calls: deque[tuple[float, int]] = deque(maxlen=_CALLS)  # seconds, tokens

    def propose(self, jobs: Sequence[Job], most: Sequence[int]) -> list[Draft]:
        """Write ahead for all jobs at once; see `Drafter.propose`.

        A job that the cache has no room for gets no draft, or a shorter one.

        Cost: a forward of the assistant for each token of the longest draft, but for those that
        the grammar forces.
        """
        with self._lock:
            return self._propose(jobs, most)

    def _propose(self, jobs: Sequence[Job], most: Sequence[int]) -> list[Draft]:
        self._sequences.sweep()
        asked = set(jobs)
        lines = [self._begin(job, count, asked) for job, count in zip(jobs, most, strict=True)]
        begun = [line for line in lines if line is not None]
        is_behind = any(len(line.pending) > _READING for line in begun)
        self._read(begun, asked)
        start = perf_counter()
        while ready := [line for line in begun if line.is_open]:
            self._step(ready, asked)
        drafts = [Draft() if line is None else line.draft for line in lines]
        if not is_behind:
            self._note_cost(perf_counter() - start, sum(map(len, drafts)))
        return drafts

    def observe(self, job: Job, tokens: Sequence[int], states: Sequence[int]) -> None:
        """Let go of a job that is over."""
        if job.is_over:
            with self._lock:
                self._sequences.free(job)

    def _begin(self, job: Job, most: int, asked: set[Job]) -> Line | None:
        """Prepare the draft of a job; None if it can have none now."""
        context = self.runner.context
        if context is not None:  # the last token of a draft is not run
            most = min(most, context - len(job.history) + 1)
        if most < 1 or (job.matcher is not None and job.matcher.is_terminated):
            return None
        held = self._sequences.follow(job, asked)
        if held is None:
            return None
        # Kept as long as the job: random numbers that came twice would not be independent of what
        # was written since.
        random: Random = job.notes.setdefault(self, random_of(job, self.name))
        matcher = None if job.matcher is None else job.matcher.fork()
        # What was written weighs in only with penalties and the like; then drafted tokens do too.
        sampler = job.sampler if job.sampler.is_simple else deepcopy(job.sampler)
        return Line(job, held, most, self._sequences.pending(job), matcher, sampler, random)

    def _read(self, lines: Sequence[Line], asked: set[Job]) -> None:
        """Run a part of what jobs are behind that are too far behind to be drafted for."""
        left = max(self._chunk, len(lines))
        behind: list[Line] = []
        pieces: list[Piece] = []
        for line in sorted(lines, key=lambda line: len(line.pending)):
            count = min(len(line.pending), left)
            left -= count
            if count < len(line.pending):
                line.is_open = False
                if count:
                    behind.append(line)
                    pieces.append(Piece(line.held.sequence, line.pending[:count], logits=0))
        if pieces:
            self._run(pieces, behind, asked)

    def _step(self, lines: list[Line], asked: set[Job]) -> None:
        """Add to each line what is forced, and a token, or several side by side."""
        for line in lines:
            line.add_forced()
        lines, masks = self._masks.fill([line for line in lines if line.is_open])
        if not lines:
            return
        pieces = [Piece(line.held.sequence, line.pending) for line in lines]
        logits = self._run(pieces, lines, asked, lambda: self._masks.allowed(lines, masks))
        if logits is None:  # somebody gave way; the others come again
            return
        values, columns = logits.values, logits.tokens
        if columns is None:
            values = values[:, : self._size]  # (R, V): an assistant may have more columns
        choices = choose(
            [line.wish(self._branches) for line in lines],
            values,
            None if columns is None else columns.to(values.device),
            None if masks is None else masks.to(values.device),
        )
        for line, found in zip(lines, choices, strict=True):
            line.pending = []
            line.add(found, self._ends, self._floor)

    def _run(
        self,
        pieces: Sequence[Piece],
        lines: Sequence[Line],
        asked: set[Job],
        allowed: Allowed | None = None,
    ) -> Logits | None:
        """Run the assistant; None: there was no room, and a sequence was given back.

        That of a job not asked for now, if there is one; else the last of these has no more draft.
        """
        try:
            return self.runner.run(pieces, allowed)
        except OutOfPages:
            if not self._sequences.free_idle(asked):
                lines[-1].is_open = False
                self._sequences.free(lines[-1].job)
            return None

    def _note_cost(self, seconds: float, tokens: int) -> None:
        """Learn what a token costs."""
        if tokens:
            self._calls.append((seconds, tokens))
            self.cost = sum(spent for spent, _ in self._calls) / sum(n for _, n in self._calls)
