"""Mask rows that stay on a device, so that a step sends their numbers and not their bits.

States recur, and so do their rows: of real schemas a few in a hundred rows are new. The core
numbers rows by content and gives no number twice, so a row that is here is the row wanted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from guided._core import fill_masks
from guided.errors import LimitError
from guided.masks.layout import SizedVocabulary, allocate_mask

if TYPE_CHECKING:
    from guided.grammar import Matcher

FREE = -1  # the number of a sequence without constraint


class RowMirror:
    """The mask rows of one vocabulary that were used last, on a device.

        numbers = mirror.numbers(matchers)
        guided.apply_mask(logits, mirror.rows, numbers=numbers)

    Not to be used by two threads at once, nor with matchers of another vocabulary.

    Attributes:
        rows: (R, W) int32 on the device.
        hits, misses: rows that were there, and rows that had to be sent.
    """

    def __init__(
        self,
        vocabulary: SizedVocabulary | int,
        device: torch.device | str,
        *,
        rows: int = 4096,
    ) -> None:
        """Make room for some rows.

        Args:
            vocabulary: of all the matchers; or V, the width of the logits.
            device: where the logits are.
            rows: R, at least as many as there are sequences in a step. One takes V / 8 bytes:
                4096 of 128,000 tokens take 66 MB.
        """
        if rows < 1:
            raise ValueError(f"a mirror has at least one row, found {rows}")
        self.size = vocabulary if isinstance(vocabulary, int) else vocabulary.size
        self.rows = torch.zeros((rows, -(-self.size // 32)), dtype=torch.int32, device=device)
        self.hits = self.misses = 0
        self._places: OrderedDict[int, int] = (
            OrderedDict()
        )  # number of the core -> row; oldest first

    def numbers(self, matchers: Sequence[Matcher | None]) -> Tensor:
        """Return which row holds the mask of each matcher, sending those that are not here yet.

        A row used longest ago makes room. Copies are ordered with the kernels of the current stream
        and the host does not wait for them.

        Args:
            matchers: of B sequences; None where nothing is forbidden.

        Returns:
            (B,) int32 on the device, -1 for None.

        Raises:
            LimitError: they need more rows at once than there are.
        """
        ids = [None if matcher is None else matcher.row_id() for matcher in matchers]
        wanted = {number: matcher for number, matcher in zip(ids, matchers, strict=True)}
        wanted.pop(None, None)
        if len(wanted) > len(self.rows):
            raise LimitError(
                f"a step needs {len(wanted)} different mask rows on the device",
                limit="rows of a mirror",
                value=len(self.rows),
                option="rows",
            )
        missing: list[tuple[int, Matcher]] = []
        for number, matcher in wanted.items():
            assert number is not None
            assert matcher is not None
            if number in self._places:
                self._places.move_to_end(number)
            else:
                missing.append((number, matcher))
        self.hits += len(wanted) - len(missing)
        self.misses += len(missing)
        if missing:
            self._send(missing)
        numbers = [FREE if number is None else self._places[number] for number in ids]
        return self._there(torch.tensor(numbers, dtype=torch.int32))

    def _send(self, missing: Sequence[tuple[int, Matcher]]) -> None:
        """Fill the rows of matchers and copy them to free places, or to those used longest ago."""
        bits = allocate_mask(len(missing), self.size)  # (n, W)
        fill_masks([matcher for _, matcher in missing], bits)
        places = []
        for number, _ in missing:
            full = len(self._places) == len(self.rows)
            place = self._places.popitem(last=False)[1] if full else len(self._places)
            self._places[number] = place
            places.append(place)
        self.rows.index_copy_(0, self._there(torch.tensor(places)), self._there(bits))

    def _there(self, tensor: Tensor) -> Tensor:
        if self.rows.is_cuda and not tensor.is_pinned():
            tensor = tensor.pin_memory()
        return tensor.to(self.rows.device, non_blocking=True)
