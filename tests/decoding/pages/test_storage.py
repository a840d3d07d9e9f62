"""What is written to pages is read back: as it was, or rounded to int8 or e4m3."""

from __future__ import annotations

from typing import Literal

import pytest
import torch
from torch import Tensor

from guided.decoding.pages import LayerLayout, LayerPages, PageCopy
from guided.decoding.pages.storage import dequantize, hadamard, quantize

CPU = torch.device("cpu")


def layer(
    dtype: torch.dtype = torch.float32, kv_dtype: Literal["int8", "fp8"] | None = None
) -> LayerPages:
    return LayerPages(LayerLayout(2, 8, 6, dtype, CPU, kv_dtype), pages=5, size=4)


def numbers(rows: int, dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor]:
    torch.manual_seed(rows)
    return torch.randn(rows, 2, 8).to(dtype), torch.randn(rows, 2, 6).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_what_is_written_is_read_back_scattered_and_in_a_row(dtype: torch.dtype) -> None:
    pages = layer(dtype)
    keys, values = numbers(5, dtype)
    slots = torch.tensor([6, 13, 7, 19, 4])
    pages.write(slots, keys, values)
    for found, wanted in zip(pages.gather(slots), (keys, values), strict=True):
        assert torch.equal(found, wanted)
    pages.write(torch.arange(8, 13), keys, values, first=8)
    for found, wanted in zip(pages.read(8, 5), (keys, values), strict=True):
        assert torch.equal(found, wanted)
    whole = pages.gather_pages(torch.tensor([2, 1]))[0]
    assert torch.equal(whole[:4], keys[:4])


def test_reading_a_row_of_slots_copies_nothing() -> None:
    pages = layer()
    keys, _ = pages.read(4, 8)
    assert keys.data_ptr() == pages.keys[1].data_ptr()


@pytest.mark.parametrize(("kv_dtype", "error"), [("int8", 1 / 254), ("fp8", 1 / 16)])
def test_quantized_numbers_are_off_by_half_a_step_at_most(
    kv_dtype: Literal["int8", "fp8"], error: float
) -> None:
    pages = layer(torch.float32, kv_dtype)
    keys, values = numbers(7)
    keys[3] *= 1e-6  # a scale for each token and head
    keys[4, 1] *= 1e6
    keys[5, 0] = 0
    slots = torch.arange(4, 11)
    pages.write(slots, keys, values)
    kept_keys, kept_values = pages.gather(slots)
    rotated = (keys, kept_keys), (pages.rotate(keys), kept_keys), (values, kept_values)
    assert float((rotated[0][0] - rotated[0][1]).abs().max()) > 0.5  # keys are kept rotated
    for wanted, found in rotated[1:]:
        largest = wanted.abs().amax(-1, keepdim=True)
        # int8: half a step of the scale. e4m3: three bits of mantissa, relative to the number.
        bound = largest * error if kv_dtype == "int8" else wanted.abs() * error + largest * 2e-5
        assert bool(((found - wanted).abs() <= bound * 1.001).all())


def test_the_largest_number_of_e4m3_is_not_nan() -> None:
    stored, scales = quantize(torch.tensor([[1000.0, -1000.0, 3.0]]), "fp8")
    found = dequantize(stored, scales, torch.float32)
    torch.testing.assert_close(found, torch.tensor([[1000.0, -1000.0, 3.0]]), rtol=0.07, atol=0)


@pytest.mark.parametrize("kv_dtype", [None, "int8"])
def test_the_beginning_of_a_page_is_copied_and_slots_are_moved(
    kv_dtype: Literal["int8"] | None,
) -> None:
    pages = layer(kv_dtype=kv_dtype)
    keys, values = numbers(4)
    pages.write(torch.arange(4, 8), keys, values, first=4)
    pages.copy([PageCopy(1, 3, 2)])
    assert torch.equal(pages.read(12, 2)[0], pages.read(4, 2)[0])
    assert not pages.read(14, 2)[0].any()
    before = pages.read(4, 4)[1].clone()
    pages.move(torch.tensor([5, 6, 7]), torch.tensor([4, 5, 6]))  # they overlap
    assert torch.equal(pages.read(4, 3)[1], before[1:])


@pytest.mark.parametrize("size", [1, 8, 64, 80, 96, 7])
def test_a_rotation_keeps_products_and_is_its_own_inverse(size: int) -> None:
    matrix = hadamard(size).double()
    torch.testing.assert_close(matrix @ matrix, torch.eye(size).double(), atol=1e-6, rtol=0)
    assert torch.equal(matrix, matrix.T)


def test_a_dimension_that_is_far_larger_leaves_the_others_their_accuracy() -> None:
    torch.manual_seed(0)
    pages = LayerPages(LayerLayout(2, 64, 6, torch.float32, CPU, "int8"), pages=5, size=4)
    keys, values = torch.randn(8, 2, 64), torch.randn(8, 2, 6)
    keys[:, :, 3] *= 100
    pages.write(torch.arange(8), keys, values, first=0)
    error = (pages.rotate(pages.read(0, 8)[0]) - keys).abs().mean()
    plain = (dequantize(*quantize(keys, "int8"), torch.float32) - keys).abs().mean()
    assert error < plain / 3


def test_bytes_a_token() -> None:
    layout = LayerLayout(3, 64, 64, torch.bfloat16, CPU)
    assert layout.token_bytes == 768
    assert LayerLayout(3, 64, 64, torch.bfloat16, CPU, "int8").token_bytes == 384 + 24
