"""The masks of drafts that are being written."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from guided._core import fill_masks
from guided.decoding.drafts.assistant_line import Line
from guided.decoding.masking import ALL, FEW
from guided.errors import GuidedError
from guided.grammar import Matcher
from guided.masks import allocate_mask
from guided.masks.allowed import allowed_tokens
from guided.masks.layout import WORD_BITS
from guided.vocabulary import Vocabulary


class LineMasks:
    """Fills the masks at the ends of drafts.

    Args:
        vocabulary: of the grammars.
        width: of the assistant's logits; what it has no logit for is forbidden to it.
    """

    def __init__(self, vocabulary: Vocabulary, width: int) -> None:
        self._vocabulary = vocabulary
        self._width = width
        self._words = min(vocabulary.words, -(-width // WORD_BITS))
        self._rows = allocate_mask(1, vocabulary)

    def fill(self, lines: Sequence[Line]) -> tuple[list[Line], Tensor | None]:
        """Fill a mask for each line, and close those whose text can only end.

        Returns:
            the lines that stay open, R of them, and their masks, (R, W) int32 on the CPU, which
            hold until the next call; None if all of them are free.
        """
        if all(line.matcher is None for line in lines):
            return list(lines), None
        masks = self._allocate(len(lines)).fill_(ALL)
        places = [place for place, line in enumerate(lines) if line.matcher is not None]
        matchers = [line.matcher for line in lines if line.matcher is not None]
        filled = torch.empty((len(places), masks.shape[1]), dtype=masks.dtype)
        try:
            fill_masks(matchers, filled)
            masks[places] = filled
        except Exception:  # one of them; which one is seen by filling them one by one
            fill_each(lines, masks)
        for line, mask in zip(lines, masks, strict=True):
            line.check_end(mask, self._vocabulary)
        masks = self._narrow(masks)
        some = masks.any(dim=1).tolist()
        kept = [place for place, line in enumerate(lines) if line.is_open and some[place]]
        for place, line in enumerate(lines):
            line.is_open = place in kept
        return [lines[place] for place in kept], masks[kept] if len(kept) < len(lines) else masks

    def allowed(self, lines: Sequence[Line], masks: Tensor | None) -> list[Tensor | None]:
        """Return for each line the tokens that its mask allows if they are few, else None."""
        if masks is None:
            return [None] * len(lines)
        most = int(self._width * FEW)
        return [
            None if line.matcher is None else allowed_tokens(mask, most)
            for line, mask in zip(lines, masks, strict=True)
        ]

    def _allocate(self, rows: int) -> Tensor:
        """Return so many rows, (rows, W); those of the call before are gone then."""
        if len(self._rows) < rows:  # memory that a GPU can read is dear to ask for
            self._rows = allocate_mask(2 * rows, self._vocabulary)
        return self._rows[:rows]

    def _narrow(self, masks: Tensor) -> Tensor:
        """Forbid what lies beyond the assistant's logits, (R, W) to (R, its own W)."""
        beyond = self._words * WORD_BITS - self._width
        if self._words < masks.shape[1]:
            masks = masks[:, : self._words].contiguous()
        if beyond > 0:
            masks[:, -1] &= (1 << (WORD_BITS - beyond)) - 1
        return masks


def fill_each(lines: Sequence[Line], masks: Tensor) -> None:
    """Fill row by row, and close the lines for which that fails: their jobs will fail alike."""
    for line, mask in zip(lines, masks, strict=True):
        matcher: Matcher | None = line.matcher
        try:
            if matcher is not None:
                matcher.fill_mask(mask)
        except GuidedError:
            line.is_open = False
