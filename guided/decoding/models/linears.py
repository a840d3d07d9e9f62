"""Linear layers on the CPU, where torch's own are slow: few rows, and half precision.

- A few rows, as in a decode step or a draft that is checked: the time goes into reading the
  weights, and libraries of matrices read them twice. The core reads them once (`multiply_rows`).
  Its sums do not hang on the number of rows.
- Half precision on CPUs below AVX-512: torch multiplies bfloat16 matrices of a few rows and more by
  a loop that is up to ten times slower than float32. There the weights are widened to float32 block
  by block, in a buffer that stays in the processor's cache, and multiplied there. Seen with weights
  of 1536 x 576, one thread: 128 rows 77 ms by torch and 12 ms so. The products are added in
  float32, and rounded once, as the instructions would.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor, nn

from guided import _core
from guided.decoding.models.openmp import share_threads

# Up to so many rows the core is quicker than torch; where the processor multiplies tiles of
# bfloat16 (AMX), torch is good for more of them.
FEW_SINGLE, FEW_HALF, FEW_BESIDE_TILES = 32, 20, 10
_LEAST_WIDENED = 4  # torch's own way with vectors is good, and below this no worse
_BLOCK = 1024  # rows of a matrix that are widened at a time
_HALF = (torch.bfloat16, torch.float16)

Forward = Callable[[Tensor], Tensor]


def needs_widening() -> bool:
    """Whether this processor multiplies half precision matrices by widening only."""
    is_x86 = platform.machine().lower() in ("x86_64", "amd64")
    return is_x86 and "AVX512" not in torch.backends.cpu.get_cpu_capability()


@cache
def most_rows(dtype: torch.dtype) -> int:
    """Return up to how many rows the core is quicker than torch, for weights of this dtype."""
    if dtype == torch.float32:
        return FEW_SINGLE
    if dtype == torch.bfloat16:
        has_tiles = getattr(torch.cpu, "_is_amx_tile_supported", bool)  # private, so it may go
        return FEW_BESIDE_TILES if has_tiles() else FEW_HALF
    return 0


class Linears:
    """The linear layers of a network, each run as suits the rows that come to it.

    Args:
        network: whose plain `nn.Linear` layers on the CPU are taken.
    """

    def __init__(self, network: nn.Module) -> None:
        layers = [
            module
            for module in network.modules()
            if type(module) is nn.Linear
            and type(module.weight) is nn.Parameter
            and module.weight.dtype in (torch.float32, *_HALF)
            and module.weight.device.type == "cpu"
            and "forward" not in module.__dict__  # such as a layer whose weights come from a disk
        ]
        self._multiplies = bool(layers) and _core.can_multiply_rows() and share_threads()
        self._widens = needs_widening()
        self._buffer = torch.empty(0)
        self._forwards = [
            (layer.__dict__, self._forward_of(layer))
            for layer in layers
            if self._multiplies or (self._widens and layer.weight.dtype in _HALF)
        ]

    @contextmanager
    def step(self) -> Iterator[None]:
        """Replace their forwards for the time of a forward of the network."""
        for attributes, forward in self._forwards:
            attributes["forward"] = forward
        try:
            yield
        finally:
            for attributes, _ in self._forwards:
                del attributes["forward"]

    def multiply(self, hidden: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Multiply (..., in) by a weight (out, in), plus a bias (out,), as suits the rows."""
        rows = hidden.numel() // weight.shape[1]
        if hidden.dtype == weight.dtype and hidden.is_cpu and weight.is_contiguous():
            if self._multiplies and 0 < rows <= most_rows(weight.dtype):
                return few_rows_linear(hidden, weight, bias)
            if self._widens and weight.dtype in _HALF and rows >= _LEAST_WIDENED:
                return wide_linear(hidden, weight, bias, self._room(weight.shape[1]))
        return nn.functional.linear(hidden, weight, bias)

    def _forward_of(self, layer: nn.Linear) -> Forward:
        return lambda hidden: self.multiply(hidden, layer.weight, layer.bias)

    def _room(self, size_in: int) -> Tensor:
        """Return room for a block of a weight in float32."""
        if self._buffer.numel() < _BLOCK * size_in:
            self._buffer = torch.empty(_BLOCK * size_in)
        return self._buffer


def few_rows_linear(hidden: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Multiply as torch's `linear` does, in float32, and round to the dtype of `hidden`.

    Args:
        hidden: (..., in), of few rows.
        weight: (out, in), contiguous.
        bias: (out,), contiguous, or None. All on the CPU, all float32 or all bfloat16.

    Returns:
        (..., out).
    """
    size_out, size_in = weight.shape
    rows = hidden.contiguous()
    out = torch.empty((*hidden.shape[:-1], size_out), dtype=hidden.dtype)
    _core.multiply_rows(
        rows.data_ptr(),
        rows.numel() // size_in,
        size_in,
        weight.data_ptr(),
        size_out,
        0 if bias is None else bias.data_ptr(),
        out.data_ptr(),
        weight.dtype == torch.bfloat16,
        torch.get_num_threads(),
    )
    return out


def wide_linear(hidden: Tensor, weight: Tensor, bias: Tensor | None, buffer: Tensor) -> Tensor:
    """Multiply as torch's `linear` does, in float32, and round to the dtype of `hidden`.

    Args:
        hidden: (..., in), half precision.
        weight: (out, in), likewise.
        bias: (out,), or None.
        buffer: float32, at least as large as a block of the weight.

    Returns:
        (..., out).
    """
    size_out, size_in = weight.shape
    wide = hidden.reshape(-1, size_in).float()
    out = hidden.new_empty(len(wide), size_out)
    for first in range(0, size_out, _BLOCK):
        last = min(size_out, first + _BLOCK)
        block = buffer[: (last - first) * size_in].view(last - first, size_in)
        block.copy_(weight[first:last])
        product = torch.mm(wide, block.t())
        if bias is not None:
            product += bias[first:last]
        out[:, first:last] = product
    return out.view(*hidden.shape[:-1], size_out)
