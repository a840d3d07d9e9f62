"""A runner that is slow and surely right: a sequence is a list of tokens, run whole each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel

from guided.decoding import Model
from guided.decoding.models import Allowed, Logits, OutOfPages, Piece, RunnerStats


class SimpleRunner:
    """Keeps token lists and counts make-believe pages; the stock forward gives all logits.

    Args:
        model: a causal language model of transformers.
        pages: how many pages there are; None: no end of them.
        page_size: tokens a page.
        picks_columns: whether only the columns of the head that are allowed are returned.
        trees: whether it takes trees of drafts.

    Attributes:
        steps: what each forward was given: sequence, tokens, logits.
        most: the most pages that were taken at a time.
        hook: called with the pieces before each forward; may raise.
    """

    drafts = True
    dtype = torch.float32
    device = torch.device("cpu")

    def __init__(
        self,
        model: Model,
        *,
        pages: int | None = None,
        page_size: int = 16,
        picks_columns: bool = True,
        trees: bool = True,
    ) -> None:
        self.network = network_of(model)
        self.width = int(self.network.config.vocab_size)
        self.context: int | None = 256
        self.pages, self.page_size = pages, page_size
        self.picks_columns, self.trees = picks_columns, trees
        self.sequences: dict[int, list[int]] = {}
        self.steps: list[list[Piece]] = []
        self.most = 0
        self.hook: Callable[[Sequence[Piece]], None] = lambda pieces: None
        self._opened = 0
        self._trees: dict[int, Piece] = {}  # by sequence, where the last piece was a tree

    def open(self, prompt: Sequence[int] = ()) -> tuple[int, int]:
        self._opened += 1
        self.sequences[self._opened] = []
        return self._opened, 0

    def length(self, sequence: int) -> int:
        return len(self.sequences[sequence])

    def run(self, pieces: Sequence[Piece], allowed: Allowed | None = None) -> Logits:
        assert len({piece.sequence for piece in pieces}) == len(pieces)
        assert all(piece.tokens for piece in pieces)
        self.hook(pieces)
        if (needed := self.needs(pieces)) > (room := self.room()):
            raise OutOfPages(needed, room)
        self.steps.append(list(pieces))
        rows: list[Tensor] = []
        for piece in pieces:
            tokens = self.sequences[piece.sequence]
            if piece.parents is not None:
                assert self.trees
                self._trees[piece.sequence] = piece
                paths = [self._path(piece, place) for place in range(len(piece.tokens))]
                rows.extend(self._whole(tokens + path)[-1] for path in paths[-piece.logits :])
                tokens.extend(piece.tokens)
                continue
            tokens.extend(piece.tokens)
            if piece.logits:
                rows.extend(self._whole(tokens)[-piece.logits :])
        self.most = max(self.most, self._taken())
        chosen = allowed() if allowed is not None else [None] * len(rows)
        assert len(chosen) == len(rows)
        values = torch.stack(rows) if rows else torch.empty((0, self.width))  # (R, V)
        named = [tokens for tokens in chosen if tokens is not None]
        if not self.picks_columns or not rows or len(named) < len(rows):
            return Logits(values)
        columns = torch.unique(torch.cat(named))  # ascending
        return Logits(values[:, columns], columns)

    def keep(self, sequence: int, path: Sequence[int]) -> None:
        piece = self._trees.pop(sequence)
        assert piece.parents is not None
        assert [piece.parents[place] for place in path] == [-1, *path][: len(path)]
        self.rollback(sequence, len(piece.tokens))
        self.sequences[sequence] += [piece.tokens[place] for place in path]

    def rollback(self, sequence: int, count: int) -> None:
        assert sequence not in self._trees
        tokens = self.sequences[sequence]
        del tokens[len(tokens) - count :]

    def fork(self, sequence: int) -> int:
        self._opened += 1
        self.sequences[self._opened] = list(self.sequences[sequence])
        return self._opened

    def free(self, sequence: int) -> None:
        del self.sequences[sequence]

    def room(self) -> int:
        if self.pages is None:
            return 1 << 40
        return (self.pages - self._taken()) * self.page_size

    def needs(self, pieces: Sequence[Piece]) -> int:
        count = 0
        for piece in pieces:
            held = len(self.sequences[piece.sequence])
            count += self._pages(held + len(piece.tokens)) - self._pages(held)
        return count * self.page_size

    def reset(self) -> None:
        self.sequences.clear()

    def stats(self) -> RunnerStats:
        if self.pages is None:
            return RunnerStats()
        free = self.pages - self._taken()
        return RunnerStats(pages=self.pages, free=free, page_size=self.page_size)

    def _taken(self) -> int:
        return sum(self._pages(len(tokens)) for tokens in self.sequences.values())

    def _pages(self, tokens: int) -> int:
        return -(-tokens // self.page_size)

    def _path(self, piece: Piece, place: int) -> list[int]:
        """The tokens of a tree from its root to a place."""
        path: list[int] = []
        assert piece.parents is not None
        while place >= 0:
            path.append(piece.tokens[place])
            place = piece.parents[place]
        return path[::-1]

    def _whole(self, tokens: list[int]) -> Tensor:
        """All logits of a text, by one forward without a cache, (T, V)."""
        with torch.no_grad():
            logits: Tensor = self.network(input_ids=torch.tensor([tokens]), use_cache=False).logits
        return logits[0]


def network_of(model: Model) -> PreTrainedModel:
    """The network of a model, which is one of transformers."""
    assert isinstance(model.network, PreTrainedModel)
    return model.network
