"""A model that is a function from a text to logits, so that everything about it can be counted."""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from torch import Tensor

from guided.decoding.models import Allowed, Logits, Piece, RunnerStats
from guided.vocabulary import Vocabulary

LETTERS = "abc"


def letters(count: int = 3) -> Vocabulary:
    """A token for each of the first letters, for each pair of the first two, and the end."""
    tokens: list[bytes | None] = [letter.encode() for letter in "abcdefg"[:count]]
    tokens += [b"ab", b"ba", None]
    return Vocabulary.from_tokens(tokens, eos=[len(tokens) - 1])


class TableRunner:
    """Logits that are a function of the last `reach` tokens.

    Args:
        width: V.
        seed: other seeds, other functions.
        reach: how far back it looks.
        scale: of the logits; the larger, the surer it is.
    """

    trees = drafts = True
    dtype = torch.float32
    device = torch.device("cpu")
    context: int | None = None

    def __init__(self, width: int, seed: int = 0, reach: int = 3, scale: float = 1.0) -> None:
        self.width, self.seed, self.reach, self.scale = width, seed, reach, scale
        self.sequences: dict[int, list[int]] = {}
        self.forwards = 0
        self._trees: dict[int, Piece] = {}
        self._opened = 0
        self._known: dict[tuple[int, ...], Tensor] = {}

    def logits(self, tokens: Sequence[int]) -> Tensor:
        """What comes after these tokens, (V,)."""
        key = tuple(tokens[-self.reach :])
        if key not in self._known:
            chance = random.Random(f"{self.seed} {key}")
            values = [self.scale * chance.gauss(0.0, 1.0) for _ in range(self.width)]
            self._known[key] = torch.tensor(values)
        return self._known[key]

    def open(self, prompt: Sequence[int] = ()) -> tuple[int, int]:
        self._opened += 1
        self.sequences[self._opened] = []
        return self._opened, 0

    def length(self, sequence: int) -> int:
        return len(self.sequences[sequence])

    def run(self, pieces: Sequence[Piece], allowed: Allowed | None = None) -> Logits:
        self.forwards += 1
        rows: list[Tensor] = []
        for piece in pieces:
            tokens = self.sequences[piece.sequence]
            parents = list(piece.parents or range(-1, len(piece.tokens) - 1))
            texts: list[list[int]] = []
            for token, parent in zip(piece.tokens, parents, strict=True):
                texts.append([*(texts[parent] if parent >= 0 else tokens), token])
            rows += [self.logits(text) for text in texts[len(texts) - piece.logits :]]
            tokens.extend(piece.tokens)
            if piece.parents is not None:
                self._trees[piece.sequence] = piece
        values = torch.stack(rows) if rows else torch.empty((0, self.width))  # (R, V)
        return Logits(values)

    def keep(self, sequence: int, path: Sequence[int]) -> None:
        piece = self._trees.pop(sequence)
        self.rollback(sequence, len(piece.tokens))
        self.sequences[sequence] += [piece.tokens[place] for place in path]

    def rollback(self, sequence: int, count: int) -> None:
        tokens = self.sequences[sequence]
        del tokens[len(tokens) - count :]

    def fork(self, sequence: int) -> int:
        raise NotImplementedError

    def free(self, sequence: int) -> None:
        del self.sequences[sequence]
        self._trees.pop(sequence, None)

    def room(self) -> int:
        return 1 << 40

    def needs(self, pieces: Sequence[Piece]) -> int:
        return sum(len(piece.tokens) for piece in pieces)

    def reset(self) -> None:
        self.sequences.clear()

    def stats(self) -> RunnerStats:
        return RunnerStats()
