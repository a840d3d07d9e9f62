"""The tensors behind the pages of one layer: in the model's dtype, int8 or fp8.

Keys have a few dimensions that are far larger than the others, and a scale for all of them leaves
little of the small ones. So quantized keys are rotated first by a Hadamard matrix, which spreads
the large ones over all; queries are rotated likewise, and products stay what they were. Source:
Ashkboos et al., "QuaRot: Outlier-Free 4-Bit Inference in Rotated LLMs", NeurIPS 2024. Seen with
SmolLM2 and int8: a quarter of the divergence from the model's own distribution.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from guided.decoding.pages.tables import PageCopy

KVDtype: TypeAlias = Literal["int8", "fp8"]

# The largest number of each, to which the largest of a token and head is scaled.
_LARGEST = {"int8": 127.0, "fp8": 448.0}
_TINY = 1e-30  # all numbers of a token and head may be zero


@dataclass(frozen=True, slots=True)
class LayerLayout:
    """What a token takes in one layer.

    Attributes:
        heads: key and value heads.
        key_size, value_size: numbers a head.
        dtype: of the model.
        device: where the layer runs.
        kv_dtype: how they are kept; None: as they are.
    """

    heads: int
    key_size: int
    value_size: int
    dtype: torch.dtype
    device: torch.device
    kv_dtype: KVDtype | None = None

    @property
    def token_bytes(self) -> int:
        """Bytes a token, the scales included."""
        numbers = self.heads * (self.key_size + self.value_size)
        if self.kv_dtype is None:
            return numbers * self.dtype.itemsize
        return numbers + 2 * self.heads * torch.float32.itemsize


class LayerPages:
    """Keys and values of one layer.

    Attributes:
        layout: heads, sizes, dtypes, device.
        keys: (P, S, H, D); the model's dtype, int8, or uint8 with the bits of e4m3.
        values: (P, S, H, Dv), likewise.
        key_scales, value_scales: (P, S, H) float32, by which stored numbers are multiplied; None
            where they are kept as they are.
        rotation: (D, D) float32, symmetric, its own inverse, by which keys are multiplied before
            they are quantized; None where they are kept as they are.

    Args:
        pages: P, the trash page included.
        size: S, tokens a page.
    """

    def __init__(self, layout: LayerLayout, pages: int, size: int) -> None:
        self.layout = layout
        stored = {None: layout.dtype, "int8": torch.int8, "fp8": torch.uint8}[layout.kv_dtype]
        shape = (pages, size, layout.heads)
        self.keys = zeros((*shape, layout.key_size), stored, layout.device)
        self.values = zeros((*shape, layout.value_size), stored, layout.device)
        self.key_scales: Tensor | None = None
        self.value_scales: Tensor | None = None
        self.rotation: Tensor | None = None
        if layout.kv_dtype is not None:
            self.rotation = hadamard(layout.key_size).to(layout.device)
            self.key_scales = zeros(shape, torch.float32, layout.device)
            self.value_scales = zeros(shape, torch.float32, layout.device)
        self._tensors = [
            tensor
            for tensor in (self.keys, self.values, self.key_scales, self.value_scales)
            if tensor is not None
        ]
        # The same memory, by slot: page * S + place in the page.
        self._slots = [tensor.flatten(0, 1) for tensor in self._tensors]  # (P * S, H, ...)

    def write(self, slots: Tensor, keys: Tensor, values: Tensor, first: int | None = None) -> None:
        """Write the keys and values of new rows.

        Args:
            slots: (T,) int64.
            keys, values: (T, H, D) and (T, H, Dv).
            first: the first slot where they are consecutive.
        """
        new = [keys, values]
        if self.layout.kv_dtype is not None:
            stored_keys, key_scales = quantize(self.rotate(keys.float()), self.layout.kv_dtype)
            stored_values, value_scales = quantize(values, self.layout.kv_dtype)
            new = [stored_keys, stored_values, key_scales, value_scales]
        for target, source in zip(self._slots, new, strict=True):
            if first is not None:
                target[first : first + len(source)].copy_(source)
            else:
                target.index_copy_(0, slots, source)

    def rotate(self, vectors: Tensor) -> Tensor:
        """Turn keys or queries (..., D) as the keys here are turned; twice, and they are back."""
        if self.rotation is None:
            return vectors
        return (vectors.float() @ self.rotation).to(vectors.dtype)

    def read(self, first: int, count: int) -> tuple[Tensor, Tensor]:
        """Return keys and values of consecutive slots, (L, H, D) and (L, H, Dv).

        They are views of the cache, without a copy, unless they must be dequantized; the keys are
        rotated then.
        """
        return self._dequantize([tensor[first : first + count] for tensor in self._slots])

    def view(self, first: int, count: int) -> tuple[Tensor, Tensor]:
        """Return what `read` does by heads, (1, H, L, D) and (1, H, L, Dv)."""
        if self.layout.kv_dtype is not None:
            keys, values = self.read(first, count)
            return by_heads(keys), by_heads(values)
        views = []
        for tensor in (self.keys, self.values):  # a call each, as there are many a step
            _, _, heads, size = tensor.shape
            stride = heads * size
            views.append(
                tensor.as_strided((1, heads, count, size), (0, size, stride, 1), first * stride)
            )
        return views[0], views[1]

    def gather(self, slots: Tensor) -> tuple[Tensor, Tensor]:
        """Return copies of the keys and values of slots (L,) int64."""
        return self._dequantize([tensor.index_select(0, slots) for tensor in self._slots])

    def gather_pages(self, pages: Tensor) -> tuple[Tensor, Tensor]:
        """Return copies of whole pages (N,) int64 as (N * S, H, D) and (N * S, H, Dv)."""
        gathered = [tensor.index_select(0, pages).flatten(0, 1) for tensor in self._tensors]
        return self._dequantize(gathered)

    def _dequantize(self, tensors: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        if self.layout.kv_dtype is None:
            return tensors[0], tensors[1]
        keys, values, key_scales, value_scales = tensors
        dtype = self.layout.dtype
        return dequantize(keys, key_scales, dtype), dequantize(values, value_scales, dtype)

    def copy(self, copies: Sequence[PageCopy]) -> None:
        """Copy the beginnings of pages to others."""
        for copy in copies:
            for tensor in self._tensors:
                tensor[copy.target, : copy.count].copy_(tensor[copy.source, : copy.count])

    def move(self, sources: Tensor, targets: Tensor) -> None:
        """Move what some slots hold to others; both (N,) int64, and they may overlap."""
        for tensor in self._slots:
            tensor.index_copy_(0, targets, tensor.index_select(0, sources))


def by_heads(numbers: Tensor) -> Tensor:
    """Turn (L, H, D) to (1, H, L, D), without a copy."""
    return numbers.transpose(0, 1).unsqueeze(0)


def hadamard(size: int) -> Tensor:
    """Return an orthogonal matrix (size, size) float32 that is symmetric.

    It is a Hadamard matrix, scaled, for each block of the largest power of two in `size`.
    """
    matrix = torch.ones(1, 1)
    while size % (2 * len(matrix)) == 0:
        matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)])
    count = size // len(matrix)
    return torch.kron(torch.eye(count), matrix / math.sqrt(len(matrix)))


def quantize(numbers: Tensor, kv_dtype: KVDtype) -> tuple[Tensor, Tensor]:
    """Scale the last dimension to the range of int8 or e4m3, and round.

    Returns:
        numbers as int8, or as uint8 with the bits of e4m3, in the same shape; and the scales,
        float32, without the last dimension.
    """
    numbers = numbers.float()
    scales = numbers.abs().amax(-1) / _LARGEST[kv_dtype]
    scaled = numbers / scales.clamp_min(_TINY).unsqueeze(-1)
    if kv_dtype == "int8":
        return scaled.round_().to(torch.int8), scales
    return scaled.to(torch.float8_e4m3fn).view(torch.uint8), scales


def dequantize(stored: Tensor, scales: Tensor, dtype: torch.dtype) -> Tensor:
    """Undo `quantize` but for the rounding."""
    if stored.dtype == torch.uint8:
        stored = stored.view(torch.float8_e4m3fn)
    return stored.float().mul_(scales.unsqueeze(-1)).to(dtype)


def zeros(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Allocate zeros; on a CPU memory is taken when it is first written.

    Pages must hold finite numbers from the start: a row that is masked has the weight 0, and 0
    times what was in memory by chance may be NaN.
    """
    if device.type != "cpu":
        return torch.zeros(shape, dtype=dtype, device=device)
    memory = mmap.mmap(-1, max(1, math.prod(shape) * dtype.itemsize))
    # In small pieces: a sequence writes a little in each layer, and clearing 2 MB for each of them
    # took 3 ms a layer (seen on a virtual machine).
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        with suppress(OSError):  # a kernel without huge pages
            memory.madvise(mmap.MADV_NOHUGEPAGE)
    return torch.frombuffer(memory, dtype=dtype, count=math.prod(shape)).view(shape)
