"""A Triton kernel with all that it is launched with: what runs on a GPU is what tests compile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel and one way to launch it.

    Attributes:
        kernel: a function of Triton.
        grid: how many programs.
        arguments: by name, in the order of the kernel; None where a feature is not used.
        constants: by name, what the kernel is compiled for.
        warps, stages: how Triton runs a program.
    """

    kernel: Any
    grid: tuple[int, int, int]
    arguments: Mapping[str, Tensor | int | float | None]
    constants: Mapping[str, int | bool]
    warps: int
    stages: int

    def run(self) -> None:
        """Launch it on the current device and stream."""
        self.kernel[self.grid](
            *self.arguments.values(),
            **self.constants,
            num_warps=self.warps,
            num_stages=self.stages,
        )
