"""From a model to the runner that its loop drives."""

from __future__ import annotations

from typing import Literal, TypeAlias

from guided.decoding.model import Model
from guided.decoding.models import Runner
from guided.decoding.models.llama_cpp import LlamaCppNetwork
from guided.decoding.models.llama_cpp_runner import SEQUENCES, LlamaCppRunner
from guided.decoding.models.opening import open_transformers_runner
from guided.decoding.pages import CacheOptions
from guided.errors import UnsupportedError

CacheKind: TypeAlias = Literal["paged", "contiguous"]
CacheDtype: TypeAlias = Literal["int8", "fp8"]


def open_runner(
    model: Model,
    *,
    memory: int | None = None,
    cache: CacheKind = "paged",
    kv_dtype: CacheDtype | None = None,
    max_batch: int = SEQUENCES,
) -> Runner:
    """Make a runner with a cache of its own.

    Args:
        model: from `load`.
        memory: bytes for keys and values; None: what the model's context and the device suggest.
        cache: "paged", or "contiguous", one block a sequence.
        kv_dtype: "int8" or "fp8"; None: the dtype of the model.
        max_batch: the most sequences at a time; llama.cpp makes room for so many.

    Raises:
        ValueError: an argument is none of these.
        LimitError: the memory does not suffice.
        UnsupportedError: the model cannot be run so.
    """
    options = CacheOptions(kind=cache, memory=memory, kv_dtype=kv_dtype)
    network = model.network
    if not isinstance(network, LlamaCppNetwork):
        return open_transformers_runner(network, options)
    if cache != "paged":
        raise UnsupportedError(
            "llama.cpp has a cache of its own kind",
            keyword=f"cache={cache!r}",
            page="docs/decoding.md",
            mend="leave out cache",
        )
    return LlamaCppRunner(network, memory=memory, kv_dtype=kv_dtype, sequences=max_batch)
