"""The bit layout of masks, and masks applied to logits."""

from guided.masks.apply import apply_mask
from guided.masks.layout import allocate_mask, unpack_bits
from guided.masks.mirror import RowMirror

__all__ = ["RowMirror", "allocate_mask", "apply_mask", "unpack_bits"]
