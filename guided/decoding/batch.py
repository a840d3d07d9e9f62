"""A packed batch: rows of several sequences in one forward, without padding.

Its tensors are built once a step and serve all layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from guided.errors import ShapeError


@dataclass(frozen=True, slots=True)
class SequenceRows:
    """The rows of one sequence.

    Attributes:
        tokens: the new ones, at least one.
        length: of the sequence, these included.
        pages: its block table; 0 where a page was given back.
        parents: of each new token, for a tree; empty for a chain.
    """

    tokens: Sequence[int]
    length: int
    pages: Sequence[int]
    parents: Sequence[int] = ()

    @property
    def cached(self) -> int:
        """How many tokens were there before."""
        return self.length - len(self.tokens)

    def positions(self) -> list[int]:
        """Return the position of each row: in a tree that of its depth, not of its place."""
        if not self.parents:
            return list(range(self.cached, self.length))
        positions: list[int] = []
        for parent in self.parents:
            positions.append(self.cached if parent < 0 else positions[parent] + 1)
        return positions

    def sees(self) -> list[list[int]]:
        """Return for each row the new rows that it sees, itself included."""
        if not self.parents:
            return [list(range(row + 1)) for row in range(len(self.tokens))]
        seen: list[list[int]] = []
        for row, parent in enumerate(self.parents):
            seen.append([*(seen[parent] if parent >= 0 else []), row])
        return seen


class Batch:
    """Rows of B sequences, T in all.

    A row at position i sees the rows of its own sequence at positions up to i; with a window, those
    at positions above i - window, and the sinks. In a tree it sees what was cached and its own
    ancestors. A position is the place in the cache too, but in a tree, where it is the depth.

    Attributes:
        rows: of each sequence.
        page_size: S.
        device: of the tensors.
        memo: what attention works out once a step, for its layers to share.

    Tensors, built when first asked for (int32 unless said):
        tokens: (T,) int64.
        positions: (T,) int64.
        starts: (B + 1,), the first row of each sequence, and T.
        lengths: (B,), tokens of each sequence, new rows included.
        tables: (B, N), its pages; what is behind the last is the trash page 0.
        slots: (T,) int64, page * S + place in the page, where each row is written.
        visible: None, or (T, M) bool where a sequence is a tree: which of the new rows of its
            sequence each row sees; M is the most new rows of a sequence.
    """

    def __init__(
        self, rows: Sequence[SequenceRows], page_size: int, device: torch.device | None = None
    ) -> None:
        self.rows = list(rows)
        self.page_size = page_size
        self.device = device or torch.device("cpu")
        self.memo: dict[object, Any] = {}
        self._elsewhere: dict[torch.device, Batch] = {self.device: self}

    def to(self, device: torch.device) -> Batch:
        """Return the same batch with its tensors on another device."""
        found = self._elsewhere.get(device)
        if found is None:
            found = Batch(self.rows, self.page_size, device)
            found._elsewhere = self._elsewhere
            self._elsewhere[device] = found
        return found

    @cached_property
    def row_starts(self) -> list[int]:
        """`starts` as a list."""
        starts = [0]
        for rows in self.rows:
            starts.append(starts[-1] + len(rows.tokens))
        return starts

    @property
    def size(self) -> int:
        """T, rows in all."""
        return self.row_starts[-1]

    @cached_property
    def most_rows(self) -> int:
        """M, the most new rows of a sequence."""
        return max(len(rows.tokens) for rows in self.rows)

    @cached_property
    def longest(self) -> int:
        """The most tokens of a sequence, new rows included."""
        return max(rows.length for rows in self.rows)

    @cached_property
    def tokens(self) -> Tensor:
        """(T,) int64."""
        return self._long([token for rows in self.rows for token in rows.tokens])

    @cached_property
    def positions(self) -> Tensor:
        """(T,) int64."""
        return self._long([position for rows in self.rows for position in rows.positions()])

    @cached_property
    def starts(self) -> Tensor:
        """(B + 1,) int32."""
        return torch.tensor(self.row_starts, dtype=torch.int32, device=self.device)

    @cached_property
    def lengths(self) -> Tensor:
        """(B,) int32."""
        lengths = [rows.length for rows in self.rows]
        return torch.tensor(lengths, dtype=torch.int32, device=self.device)

    @cached_property
    def tables(self) -> Tensor:
        """(B, N) int32."""
        most = max(len(rows.pages) for rows in self.rows)
        padded = [[*rows.pages, *[0] * (most - len(rows.pages))] for rows in self.rows]
        return torch.tensor(padded, dtype=torch.int32, device=self.device)

    @cached_property
    def slot_list(self) -> list[int]:
        """`slots` as a list."""
        size = self.page_size
        return [
            rows.pages[index // size] * size + index % size
            for rows in self.rows
            for index in range(rows.cached, rows.length)
        ]

    @cached_property
    def slots(self) -> Tensor:
        """(T,) int64."""
        return self._long(self.slot_list)

    @cached_property
    def first_slot(self) -> int | None:
        """The first of `slots` where they are consecutive, else None."""
        slots = self.slot_list
        consecutive = slots[-1] - slots[0] == len(slots) - 1 and all(
            later - earlier == 1 for earlier, later in pairwise(slots)
        )
        return slots[0] if consecutive else None

    @cached_property
    def visible(self) -> Tensor | None:
        """(T, M) bool, or None where no sequence is a tree."""
        if not any(rows.parents for rows in self.rows):
            return None
        visible = torch.zeros(self.size, self.most_rows, dtype=torch.bool)
        for start, rows in zip(self.row_starts, self.rows, strict=False):
            for row, seen in enumerate(rows.sees()):
                visible[start + row, seen] = True
        return visible.to(self.device)

    def _long(self, numbers: list[int]) -> Tensor:
        return torch.tensor(numbers, dtype=torch.int64, device=self.device)


def unpad(input_ids: Tensor, attention_mask: Tensor | None = None) -> list[list[int]]:
    """Take the tokens out of a padded batch, whichever side is padded.

    Args:
        input_ids: (B, T) integers.
        attention_mask: (B, T), 0 or False where a place is padding; None: nowhere.

    Raises:
        ShapeError: they are not of this shape, or a row has no token.
    """
    if input_ids.ndim != 2:
        raise ShapeError(
            "input_ids are rows of tokens", wanted="(B, T)", found=str(tuple(input_ids.shape))
        )
    if attention_mask is None:
        return [[int(token) for token in row] for row in input_ids.tolist()]
    if attention_mask.shape != input_ids.shape:
        raise ShapeError(
            "attention_mask has one place for each token",
            wanted=str(tuple(input_ids.shape)),
            found=str(tuple(attention_mask.shape)),
        )
    kept = attention_mask.bool()
    rows = [row[mask].tolist() for row, mask in zip(input_ids, kept, strict=True)]
    for number, tokens in enumerate(rows):
        if not tokens:
            raise ShapeError(
                f"row {number} of attention_mask", wanted="a token at least", found="only padding"
            )
    return rows
