"""The masks of a step, filled by a thread of their own while the model runs."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from time import perf_counter

from torch import Tensor

from guided._core import fill_masks
from guided.decoding.drafts.tree import DraftTree
from guided.decoding.job import Job
from guided.decoding.writing import count_mask
from guided.masks import allocate_mask
from guided.masks.allowed import allowed_tokens
from guided.vocabulary import Vocabulary

# Columns of the head are worth picking while they are at most this share of it.
FEW = 1 / 16
# The share of a forward that the model may wait for masks before they are left out where the choice
# can be checked without; and the weight of the last step in it.
LONG, WEIGHT = 0.05, 0.1
ALL = -1  # a word that allows all its 32 tokens


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of logits of a job: that after its text, and those after the tokens of its tree.

    Attributes:
        job: whose.
        tree: maybe an empty one.
        start: the first of them among all rows of the step.
        count: rows of the forward before the tree.
    """

    job: Job
    tree: DraftTree
    start: int
    count: int

    @property
    def end(self) -> int:
        """After the last of them."""
        return self.start + 1 + len(self.tree)

    @property
    def masked(self) -> range:
        """Those that the grammar has a say in: what branches learn from is the model's alone."""
        return range(self.start, self.start + 1 + self.tree.guesses)

    def draft(self) -> tuple[list[int], list[int]]:
        """Return the guesses of the tree as tokens and parents."""
        count = self.tree.guesses
        return self.tree.tokens[:count], self.tree.parents[:count]


class StepMasks:
    """The masks of one step, row by row.

    Attributes:
        rows: (R, W) int32 on the CPU, one for each row of logits; a job without a grammar may have
            any token. None if no job has one.
        errors: what went wrong, by row; the other jobs are not touched by it.
        seconds: how long it took to fill them.
        waited: how long the model had to wait for that.
        open: rows that were left open, as if everything were allowed: what is chosen from them must
            be checked, and only if it is refused the mask is needed.
    """

    def __init__(
        self,
        parts: Sequence[Rows],
        rows: Tensor | None,
        worker: ThreadPoolExecutor,
        leave_open: bool = False,
    ) -> None:
        self.rows = rows
        self.errors: dict[int, Exception] = {}
        self.seconds = 0.0
        self.waited = 0.0
        self._count_all = parts[-1].end if parts else 0
        self._parts = [part for part in parts if part.job.matcher is not None]
        self.open: set[int] = set()
        if leave_open:
            self.open = {part.start for part in self._parts if can_be_open(part)}
            self._parts = [part for part in self._parts if part.start not in self.open]
        self._is_whole = rows is not None and len(rows) == sum(
            len(part.masked) for part in self._parts
        )
        self._picks = not any(part.job.sampler.options.logprobs for part in parts)
        self._filling: Future[None] | None = None
        if rows is not None and not self._fill_known(rows):
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
        everything: list[Tensor | None] = [None] * self._count_all
        if self.rows is None or not self._is_whole or not self._picks:
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

    def _fill_known(self, rows: Tensor) -> bool:
        """Fill them here and now if all are known: waking a thread takes longer."""
        start = perf_counter()
        try:
            if not self._write(self._parts, rows, only_known=True):
                return False
        except Exception:  # it comes again, and is dealt with, in the thread
            return False
        self._count(perf_counter() - start)
        return True

    def _fill(self, rows: Tensor) -> None:
        start = perf_counter()
        try:
            self._write(self._parts, rows)
        except Exception:  # one of them; which one is seen by filling them one by one
            self._fill_each(rows)
        self._count(perf_counter() - start)

    def _write(self, parts: Sequence[Rows], rows: Tensor, *, only_known: bool = False) -> bool:
        """Fill the rows of some parts, all others with ones."""
        matchers = [part.job.matcher for part in parts if part.job.matcher is not None]
        drafts = [part.draft() for part in parts]
        places = [place for part in parts for place in part.masked]
        if len(places) == len(rows):
            return fill_masks(matchers, rows, drafts=drafts, only_known=only_known)
        filled = rows.new_empty((len(places), rows.shape[1]))
        if not fill_masks(matchers, filled, drafts=drafts, only_known=only_known):
            return False
        rows.fill_(ALL)
        rows[places] = filled
        return True

    def _fill_each(self, rows: Tensor) -> None:
        rows.fill_(ALL)
        for part in self._parts:
            block = rows[part.start : part.end]
            try:
                self._write([replace(part, start=0)], block)
                continue
            except Exception as error:
                block.fill_(ALL)  # the logits of these rows are not looked at
                self.errors.update(dict.fromkeys(part.masked, error))
            with suppress(Exception):
                assert part.job.matcher is not None
                part.job.matcher.fill_mask(rows[part.start])
                del self.errors[part.start]

    def _count(self, seconds: float) -> None:
        self.seconds = seconds
        for part in self._parts:
            count_mask(part.job, seconds / len(self._parts))


def can_be_open(part: Rows) -> bool:
    """Whether a token may be chosen before the mask is made, and checked then.

    The most likely token of all, if it is allowed, is the most likely of the allowed ones. One that
    is drawn at temperature alone is a draw from those, if another one is drawn in place of a
    forbidden one; but that takes another random number, so a job with a seed is left out.

    Source: Beurer-Kellner et al., "Guiding LLMs the right way" (DOMINO), 2024, on opportunistic
    masking.
    """
    job, options = part.job, part.job.sampler.options
    if job.matcher is None or len(part.tree) or options.logprobs or job.matcher.has_mask:
        return False
    is_bare = not (options.top_k or options.min_p or options.top_p not in (None, 1.0))
    is_drawn = options.seed is None and is_bare and job.sampler.is_simple
    return job.sampler.is_plain or is_drawn


class MaskFiller:
    """Has the masks of one step after the other filled beside the forward.

    Args:
        vocabulary: the width of the rows.
        rows: of a step, about; more are made room for.
    """

    def __init__(self, vocabulary: Vocabulary, rows: int) -> None:
        self._vocabulary = vocabulary
        self._masks = allocate_mask(rows, vocabulary)  # (rows, W)
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="guided-masks")
        self._waiting = 0.0  # the share of late forwards that they waited for masks

    def begin(self, parts: Sequence[Rows]) -> StepMasks:
        """Begin to fill the masks of these jobs; those of the step before are gone then."""
        if all(part.job.matcher is None for part in parts):
            return StepMasks(parts, None, self._worker)
        count = parts[-1].end
        if count > len(self._masks):
            self._masks = allocate_mask(2 * count, self._vocabulary)
        leave_open = self._waiting > LONG
        return StepMasks(parts, self._masks[:count], self._worker, leave_open)

    def note(self, waited: float, seconds: float) -> None:
        """Learn how long a forward took, and how long it waited for its masks."""
        share = waited / seconds if seconds > 0 else 0.0
        self._waiting += WEIGHT * (share - self._waiting)

    def close(self) -> None:
        """Let the thread go."""
        self._worker.shutdown(wait=False)
