"""One cache: block tables over a pool, and the pages of each layer; paged or contiguous.

A contiguous cache is a paged one whose page holds a whole sequence: the same tables, and reads that
are always one block of memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from guided.decoding.batch import Batch, SequenceRows
from guided.decoding.models.protocol import Piece, RunnerStats
from guided.decoding.pages.pool import PagePool
from guided.decoding.pages.storage import KVDtype, LayerPages
from guided.decoding.pages.tables import PageCopy, Tables


@dataclass(frozen=True, slots=True)
class CacheOptions:
    """What a user may choose about the cache.

    Attributes:
        kind: "paged", or "contiguous": one block a sequence, as long as the context.
        memory: bytes; None: a share of what is free.
        page_size: tokens a page; None: 64. For a contiguous cache the tokens of a block; None: the
            model's context.
        kv_dtype: "int8" or "fp8" (e4m3), with a scale per token and head; None: the model's dtype.
        window: every layer sees at most so many tokens, and what is older is given back; None: as
            the model was made.
        sinks: the first tokens, which are seen in spite of `window`. Source: Xiao et al.,
            "Efficient Streaming Language Models with Attention Sinks", ICLR 2024.
        slack: tokens kept behind the windows of a model all of whose layers have one, so that as
            many can be rolled back.
        reuse: whether the beginnings of prompts are shared with earlier sequences.

    Raises:
        ValueError: a number is out of range, or `sinks` is given without `window`.
    """

    kind: Literal["paged", "contiguous"] = "paged"
    memory: int | None = None
    page_size: int | None = None
    kv_dtype: KVDtype | None = None
    window: int | None = None
    sinks: int = 0
    slack: int = 128
    reuse: bool = True

    def __post_init__(self) -> None:
        if self.kind not in ("paged", "contiguous"):
            raise ValueError(f"a cache is 'paged' or 'contiguous', found {self.kind!r}")
        if self.kv_dtype not in (None, "int8", "fp8"):
            raise ValueError(f"kv_dtype is None, 'int8' or 'fp8', found {self.kv_dtype!r}")
        for name in ("memory", "page_size", "window"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise ValueError(f"{name} is at least 1, found {number}")
        if self.slack < 0:
            raise ValueError(f"slack is at least 0, found {self.slack}")
        if self.sinks < 0 or (self.sinks and self.window is None):
            raise ValueError("sinks are the first tokens kept in spite of a window: give window")


class PageCache:
    """Sequences, their pages, and what the pages hold in each layer.

    Args:
        pages: how many, the trash page not counted.
        size: tokens a page.
        window: the widest window of all layers; None where one sees all.
        sinks: the first tokens kept in spite of it.
        slack: tokens kept behind it.
        reuse: whether pages are found again by content.
    """

    def __init__(
        self,
        pages: int,
        size: int,
        *,
        window: int | None = None,
        sinks: int = 0,
        slack: int = 0,
        reuse: bool = True,
    ) -> None:
        self.pool = PagePool(pages, size)
        self.tables = Tables(self.pool, window=window, sinks=sinks, slack=slack, reuse=reuse)
        self.layers: list[LayerPages] = []
        self._hits = self._misses = 0

    def open(self, prompt: Sequence[int] = ()) -> tuple[int, int]:
        """Begin a sequence; return its handle and how many tokens of the prompt it holds."""
        sequence, found = self.tables.open(prompt)
        self._hits += found
        self._misses += len(prompt) - found
        return sequence, found

    def length(self, sequence: int) -> int:
        """Count the tokens of a sequence."""
        return len(self.tables[sequence].tokens)

    def needs(self, pieces: Sequence[Piece]) -> int:
        """Count the tokens of room that pieces take, in whole pages."""
        missing = (self.tables.missing(piece.sequence, len(piece.tokens)) for piece in pieces)
        return sum(missing) * self.pool.size

    def room(self) -> int:
        """Count the tokens that fit in pages that can be taken."""
        return self.pool.available * self.pool.size

    def append(self, pieces: Sequence[Piece]) -> Batch:
        """Make room for pieces, and say where their rows go and what they see.

        Raises:
            OutOfPages: there is no room; nothing has changed.
        """
        copies = self.tables.append([(piece.sequence, piece.tokens) for piece in pieces])
        self._copy(copies)
        rows = []
        for piece in pieces:
            table = self.tables[piece.sequence]
            table.parents = tuple(piece.parents) if piece.parents is not None else ()
            rows.append(SequenceRows(piece.tokens, len(table.tokens), table.pages, table.parents))
        return Batch(rows, self.pool.size)

    def written(self, pieces: Sequence[Piece]) -> None:
        """Note that the rows of pieces have been written in all layers."""
        for piece in pieces:
            self.tables.publish(piece.sequence)
            if piece.parents is None and piece.logits <= 1:  # nothing of it may be rolled back
                self.tables.evict(piece.sequence)

    def take_back(self, pieces: Sequence[Piece]) -> None:
        """Undo `append` after a forward that failed."""
        for piece in pieces:
            self.tables[piece.sequence].parents = ()
            self.tables.rollback(piece.sequence, len(piece.tokens))

    def keep(self, sequence: int, path: Sequence[int]) -> None:
        """Keep a path of the tree that a sequence ends in."""
        old, new = self.tables.keep(sequence, path)
        for layer in self.layers if old else ():
            device = layer.layout.device
            layer.move(torch.tensor(old, device=device), torch.tensor(new, device=device))
        self.tables.publish(sequence)
        self.tables.evict(sequence)

    def rollback(self, sequence: int, count: int) -> None:
        """Drop the last tokens of a sequence."""
        self.tables.rollback(sequence, count)

    def fork(self, sequence: int) -> int:
        """Begin a sequence on the same pages."""
        return self.tables.fork(sequence)

    def free(self, sequence: int) -> None:
        """Forget a sequence."""
        self.tables.free(sequence)

    def stats(self) -> RunnerStats:
        """Return counts of pages, bytes, hits."""
        pool = self.pool
        token_bytes = sum(layer.layout.token_bytes for layer in self.layers)
        return RunnerStats(
            pages=pool.pages,
            free=pool.free,
            cached=pool.cached,
            shared=pool.shared,
            page_size=pool.size,
            bytes=token_bytes * pool.size * (pool.pages + 1),
            hits=self._hits,
            misses=self._misses,
        )

    def _copy(self, copies: Sequence[PageCopy]) -> None:
        for layer in self.layers if copies else ():
            layer.copy(copies)
