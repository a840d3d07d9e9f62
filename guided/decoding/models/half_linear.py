"""Linear layers in half precision on CPUs that have no instructions for it.

Below AVX-512, torch multiplies bfloat16 matrices of a few rows and more by a loop that is up to ten
times slower than float32. Here the weights are widened to float32 block by block, in a buffer that
stays in the processor's cache, and multiplied there. Seen with weights of 1536 x 576, one thread:
8 rows 1.9 ms by torch and 1.0 ms so, 128 rows 77 ms and 12 ms. The products are added in float32,
and rounded once, as the instructions would.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

_LEAST_ROWS = 4  # torch's own way with vectors is good, and below this no worse
_BLOCK = 1024  # rows of a matrix that are widened at a time
_HALF = (torch.bfloat16, torch.float16)


def needs_widening() -> bool:
    """Whether this processor multiplies half precision matrices by widening only."""
    is_x86 = platform.machine().lower() in ("x86_64", "amd64")
    return is_x86 and "AVX512" not in torch.backends.cpu.get_cpu_capability()


class WideLinears:
    """The linear layers of a network that are worth widening.

    Args:
        network: whose `nn.Linear` layers on the CPU in half precision are taken.
    """

    def __init__(self, network: nn.Module) -> None:
        self._layers = [
            module
            for module in network.modules()
            if type(module) is nn.Linear
            and type(module.weight) is nn.Parameter
            and module.weight.dtype in _HALF
            and module.weight.device.type == "cpu"
            and "forward" not in module.__dict__  # such as a layer whose weights come from a disk
        ]
        if not needs_widening():
            self._layers = []
        self._buffer = torch.empty(0)

    @contextmanager
    def widened(self, rows: int) -> Iterator[None]:
        """Replace their forwards, if a forward of so many rows is quicker for it."""
        if rows < _LEAST_ROWS or not self._layers:
            yield
            return
        most = max(layer.in_features for layer in self._layers)
        if self._buffer.numel() < _BLOCK * most:
            self._buffer = torch.empty(_BLOCK * most)
        for layer in self._layers:
            layer.__dict__["forward"] = self._forward_of(layer)
        try:
            yield
        finally:
            for layer in self._layers:
                del layer.__dict__["forward"]

    def _forward_of(self, layer: nn.Linear) -> Callable[[Tensor], Tensor]:
        return lambda hidden: wide_linear(hidden, layer.weight, layer.bias, self._buffer)


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
