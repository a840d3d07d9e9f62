"""llama.cpp's cache and its room for a forward, behind a few calls."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from guided.decoding.models.llama_cpp.library import collect_errors, reason
from guided.decoding.models.llama_cpp.network import LlamaCppNetwork
from guided.decoding.models.llama_cpp.rows import RowBatch
from guided.errors import GuidedError

ROWS = 512  # of one call
OUTPUTS = 128  # at least, of one call; llama.cpp sets memory aside for as many rows of logits


class LlamaContext:
    """One buffer of cells for all sequences, and the rows that are gathered for the next call.

    Attributes:
        rows: gathered so far.

    Args:
        network: the loaded file.
        tokens: how many the cache holds.
        ids: how many sequences llama.cpp keeps apart.
        copies: how many of them hold each row.
        dtype: llama.cpp's name for the type of keys and values.
        threads: of a forward.

    Raises:
        GuidedError: llama.cpp makes no such cache, or the model has none.
    """

    def __init__(
        self,
        network: LlamaCppNetwork,
        *,
        tokens: int,
        ids: int,
        copies: int,
        dtype: str,
        threads: int,
    ) -> None:
        llama = network.llama
        self._network, self._llama = network, llama
        self._outputs = max(OUTPUTS, ids)
        parameters = llama.llama_context_default_params()
        parameters.n_ctx = tokens
        parameters.n_batch = parameters.n_ubatch = ROWS
        parameters.n_seq_max = ids
        parameters.n_outputs_max = self._outputs
        parameters.n_threads = parameters.n_threads_batch = threads
        parameters.type_k = parameters.type_v = getattr(llama, dtype)
        parameters.kv_unified = parameters.swa_full = True
        parameters.no_perf = True
        with collect_errors(llama) as errors:
            self._context = llama.llama_init_from_model(network.handle, parameters)
        if not self._context:
            raise GuidedError(
                f"llama.cpp makes no cache of {tokens} tokens"
                f" for {network.path.name}: {reason(errors)}",
                mend="give less memory, or leave kv_dtype out",
            )
        weakref.finalize(self, free_context, network, self._context)
        self._memory = llama.llama_get_memory(self._context)
        if not self._memory:
            raise GuidedError(f"{network.path.name} is no model that keeps its past in a cache")
        self.rows = RowBatch(llama, ROWS, copies)

    @property
    def is_full(self) -> bool:
        """Whether the rows must be run before others can be gathered."""
        return not self.rows.room or self.rows.outputs == self._outputs

    def fitting(self, count: int, wanted: int) -> tuple[int, int]:
        """Return how many of `count` rows can be gathered, and how many of these have logits.

        Logits are wanted after the last `wanted` of the rows.
        """
        silent = max(0, count - wanted)
        outputs = min(count - silent, self._outputs - self.rows.outputs)
        fitting = min(silent + outputs, self.rows.room)
        return fitting, max(0, fitting - silent)

    def run(self, values: Tensor) -> int:
        """Run the gathered rows, if there are any; return how many logits have come.

        Args:
            values: (R, V) float32; the first rows are written.

        Raises:
            GuidedError: llama.cpp fails.
        """
        rows, outputs = self.rows, self.rows.outputs
        if not rows.rows:
            return 0
        status = self._llama.llama_decode(self._context, rows.batch)
        if status != 0:
            raise GuidedError(
                f"llama.cpp cannot run {rows.rows} tokens of {self._network.path.name}:"
                f" status {status}"
            )
        if outputs:
            pointer = self._llama.llama_get_logits(self._context)
            logits = np.ctypeslib.as_array(pointer, (outputs, self._network.width))
            values[:outputs] = torch.from_numpy(logits)  # llama.cpp will write over its own
        rows.clear()
        return outputs

    def copy(self, old: Sequence[int], new: Sequence[int], count: int) -> None:
        """Let empty sequences hold the first `count` tokens of others, in the same cells."""
        for source, target in zip(old, new, strict=True):
            self._llama.llama_memory_seq_cp(self._memory, source, target, 0, count)

    def forget(self, ids: Sequence[int], start: int = 0) -> bool:
        """Drop the tokens of sequences from `start` on; false if that is not possible.

        A state of the whole past cannot be taken back, only dropped as a whole.
        """
        start = start or -1  # all of it
        removed = [
            self._llama.llama_memory_seq_rm(self._memory, number, start, -1) for number in ids
        ]
        return all(removed)

    def clear(self) -> None:
        """Drop everything."""
        self._llama.llama_memory_clear(self._memory, False)


def free_context(network: LlamaCppNetwork, context: Any) -> None:
    """Give the cache back; the network is an argument so that it lives until then."""
    network.llama.llama_free(context)
