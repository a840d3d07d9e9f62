"""The masks of one step of a foreign loop: filled in threads, sent to the logits, applied."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum
from typing import Final

import numpy as np
import torch
from torch import Tensor

from guided._core import fill_masks
from guided.errors import GuidedError
from guided.grammar import Matcher
from guided.masks import allocate_mask, apply_mask
from guided.vocabulary import Vocabulary


class Rest(Enum):
    """A row of the batch that no matcher speaks for."""

    FREE = "nothing is forbidden"
    OVER = "the output has ended"


Row = Matcher | Rest
NOTHING: Final = -torch.inf


class MaskRows:
    """Forbids in logits what the grammars of their rows forbid.

    Args:
        vocabulary: of all matchers.
        padding: what may be written, besides end tokens, by a row that is over.
    """

    def __init__(self, vocabulary: Vocabulary, padding: Collection[int] = ()) -> None:
        self.vocabulary = vocabulary
        self._over = allocate_mask(1, vocabulary)[0]  # (W,)
        over = self._over.numpy().view(np.uint32)
        for token in {*vocabulary.eos, *padding}:
            if 0 <= token < vocabulary.size:
                over[token // 32] |= np.uint32(1 << token % 32)
        self._mask = allocate_mask(0, vocabulary)

    def apply(self, logits: Tensor, rows: Sequence[Row], *, strict: bool = False) -> None:
        """Set what is forbidden to minus infinity, in place.

        Where the grammar lets a text end and do nothing else, it ends, whatever forbade that
        before, such as a number of tokens that are to be written first.

        Args:
            logits: (B, V) on any device. It may be narrower than the vocabulary, as that of a
                draft model with less padding is.
            rows: B matchers, or what holds without one.
            strict: look for rows where nothing is left. On a GPU this waits for the logits.

        Raises:
            GuidedError: `strict`, and all tokens that a grammar allows were forbidden before.
            VocabularyError: `strict`, and the vocabulary cannot spell what must come next.
        """
        mask = self._fill(rows)[:, : -(-logits.shape[1] // 32)]  # (B, W)
        numbers = None
        if Rest.FREE in rows:
            chosen = [-1 if row is Rest.FREE else b for b, row in enumerate(rows)]
            numbers = torch.tensor(chosen, device=logits.device)  # (B,)
        sent = mask.to(logits.device, non_blocking=True)
        apply_mask(logits, sent, numbers=numbers)
        self._let_end(logits, mask, rows)
        if strict:
            refuse_empty(logits, mask, rows)

    def _fill(self, rows: Sequence[Row]) -> Tensor:
        """Return the mask of the rows, (B, W) on the CPU; it is overwritten by the next call."""
        if len(self._mask) < len(rows):
            self._mask = allocate_mask(len(rows), self.vocabulary)
        mask = self._mask[: len(rows)]  # (B, W)
        live = [(b, row) for b, row in enumerate(rows) if isinstance(row, Matcher)]
        if len(live) == len(rows):
            fill_masks([row for _, row in live], mask)
            return mask
        filled = allocate_mask(len(live), self.vocabulary)  # (n, W)
        fill_masks([row for _, row in live], filled)
        mask[:] = self._over
        for place, (b, _) in enumerate(live):
            mask[b] = filled[place]
        return mask

    def _let_end(self, logits: Tensor, mask: Tensor, rows: Sequence[Row]) -> None:
        """Give end tokens the logit 0 where nothing but them is allowed and they are forbidden."""
        words = mask.numpy()  # (B, W)
        only_ends = ~(words & ~self._over[: words.shape[1]].numpy()).any(axis=1)  # (B,)
        for b in np.flatnonzero(only_ends).tolist():
            if rows[b] is not Rest.FREE:
                bits = np.unpackbits(words[b].view(np.uint8), bitorder="little")  # (32 * W,)
                found = np.flatnonzero(bits[: logits.shape[1]])
                ends = torch.from_numpy(found).to(logits.device)
                left = logits[b, ends]
                logits[b, ends] = torch.where((left == NOTHING).all(), 0.0, left)


def refuse_empty(logits: Tensor, mask: Tensor, rows: Sequence[Row]) -> None:
    """Raise if nothing is left of a row: look at one allowed token, then only at all of them."""
    first = first_allowed(mask).to(logits.device)  # (B,)
    values = logits.gather(1, first.unsqueeze(1)).squeeze(1)  # (B,)
    for b, (value, row) in enumerate(zip(values.tolist(), rows, strict=True)):
        if value == NOTHING and isinstance(row, Matcher) and logits[b].max() == NOTHING:
            row.check_spelling()
            raise GuidedError(
                "all tokens that the grammar allows have been forbidden by something else",
                place=f"in row {b}",
                mend="look at other logits processors, suppressed tokens and bad words",
            )


def first_allowed(mask: Tensor) -> Tensor:
    """Return the lowest token that each row of a mask allows, 0 where it allows none.

    Args:
        mask: (B, W) int32 on the CPU.

    Returns:
        (B,) int64 on the CPU.
    """
    words = mask.numpy()
    columns = (words != 0).argmax(axis=1)  # (B,)
    chosen = words[np.arange(len(words)), columns]
    bits = [max((word & -word).bit_length() - 1, 0) for word in chosen.view(np.uint32).tolist()]
    return torch.tensor([32 * column + bit for column, bit in zip(columns, bits, strict=True)])
