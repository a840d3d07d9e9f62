"""Guesses from sequences that the model itself has made ahead of the text, and from texts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from guided.decoding.drafts.draft import Draft
from guided.decoding.drafts.pool import SequencePool
from guided.decoding.job import Job


@dataclass(slots=True)
class _Window:
    """What is guessed ahead of one text.

    Attributes:
        columns: column c begins at the c-th place after the end of the text; its tokens follow each
            other, and each but the first was the model's choice after those before it.
        asked: the columns that were last run, each with the place of its last token among them.
        pooled: how many tokens of the history are in the pool.
    """

    columns: deque[list[int]] = field(default_factory=deque)
    asked: list[tuple[list[int], int]] = field(default_factory=list)
    pooled: int = 0


class LookaheadDrafter:
    """Proposes sequences from a pool, by the last token of the text; the latest first.

    The pool is filled from texts that are given, from what all jobs write, and, if `branching`,
    from Jacobi iterations: beside the text, and in the same forward, the model goes on from guesses
    of what stands further ahead. `branches` says what to run for this and `see` takes what the
    model said.

    The class of a token is 8 * min(rank, 7) + min(depth, 7): rank counts the sequences that were
    added later, depth the tokens of the draft before it.

    Memory: `most_each` sequences for a first token and `most` in all, for all jobs together, of
    some 0.2 kB each; those go first that were not added again for the longest time. Of a job,
    `width` columns.

    Args:
        texts: tokens of texts like those that will be written.
        size: N, tokens of a sequence, at least 2.
        width: W, columns of the window.
        branching: whether the model is asked ahead of the text. It pays where a forward of many
            tokens costs little more than one of a few.
        most_each, most: bounds of the pool.

    Source: Fu, Bailis, Stoica and Zhang, "Break the sequential dependency of LLM inference using
    lookahead decoding", ICML 2024.
    """

    name = "lookahead"
    cost = 0.0

    def __init__(
        self,
        texts: Iterable[Sequence[int]] = (),
        *,
        size: int = 5,
        width: int = 8,
        branching: bool = True,
        most_each: int = 16,
        most: int = 100_000,
    ) -> None:
        if size < 2 or width < 1 or most_each < 1 or most < 1:
            raise ValueError(
                "sequences have at least 2 tokens, and there is at least one of them and a column; "
                f"found {size=}, {width=}, {most_each=}, {most=}"
            )
        self.size = size
        self.width = width
        self.branching = branching
        self._pool = SequencePool(most_each, most)
        self._random = Random(0)  # what is drawn is a guess, so nothing hangs on it
        for text in texts:
            self.add_text(text)

    def __len__(self) -> int:
        return len(self._pool)

    def add_text(self, tokens: Sequence[int]) -> None:
        """Put all sequences of a text into the pool; those at its end are shorter."""
        for start in range(len(tokens) - 1):
            self._pool.add(tokens[start : start + self.size])

    def propose(self, jobs: Sequence[Job], most: Sequence[int]) -> list[Draft]:
        """Propose what the pool has after the last token of each history."""
        return [self._draft(job.history[-1], count) for job, count in zip(jobs, most, strict=True)]

    def observe(self, job: Job, tokens: Sequence[int], states: Sequence[int]) -> None:
        """Pool what was written, and move the window on with the end of the text."""
        window = self._window(job)
        history = job.history
        for end in range(max(window.pooled, self.size - 1) + 1, len(history) + 1):
            self._pool.add(history[end - self.size : end])
        window.pooled = len(history)
        # By one place it moves as its columns do, in `see`; columns that are passed by go.
        for _ in range(min(len(tokens) - 1, len(window.columns))):
            window.columns.popleft()

    def branches(self, job: Job) -> tuple[list[int], list[int]]:
        """Return what is to be run beside the draft of a job: tokens, and the place of the parent.

        In the paper's attention the first tokens of all columns are a text that follows the end of
        the history, and a later token of a column sees this text up to the beginning of its own
        column, then its column. So each token sees a path from the end of the history down to
        itself, and all of them are a tree: the first tokens are a chain at its root (-1), and each
        column hangs from its first token. Places in the text are depths in the tree, too.

        Returns:
            at most W * (N - 1) tokens, column by column, so that a beginning of them is a tree as
            well; nothing without `branching`. A column begins with one token and grows by one
            each time, up to N - 1.
        """
        window = self._window(job)
        window.asked = []
        if not self.branching:
            return [], []
        while len(window.columns) < self.width:
            window.columns.append([self._random.choice(job.prompt)])
        tree, first = Draft(), -1
        for column in window.columns:
            first = tree.add(column[0], first)
            last = tree.add_chain(column[1:], first)
            window.asked.append((column, last))
        return tree.tokens, tree.parents

    def see(self, job: Job, best: Sequence[int]) -> None:
        """Take what the model would write after each of the tokens of `branches`.

        Each column gets what follows its last token. It then is a sequence for the pool if it has N
        tokens, and loses its first one.

        Args:
            best: the most likely token after each, whatever the grammar says. It may be shorter if
                only a beginning was run.
        """
        window = self._window(job)
        for column, last in window.asked:
            if last < len(best):
                column.append(best[last])
                if len(column) == self.size:
                    self._pool.add(column)
                    del column[0]
        window.asked = []

    def _window(self, job: Job) -> _Window:
        window: _Window | None = job.notes.get(self)
        if window is None:
            window = job.notes[self] = _Window(pooled=len(job.prompt))
        return window

    def _draft(self, last: int, most: int) -> Draft:
        """Lay sequences over each other as a tree, and go on at the end of the latest one."""
        tree = _Tree(most)
        tip, depth = -1, 0
        for rank, tail in enumerate(self._pool.tails(last)):
            end = tree.lay(tail, -1, 0, min(rank, 7))
            if rank == 0:
                tip, depth = end, len(tail)
            if tree.is_full:
                return tree.draft
        while tip >= 0 and not tree.is_full:
            tail = next(self._pool.tails(tree.draft.tokens[tip]), ())
            if not tail:
                break
            tip, depth = tree.lay(tail, tip, depth, 0), depth + len(tail)
        return tree.draft


class _Tree:
    """A draft in which no token has two equal ones after it."""

    def __init__(self, most: int) -> None:
        self.draft = Draft()
        self.most = most
        self._places: dict[tuple[int, int], int] = {}  # of each token, by its parent

    @property
    def is_full(self) -> bool:
        return len(self.draft) >= self.most

    def lay(self, tail: Sequence[int], parent: int, depth: int, rank: int) -> int:
        """Add tokens that follow each other, as far as there is room; return the last one's place.

        Args:
            tail: the tokens.
            parent: after which one.
            depth: tokens before the first one.
            rank: 0 to 7, for their class.
        """
        for token in tail:
            place = self._places.get((parent, token))
            if place is None:
                if self.is_full:
                    break
                place = self.draft.add(token, parent, 8 * rank + min(depth, 7))
                self._places[parent, token] = place
            parent, depth = place, depth + 1
        return parent
