"""The bit layout of a mask: (B, W) int32, W = ceil(V / 32), bit j of word w is token 32 w + j.

int32 and not uint32, as torch has few operations for the latter; only the bits count.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from guided.errors import ShapeError

WORD_BITS = 32


class SizedVocabulary(Protocol):
    """Anything that knows the width of the logits."""

    @property
    def size(self) -> int:
        """V, the width of the logits."""
        ...


def allocate_mask(batch: int, vocabulary: SizedVocabulary | int) -> Tensor:
    """Make a mask for `batch` sequences that allows nothing yet.

    Args:
        batch: B.
        vocabulary: the vocabulary, or V, the width of the logits.

    Returns:
        (B, W) int32 zeros on the CPU, contiguous; pinned memory if there is a CUDA device, so that
        a copy to it need not wait.
    """
    size = vocabulary if isinstance(vocabulary, int) else vocabulary.size
    if batch < 0 or size < 1:
        raise ValueError(f"a mask needs batch >= 0 and a width >= 1, found {batch} and {size}")
    words = -(-size // WORD_BITS)
    return torch.zeros((batch, words), dtype=torch.int32, pin_memory=torch.cuda.is_available())


def unpack_bits(mask: Tensor) -> Tensor:
    """Turn words into booleans: (..., W) int32 -> (..., 32 * W) bool, on the mask's device.

    The last word may run past the vocabulary: cut the result at V.

    Raises:
        ShapeError: `mask` is not int32, or has no dimension.
    """
    if mask.dtype != torch.int32 or mask.dim() == 0:
        raise ShapeError(
            "a mask cannot be unpacked",
            wanted="(..., W) int32",
            found=f"{tuple(mask.shape)} {str(mask.dtype).removeprefix('torch.')}",
        )
    shifts = torch.arange(WORD_BITS, dtype=torch.int32, device=mask.device)  # (32,)
    bits = (mask.unsqueeze(-1) >> shifts) & 1  # (..., W, 32); the sign fills, bit 0 is right
    return bits.bool().flatten(-2)  # (..., 32 * W)
