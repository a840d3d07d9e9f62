"""The Triton kernel that applies masks on a GPU; see `apply_mask`. It needs Triton."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from guided.masks.launch import Launch

WORDS = 64  # of one program: 2048 tokens


@triton.jit(do_not_specialize=["width", "words"])
def forbid(
    logits,  # (B, V), rows logits_row apart
    masks,  # (R, W) int32, rows masks_row apart
    numbers,  # (B,) int32, the row of `masks` for each row of logits, or a negative number
    width,  # V
    words,  # W
    logits_row,
    masks_row,
    NUMBERED: tl.constexpr,
    WORDS: tl.constexpr,
):
    """Write minus infinity where the bit of a token is 0; grid (B, blocks of V).

    Logits are not read, and what is allowed is not written. The last of the words a program takes
    may lie beyond the mask: what is there is forbidden.
    """
    row = tl.program_id(0).to(tl.int64)
    number = row
    if NUMBERED:
        number = tl.load(numbers + row).to(tl.int64)
        if number < 0:
            return
    w = tl.program_id(1) * WORDS + tl.arange(0, WORDS)
    bit = tl.arange(0, 32)
    word = tl.load(masks + number * masks_row + w, mask=w < words, other=0)
    allowed = (word[:, None] >> bit[None, :]) & 1  # (WORDS, 32); the sign fills, bit 0 is right
    token = w[:, None] * 32 + bit[None, :]
    target = logits + row * logits_row + token
    lowest = tl.full((WORDS, 32), -float("inf"), tl.float32).to(logits.dtype.element_ty)
    tl.store(target, lowest, mask=(allowed == 0) & (token < width))


def mask_launch(logits: Tensor, masks: Tensor, numbers: Tensor | None) -> Launch:
    """Prepare the kernel; see `forbid_on_device`."""
    batch, width = logits.shape
    return Launch(
        forbid,
        (batch, triton.cdiv(width, 32 * WORDS), 1),
        {
            "logits": logits,
            "masks": masks,
            "numbers": numbers,
            "width": width,
            "words": masks.shape[1],
            "logits_row": logits.stride(0),
            "masks_row": masks.stride(0),
        },
        {"NUMBERED": numbers is not None, "WORDS": WORDS},
        warps=4,
        stages=1,
    )


def forbid_on_device(logits: Tensor, masks: Tensor, numbers: Tensor | None) -> None:
    """Launch the kernel, in place, on the device of the logits and its current stream.

    Args:
        logits: (B, V) float32, float16, bfloat16 or float64, elements of a row side by side.
        masks: (B, W) int32, or (R, W) with `numbers`; words of a row side by side.
        numbers: (B,) int32 or int64, the row of `masks` for each row of logits; a negative number
            leaves a row of logits as it is.
    """
    if masks.shape[1] > 1 and masks.stride(1) != 1:
        masks = masks.contiguous()
    with torch.cuda.device_of(logits):  # type: ignore[no-untyped-call]  # torch has no types here
        mask_launch(logits, masks, numbers).run()
