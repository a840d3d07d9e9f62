"""A mask applied to logits, in place: what it forbids becomes minus infinity."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

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


def apply_mask(
    logits: Tensor, mask: Tensor, *, numbers: Tensor | None = None, threads: int = 0
) -> None:
    """Set the logits of forbidden tokens to minus infinity, in place.

    This loop defines it:

        for b in range(B):
            r = b if numbers is None else numbers[b]
            for v in range(V):
                if r >= 0 and (v >= 32 * W or not (mask[r, v // 32] >> (v % 32)) & 1):
                    logits[b, v] = -inf

    Allowed logits are left as they are and forbidden ones are not read, so a NaN at a forbidden
    place goes away. Logits may be wider than the mask: what lies beyond is forbidden.

    Args:
        logits: (B, V), or (V,) for one sequence; float32, float16, bfloat16 or float64. Rows may
            be strided.
        mask: (B, W), or (W,), int32 on the device of the logits, W at most ceil(V / 32).
        numbers: (B,) int32 or int64 on the device of the logits, with `mask` a pool of rows (R, W):
            which of them each row of logits takes, below R; a negative number leaves a row without
            constraint. `RowMirror` gives both.
        threads: at most so many threads on the CPU; 0 for as many as torch uses.

    Raises:
        ShapeError: shape, dtype or device are something else.

    Cost: native code for 16 and 32 bits on the CPU, about a plain fill of the logits; one Triton
    kernel on a GPU, where Triton is installed; torch operations elsewhere.
    """
    if numbers is None:
        check_shapes(logits, mask)
    else:
        check_numbers(logits, mask, numbers)
    rows = logits if logits.dim() == 2 else logits.unsqueeze(0)  # (B, V), the same memory
    words = mask if mask.dim() == 2 else mask.unsqueeze(0)  # (B, W)
    if rows.numel() == 0:
        return
    if suits_triton(rows):
        from guided.masks.mask_kernel import forbid_on_device

        forbid_on_device(rows, words, numbers)
        return
    for part, of_part in [(rows, words)] if numbers is None else pick(rows, words, numbers):
        if is_native(part):
            apply_native(part, of_part, threads or torch.get_num_threads())
        else:
            apply_by_torch(part, of_part)


def pick(rows: Tensor, words: Tensor, numbers: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Return each constrained row of logits, (1, V), with its row of the mask, (1, W)."""
    taken = enumerate(numbers.tolist())
    return [(rows[b : b + 1], words[r : r + 1]) for b, r in taken if r >= 0]


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


def suits_triton(rows: Tensor) -> bool:
    """Whether the Triton kernel may write these rows: on a GPU, and not under autograd."""
    return (
        rows.is_cuda
        and (rows.shape[1] == 1 or rows.stride(1) == 1)
        and not rows.requires_grad
        and has_triton()
    )


@cache
def has_triton() -> bool:
    """Whether Triton is installed."""
    return find_spec("triton") is not None


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
    check_logits(logits)
    rows, (width, most) = logits.shape[:-1], (logits.shape[-1], -(-logits.shape[-1] // WORD_BITS))
    fits = mask.dim() == logits.dim() and mask.shape[:-1] == rows and mask.shape[-1] <= most
    if not fits or mask.dtype != torch.int32 or mask.device != logits.device:
        batch = f"{rows[0]}, " if rows else ""
        raise ShapeError(
            f"the mask does not belong to logits of width {width}",
            wanted=f"({batch}W) int32 on {logits.device} with W at most {most}",
            found=describe(mask),
        )


def check_numbers(logits: Tensor, pool: Tensor, numbers: Tensor) -> None:
    """Raise ShapeError unless the pool of rows and their numbers belong to these logits."""
    check_logits(logits)
    width, most = logits.shape[-1], -(-logits.shape[-1] // WORD_BITS)
    fits = logits.dim() == 2 and pool.dim() == 2 and pool.shape[1] <= most
    if not fits or pool.dtype != torch.int32 or pool.device != logits.device:
        raise ShapeError(
            f"the pool of mask rows does not belong to logits {tuple(logits.shape)}",
            wanted=f"(R, W) int32 on {logits.device} with W at most {most}, for (B, {width})",
            found=describe(pool),
        )
    whole = numbers.dtype in (torch.int32, torch.int64) and numbers.device == logits.device
    if numbers.shape != logits.shape[:1] or not whole:
        raise ShapeError(
            "the numbers of mask rows do not belong to these logits",
            wanted=f"({logits.shape[0]}) int32 or int64 on {logits.device}",
            found=describe(numbers),
        )


def check_logits(logits: Tensor) -> None:
    """Raise ShapeError unless these are logits."""
    if logits.dtype not in DTYPES or logits.dim() not in (1, 2):
        raise ShapeError(
            "these logits cannot be masked",
            wanted="(B, V) or (V,) of float32, float16, bfloat16 or float64",
            found=describe(logits),
        )


def describe(tensor: Tensor) -> str:
    """Name shape, dtype and device as errors do."""
    return f"{tuple(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')} on {tensor.device}"
