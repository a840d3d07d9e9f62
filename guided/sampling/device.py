"""Tokens of all rows of a step at once, on a GPU: the launch of the kernel. It needs Triton."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import triton
from torch import Tensor

from guided.masks.launch import Launch
from guided.sampling.sample_kernel import sample
from guided.sampling.sampler import Sampler

BLOCK = 1024  # tokens that a program looks at at a time; more of them spill registers
WARPS = 8


@dataclass(frozen=True, slots=True)
class RowOptions:
    """The options of R rows, on a device.

    Attributes:
        levels: (3, R) float64: temperature (0: greedy), top-p (1: all), min-p (0: all).
        counts: (3, R) int64: top-k (0: all), seed (its 64 bits), counter.
    """

    levels: Tensor
    counts: Tensor


def sample_rows(
    logits: Tensor,
    samplers: Sequence[Sampler],
    masks: Tensor | None = None,
    numbers: Tensor | None = None,
    *,
    ahead: Sequence[int] | None = None,
) -> Tensor:
    """Choose a token of each row, as `choose` of its sampler would, by the same random numbers.

    The numbers are looked at and not taken: whoever uses a token that was drawn counts its stream
    up. So rows after a draft, which may come to nothing, can be drawn with the others.

    Args:
        logits: (R, V) float32, float16 or bfloat16 on a GPU, elements of a row side by side;
            nothing is changed.
        samplers: R, one a row, for which `is_simple` holds; there may be several rows of one.
        masks: (R, W) int32 on the device, or a pool of rows with `numbers`; None: all is allowed.
        numbers: (R,) int32 or int64 on the device, the row of `masks` for each row of logits; a
            negative number leaves a row without constraint.
        ahead: R, how many numbers of its stream each row leaves to rows before it; None: 0.

    Returns:
        (R,) int64 on the device, which need not have been waited for; -1 where nothing is allowed.
        NaN counts as impossible, without a warning.
    """
    assert all(sampler.is_simple for sampler in samplers)
    tokens = torch.empty(len(samplers), dtype=torch.int64, device=logits.device)
    rows = row_options(samplers, logits.device, ahead)
    with torch.cuda.device_of(logits):  # type: ignore[no-untyped-call]  # torch has no types here
        sample_launch(logits, rows, masks, numbers, tokens).run()
    return tokens


def row_options(
    samplers: Sequence[Sampler], device: torch.device, ahead: Sequence[int] | None = None
) -> RowOptions:
    """Gather the options of samplers, with a number of each stream: two copies."""
    later = [0] * len(samplers) if ahead is None else ahead
    options = [sampler.options for sampler in samplers]
    levels = torch.tensor(
        [
            [each.effective_temperature for each in options],
            [1.0 if each.top_p is None else each.top_p for each in options],
            [each.min_p or 0.0 for each in options],
        ],
        dtype=torch.float64,
    )  # (3, R)
    counts = torch.tensor(
        [
            [each.top_k or 0 for each in options],
            [signed(sampler.stream.seed) for sampler in samplers],
            [sampler.stream.counter + more for sampler, more in zip(samplers, later, strict=True)],
        ],
        dtype=torch.int64,
    )  # (3, R)
    if device.type == "cuda":
        levels, counts = levels.pin_memory(), counts.pin_memory()
    return RowOptions(levels.to(device, non_blocking=True), counts.to(device, non_blocking=True))


def signed(number: int) -> int:
    """Return 64 bits as the int64 that has them."""
    return number - (1 << 64) if number >> 63 else number


def sample_launch(
    logits: Tensor,
    rows: RowOptions,
    masks: Tensor | None,
    numbers: Tensor | None,
    tokens: Tensor,
    block: int = BLOCK,
) -> Launch:
    """Prepare the kernel; see `sample_rows`. `tokens` is (R,) int64, written."""
    if masks is not None and masks.shape[1] > 1 and masks.stride(1) != 1:
        masks = masks.contiguous()
    return Launch(
        sample,
        (logits.shape[0], 1, 1),
        {
            "logits": logits,
            "masks": masks,
            "numbers": numbers,
            "levels": rows.levels,
            "counts": rows.counts,
            "tokens": tokens,
            "width": logits.shape[1],
            "words": 0 if masks is None else masks.shape[1],
            "logits_row": logits.stride(0),
            "masks_row": 0 if masks is None else masks.stride(0),
        },
        {
            "MASKED": masks is not None,
            "NUMBERED": numbers is not None,
            "BLOCK": min(block, triton.next_power_of_2(logits.shape[1])),
        },
        warps=WARPS,
        stages=1,
    )
