"""A launch compiled for a GPU that need not be there, and what its machine code takes."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import triton
from torch import Tensor
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from guided.masks.launch import Launch

POINTERS = {
    torch.float64: "*fp64",
    torch.float32: "*fp32",
    torch.float16: "*fp16",
    torch.bfloat16: "*bf16",
    torch.int8: "*i8",
    torch.uint8: "*u8",
    torch.bool: "*i1",
    torch.int32: "*i32",
    torch.int64: "*i64",
}
CUOBJDUMP = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"


@dataclass(frozen=True, slots=True)
class Resources:
    """What one program takes: registers a thread, bytes of stack (spills) and of shared memory."""

    registers: int
    stack: int
    shared: int
    assembly: str


def compile_launch(launch: Launch, capability: int) -> Resources:
    """Compile a `Launch` as launching it would, for a compute capability such as 90."""
    signature: dict[str, str] = {}
    constants: dict[tuple[int], Any] = {}
    attributes: dict[tuple[int], list[list[Any]]] = {}
    general = {each.name for each in launch.kernel.params if each.do_not_specialize}
    for number, (name, value) in enumerate({**launch.arguments, **launch.constants}.items()):
        assert launch.kernel.arg_names[number] == name
        one = isinstance(value, int) and value == 1 and name not in general
        if value is None or name in launch.constants or one:
            signature[name], constants[(number,)] = "constexpr", value
        elif isinstance(value, Tensor):
            signature[name] = POINTERS[value.dtype]
            attributes[(number,)] = [["tt.divisibility", 16]]  # what an allocator gives
        elif isinstance(value, int):
            signature[name] = "i32"
            if value % 16 == 0 and name not in general:
                attributes[(number,)] = [["tt.divisibility", 16]]
        else:
            signature[name] = "fp32"
    source = ASTSource(launch.kernel, signature, constants, attributes)
    compiled = triton.compile(
        source,
        target=GPUTarget("cuda", capability, 32),
        options={"num_warps": launch.warps, "num_stages": launch.stages},
    )
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(compiled.asm["cubin"])
        file.flush()
        command = [os.fspath(CUOBJDUMP), "--dump-resource-usage", file.name]
        report = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"REG:(\d+) STACK:(\d+) .*?LOCAL:(\d+)", report)
    assert found is not None, report
    registers, stack, local = map(int, found.groups())
    return Resources(registers, stack + local, compiled.metadata.shared, compiled.asm["ptx"])
