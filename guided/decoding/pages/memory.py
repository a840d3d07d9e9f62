"""How much memory a cache may take, and how many pages that is."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import torch

from guided.decoding.pages.storage import LayerLayout
from guided.errors import LimitError

# Shares of the memory that is free when the model has been loaded.
_SHARES = {"cpu": 0.25, "cuda": 0.6}
_FULL_CONTEXTS = 8  # more sequences of full length than this are not provided for unasked
_CONTEXT = 32768  # where a model does not say


def page_bytes(layouts: Iterable[LayerLayout], size: int) -> int:
    """Return the bytes of one page in all layers."""
    return sum(layout.token_bytes for layout in layouts) * size


def count_pages(
    layouts: Iterable[LayerLayout],
    size: int,
    *,
    memory: int | None = None,
    context: int | None = None,
) -> int:
    """Count the pages, the trash page not included, that a budget holds.

    Args:
        layouts: of all layers.
        size: tokens a page.
        memory: bytes in all; None: a share of what is free on each device (a quarter on a CPU, 60%
            on a GPU), and at most eight sequences of full length.
        context: the most tokens of a sequence.

    Raises:
        LimitError: not even one page fits beside the trash page.
    """
    layouts = list(layouts)
    whole = page_bytes(layouts, size)
    if memory is not None:
        pages = memory // whole - 1
    else:
        pages = -(-_FULL_CONTEXTS * (context or _CONTEXT) // size)
        for device in {layout.device for layout in layouts}:
            here = page_bytes((item for item in layouts if item.device == device), size)
            share = _SHARES.get(device.type, 0.25)
            pages = min(pages, int(free_memory(device) * share) // here - 1)
    if pages < 1:
        raise LimitError(
            f"a page of {size} tokens takes {whole} bytes in all layers, and the cache needs two",
            limit="bytes for the cache",
            value=max(0, memory if memory is not None else (pages + 1) * whole),
            option="memory",
        )
    return pages


def free_memory(device: torch.device) -> int:
    """Return the bytes that can be had on a device."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return int(free)
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    # A container may be allowed less than the machine has.
    limit, used = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
    with suppress(OSError, ValueError):  # there may be no such limit
        free = min(free, int(limit.read_text()) - int(used.read_text()))
    return max(0, free)
