"""The tokens that a mask allows, if they are few."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from guided.masks.layout import WORD_BITS


def allowed_tokens(mask: Tensor, most: int) -> Tensor | None:
    """Return the ids that a mask allows, or None if they are more than `most`.

    Args:
        mask: (W,) int32 on the CPU, contiguous.
        most: from where on it is not worth to name them.

    Returns:
        (n,) int64, ascending, n at most `most`.

    Cost: a look at each word, and 32 at each word that is not zero.
    """
    words = mask.numpy().view(np.uint32)
    places = np.flatnonzero(words)
    if len(places) > most:
        return None
    octets = words[places].astype("<u4").view(np.uint8)
    bits = np.unpackbits(octets, bitorder="little").reshape(-1, WORD_BITS)  # (words, 32)
    rows, columns = np.nonzero(bits)
    if len(rows) > most:
        return None
    return torch.from_numpy(WORD_BITS * places[rows] + columns)
