"""The Triton kernel for masks, on a GPU where there is one, else in Triton's interpreter."""

from __future__ import annotations

import random

import pytest
import torch

pytest.importorskip("triton", reason="Triton is not installed (extra gpu)")

from triton.runtime import JITFunction

from guided.masks import mask_kernel
from guided.masks.mask_kernel import forbid_on_device
from tests.masks.test_apply_mask import DTYPES, defined, random_mask, same

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

# Triton's interpreter does this for each scalar of a kernel.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Conversion of an array with ndim:DeprecationWarning"),
    pytest.mark.skipif(
        isinstance(mask_kernel.forbid, JITFunction) and DEVICE == "cpu",
        reason="no GPU, and Triton was imported without TRITON_INTERPRET=1",
    ),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_kernel_does_what_the_definition_says(dtype: torch.dtype) -> None:
    generator = random.Random(1)
    for width in [1, 31, 64, 200, 2049, 4100]:
        for words in {1, (width + 31) // 32}:
            logits = torch.randn(2, width).to(dtype)
            logits[torch.rand(2, width) < 0.1] = torch.nan
            mask = random_mask(2, words, generator)
            wanted = defined(logits, mask)
            found = logits.to(DEVICE)
            forbid_on_device(found, mask.to(DEVICE), None)
            assert same(found.cpu(), wanted), (width, words)


def test_rows_may_be_strided_and_nothing_between_them_is_touched() -> None:
    memory = torch.randn(4, 2, 80, device=DEVICE)
    before = memory.clone()
    logits = memory[:, 0, :70]
    mask = random_mask(4, 6, random.Random(2)).to(DEVICE)[:, ::2]
    wanted = defined(logits.cpu(), mask.cpu())
    forbid_on_device(logits, mask, None)
    assert torch.equal(logits.cpu(), wanted)
    assert torch.equal(memory[:, 1], before[:, 1])
    assert torch.equal(memory[:, 0, 70:], before[:, 0, 70:])


@pytest.mark.parametrize("kind", [torch.int32, torch.int64])
def test_rows_come_from_a_pool_by_their_number(kind: torch.dtype) -> None:
    pool = random_mask(5, 3, random.Random(3))
    numbers = torch.tensor([4, -1, 0, 4], dtype=kind)
    logits = torch.randn(4, 90)
    wanted = defined(logits, pool[numbers.clamp_min(0)])
    wanted[1] = logits[1]
    found = logits.to(DEVICE)
    forbid_on_device(found, pool.to(DEVICE), numbers.to(DEVICE))
    assert torch.equal(found.cpu(), wanted)
