"""A mask applied to logits, in place: what it forbids becomes minus infinity."""

from __future__ import annotations

import torch
from torch import Tensor

from guided import _core
from guided.errors import ShapeError
from guided.masks.layout import WORD_BITS, unpack_bits

NATIVE_DTYPES = {
    torch.float32: "float32",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
}
DTYPES = (*NATIVE_DTYPES, torch.float64)


def apply_mask(logits: Tensor, mask: Tensor, *, threads: int = 0) -> None:
    """Set the logits of forbidden tokens to minus infinity, in place.

    This loop defines it:

        for b in range(B):
            for v in range(V):
                if v >= 32 * W or not (mask[b, v // 32] >> (v % 32)) & 1:
                    logits[b, v] = -inf

    Allowed logits are left as they are and forbidden ones are not read, so a NaN at a forbidden
    place goes away. Logits may be wider than the mask: what lies beyond is forbidden.

    Args:
        logits: (B, V), or (V,) for one sequence; float32, float16, bfloat16 or float64. Rows may
            be strided.
        mask: (B, W), or (W,), int32 on the device of the logits, W at most ceil(V / 32).
        threads: at most so many threads on the CPU; 0 for as many as torch uses.

    Raises:
        ShapeError: shape, dtype or device are something else.

    Cost: native code for 16 and 32 bits on the CPU, about a plain fill of the logits; torch
    operations elsewhere.
    """
    check_shapes(logits, mask)
    rows = logits if logits.dim() == 2 else logits.unsqueeze(0)  # (B, V), the same memory
    words = mask if mask.dim() == 2 else mask.unsqueeze(0)  # (B, W)
    if rows.numel() == 0:
        return
    if is_native(rows):
        apply_native(rows, words, threads or torch.get_num_threads())
    else:
        apply_by_torch(rows, words)


def is_native(rows: Tensor) -> bool:
    """Whether the native kernel may write these rows: on the CPU, apart from each other.

    Where a gradient is wanted autograd has to see the write, so torch does it.
    """
    return (
        rows.device.type == "cpu"
        and rows.dtype in NATIVE_DTYPES
        and (rows.shape[1] == 1 or rows.stride(1) == 1)
        and (rows.shape[0] == 1 or rows.stride(0) >= rows.shape[1])
        and not rows.requires_grad
    )


def apply_native(rows: Tensor, words: Tensor, threads: int) -> None:
    """Run the kernel of the core over raw memory; rows (B, V), words (B, W)."""
    if words.stride(1) != 1 and words.shape[1] > 1:
        words = words.contiguous()
    _core.apply_mask_cpu(
        rows.data_ptr(),
        NATIVE_DTYPES[rows.dtype],
        rows.shape[0],
        rows.shape[1],
        rows.stride(0),
        words.data_ptr(),
        words.shape[1],
        words.stride(0),
        threads,
    )


def apply_by_torch(rows: Tensor, words: Tensor) -> None:
    """Do the same by torch operations, on any device; rows (B, V), words (B, W)."""
    width = min(rows.shape[1], WORD_BITS * words.shape[1])
    bits = unpack_bits(words)[:, :width]  # (B, 32 * W) -> (B, width)
    rows[:, :width].masked_fill_(~bits, -torch.inf)  # in place
    rows[:, width:].fill_(-torch.inf)  # in place


def check_shapes(logits: Tensor, mask: Tensor) -> None:
    """Raise ShapeError unless the mask belongs to these logits."""
    if logits.dtype not in DTYPES or logits.dim() not in (1, 2):
        raise ShapeError(
            "these logits cannot be masked",
            wanted="(B, V) or (V,) of float32, float16, bfloat16 or float64",
            found=describe(logits),
        )
    rows, (width, most) = logits.shape[:-1], (logits.shape[-1], -(-logits.shape[-1] // WORD_BITS))
    fits = mask.dim() == logits.dim() and mask.shape[:-1] == rows and mask.shape[-1] <= most
    if not fits or mask.dtype != torch.int32 or mask.device != logits.device:
        batch = f"{rows[0]}, " if rows else ""
        raise ShapeError(
            f"the mask does not belong to logits of width {width}",
            wanted=f"({batch}W) int32 on {logits.device} with W at most {most}",
            found=describe(mask),
        )


def describe(tensor: Tensor) -> str:
    """Name shape, dtype and device as errors do."""
    return f"{tuple(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')} on {tensor.device}"
