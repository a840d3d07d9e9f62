"""What the step loop asks of a model: rows of sequences in, logits out; fork, roll back, free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import torch
from torch import Tensor

from guided.errors import GuidedError

# For each row of logits the ids that may be chosen, ascending, int64; None: all of them.
Allowed: TypeAlias = Callable[[], Sequence[Tensor | None]]


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of one sequence in one forward.

    Attributes:
        sequence: the handle that `open` or `fork` gave.
        tokens: what is appended, at least one.
        logits: after how many of the last rows logits are wanted; 0 for a chunk of a prompt that
            goes on.
        parents: for a tree of drafts, the index within `tokens` of the token before each token,
            smaller than its own; -1 is the end of the sequence. None: a chain.
    """

    sequence: int
    tokens: Sequence[int]
    logits: int = 1
    parents: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class Logits:
    """What a forward says of the rows asked for, in the order of the pieces.

    Attributes:
        values: (R, V), or (R, n) where only some columns were computed.
        tokens: (n,) int64, ascending, the ids of these columns; None: all V.
    """

    values: Tensor
    tokens: Tensor | None = None


@dataclass(frozen=True, slots=True)
class RunnerStats:
    """The state of a runner's cache.

    Attributes:
        pages: pages in all; 0 where the cache has none.
        free: pages that hold nothing that a sequence or a later prompt could use.
        cached: pages that no sequence uses and that a later prompt with the same beginning may.
        shared: pages that two sequences or more use.
        page_size: tokens a page.
        bytes: memory of the cache.
        hits: tokens of prompts that were found cached, since the last reset.
        misses: tokens of prompts that were not.
    """

    pages: int = 0
    free: int = 0
    cached: int = 0
    shared: int = 0
    page_size: int = 0
    bytes: int = 0
    hits: int = 0
    misses: int = 0


class OutOfPages(GuidedError):
    """The cache cannot hold the rows of a step; nothing has changed.

    The step loop makes room and tries again, so a user of `generate` never sees it.

    Attributes:
        needed, room: both in tokens, whole pages counted.
    """

    def __init__(self, needed: int, room: int) -> None:
        self.needed = needed
        self.room = room
        super().__init__(
            f"the cache has room for {room} tokens, and {needed} are needed",
            mend="free a sequence, or give the cache more memory",
        )


class Runner(Protocol):
    """A model with its cache. Not thread-safe: one thread drives it."""

    @property
    def width(self) -> int:
        """V, the width of the logits."""
        ...

    @property
    def context(self) -> int | None:
        """The most positions of a sequence; None if the model does not say."""
        ...

    @property
    def device(self) -> torch.device:
        """Of the logits."""
        ...

    @property
    def dtype(self) -> torch.dtype:
        """Of the logits."""
        ...

    @property
    def trees(self) -> bool:
        """Whether pieces may carry parents."""
        ...

    @property
    def drafts(self) -> bool:
        """Whether a rollback costs next to nothing, so that guesses can be tried."""
        ...

    def open(self, prompt: Sequence[int] = ()) -> tuple[int, int]:
        """Begin a sequence; return its handle and how many tokens of `prompt` it holds already.

        These come from an earlier sequence with the same beginning, and are at most
        len(prompt) - 1: the last token must be run for its logits. The caller runs the others.
        """
        ...

    def length(self, sequence: int) -> int:
        """Count the tokens that a sequence holds."""
        ...

    def run(self, pieces: Sequence[Piece], allowed: Allowed | None = None) -> Logits:
        """Append each piece to its sequence, and return the logits asked for.

        Args:
            pieces: of different sequences.
            allowed: called once by a runner that can leave out columns of the head, when the body
                of the model has run and before its head; gives one entry for each row of logits.
                Where the ids of all rows together are few, only these columns are computed.

        Raises:
            OutOfPages: the cache has no room for them; nothing has changed.
        """
        ...

    def keep(self, sequence: int, path: Sequence[int]) -> None:
        """After a piece that was a tree: keep these of its tokens, a path from the root down.

        Args:
            path: indices into the tokens of the piece, each the parent of the next; may be empty.
        """
        ...

    def rollback(self, sequence: int, count: int) -> None:
        """Drop the last `count` tokens of a sequence. Cost: none, but for pages given back."""
        ...

    def fork(self, sequence: int) -> int:
        """Begin a sequence that holds the same tokens; pages are shared until one is written."""
        ...

    def free(self, sequence: int) -> None:
        """Forget a sequence."""
        ...

    def room(self) -> int:
        """Count the tokens that fit now, in pages that are free or may be taken."""
        ...

    def needs(self, pieces: Sequence[Piece]) -> int:
        """Count the tokens of `room` that `run` would take for these pieces, in whole pages."""
        ...

    def reset(self) -> None:
        """Forget all sequences and all that is cached."""
        ...

    def stats(self) -> RunnerStats:
        """Return the state of the cache."""
        ...
