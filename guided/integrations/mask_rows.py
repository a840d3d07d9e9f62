"""The masks of one step of a foreign loop: filled in threads, sent to the logits, applied."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from guided._core import fill_masks
from guided.errors import GuidedError
from guided.grammar import Matcher
from guided.masks import allocate_mask, apply_mask
from guided.masks.layout import WORD_BITS
from guided.vocabulary import Vocabulary


class Rest(Enum):
    """A row of the batch that no matcher speaks for."""

    FREE = "nothing is forbidden"
    OVER = "the output has ended"


Row = Matcher | Rest
Words = NDArray[np.int32]
FEW = 2  # rows that are filled before threads have begun: 1 us each against 10
NOTHING: Final = -torch.inf


class MaskRows:
    """Forbids in logits what the grammars of their rows forbid.

    Args:
        vocabulary: of all matchers.
        padding: what may be written, besides end tokens, by a row that is over.
    """

    def __init__(self, vocabulary: Vocabulary, padding: Collection[int] = ()) -> None:
        self.vocabulary = vocabulary
        self._over = np.zeros(vocabulary.words, np.int32)  # (W,)
        over = self._over.view(np.uint32)
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
        mask = self._fill(rows)  # (B, W)
        if (needed := -(-logits.shape[1] // WORD_BITS)) < mask.shape[1]:
            mask = mask[:, :needed]
        numbers = None
        if any(row is Rest.FREE for row in rows):
            chosen = [-1 if row is Rest.FREE else b for b, row in enumerate(rows)]
            numbers = torch.tensor(chosen, device=logits.device)  # (B,)
        # Tokens that come of these logits are looked at before the next mask is filled, so that the
        # copy has been made by then.
        sent = mask if logits.device.type == "cpu" else mask.to(logits.device, non_blocking=True)
        apply_mask(logits, sent, numbers=numbers)
        words: Words = mask.numpy()  # (B, W)
        for b, row in enumerate(rows):
            if row is Rest.OVER or (isinstance(row, Matcher) and row.is_complete):
                self._let_end(logits[b], words[b])
        if strict:
            refuse_empty(logits, words, rows)

    def _fill(self, rows: Sequence[Row]) -> Tensor:
        """Return the mask of the rows, (B, W) on the CPU; it is overwritten by the next call."""
        if len(self._mask) < len(rows):
            self._mask = allocate_mask(len(rows), self.vocabulary)
        mask = self._mask[: len(rows)]  # (B, W)
        live = [(b, row) for b, row in enumerate(rows) if isinstance(row, Matcher)]
        words = mask.numpy()  # its memory: the core reads numpy's arrays faster than torch's
        if len(rows) <= FEW:
            words[:] = self._over
            for b, row in live:
                row.fill_mask(words[b])
            return mask
        if len(live) == len(rows):
            fill_masks([row for _, row in live], words)
            return mask
        filled = np.empty((len(live), words.shape[1]), np.int32)  # (n, W)
        fill_masks([row for _, row in live], filled)
        words[:] = self._over
        words[[b for b, _ in live]] = filled
        return mask

    def _let_end(self, logits: Tensor, words: Words) -> None:
        """Give end tokens the logit 0 where nothing but them is allowed and they are forbidden.

        Args:
            logits: (V,)
            words: (W,)
        """
        if not (words & ~self._over[: len(words)]).any():
            bits = np.unpackbits(words.view(np.uint8), bitorder="little")  # (32 * W,)
            ends = torch.from_numpy(np.flatnonzero(bits[: len(logits)])).to(logits.device)
            left = logits[ends]
            logits[ends] = torch.where((left == NOTHING).all(), 0.0, left)


def refuse_empty(logits: Tensor, words: Words, rows: Sequence[Row]) -> None:
    """Raise if nothing is left of a row: look at one allowed token, then only at all of them."""
    first = first_allowed(words)
    values: Sequence[float]
    if logits.device.type == "cpu" and logits.dtype == torch.float32:
        host = logits.detach().numpy()
        values = [host[place] for place in enumerate(first)]
    else:
        values = logits[range(len(first)), first].tolist()
    for b, (value, row) in enumerate(zip(values, rows, strict=True)):
        if value == NOTHING and isinstance(row, Matcher) and logits[b].max() == NOTHING:
            row.check_spelling()
            raise GuidedError(
                "all tokens that the grammar allows have been forbidden by something else",
                place=f"in row {b}",
                mend="look at other logits processors, suppressed tokens and bad words",
            )


def first_allowed(words: Words) -> list[int]:
    """Return the lowest token that each row of a mask, (B, W), allows; 0 where it allows none."""
    columns = (words != 0).argmax(axis=1).tolist()
    found = []
    for b, column in enumerate(columns):
        word = int(words[b, column]) & 0xFFFFFFFF
        found.append(WORD_BITS * column + max((word & -word).bit_length() - 1, 0))
    return found
