"""The threads of torch, for the core: one set of them, that takes turns and is not doubled."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import torch

from guided import _core

RUNTIME = re.compile(r"lib(gomp|iomp5|omp)\b[^/]*\.so[^/]*$")
NAMES = "GOMP_parallel", "omp_get_thread_num", "omp_get_num_threads"


@cache
def share_threads() -> bool:
    """Let the core use the OpenMP runtime that torch is linked to; return whether it is known.

    It is known on Linux where a single one is loaded, or torch's own among several.
    """
    path = torch_runtime()
    if path is None:
        return False
    try:
        runtime = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        addresses = [ctypes.cast(runtime[name], ctypes.c_void_p).value or 0 for name in NAMES]
    except (OSError, AttributeError):
        return False
    _core.use_openmp(*addresses)
    return all(addresses)


def torch_runtime() -> str | None:
    """Return the path of the OpenMP runtime that torch uses, if it is known which."""
    if sys.platform != "linux":
        return None
    loaded: set[str] = set()
    with suppress(OSError):
        for line in Path("/proc/self/maps").read_text().splitlines():
            path = line.split(maxsplit=5)[-1]
            if RUNTIME.search(path):
                loaded.add(path)
    own = {path for path in loaded if Path(path).is_relative_to(Path(torch.__file__).parent)}
    found = own or loaded
    return found.pop() if len(found) == 1 else None
