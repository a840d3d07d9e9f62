"""Rows of sequences as the batch that llama.cpp takes: arrays that are filled again and again."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np


class RowBatch:
    """Room for the rows of one call of llama.cpp.

    Args:
        llama: the module `llama_cpp`.
        rows: the most rows of a call.
        ids: how many of llama.cpp's sequences hold each row.
    """

    def __init__(self, llama: ModuleType, rows: int, ids: int) -> None:
        self.rows = 0
        self.outputs = 0
        self._room = rows
        self._tokens = np.zeros(rows, np.int32)
        self._positions = np.zeros(rows, np.int32)
        self._counts = np.full(rows, ids, np.int32)
        self._ids = np.zeros((rows, ids), np.int32)
        # A row's ids are an array of their own, so this is one pointer a row.
        self._pointers = (self._ids.ctypes.data + ids * 4 * np.arange(rows)).astype(np.uintp)
        self._wanted = np.zeros(rows, np.int8)
        fields = dict(llama.llama_batch._fields_)

        def pointer(name: str, array: np.ndarray[Any, Any]) -> Any:
            return ctypes.cast(ctypes.c_void_p(array.ctypes.data), fields[name])

        self.batch = llama.llama_batch(
            token=pointer("token", self._tokens),
            pos=pointer("pos", self._positions),
            n_seq_id=pointer("n_seq_id", self._counts),
            seq_id=pointer("seq_id", self._pointers),
            logits=pointer("logits", self._wanted),
        )

    @property
    def room(self) -> int:
        """How many rows still fit."""
        return self._room - self.rows

    def clear(self) -> None:
        """Begin again."""
        self.rows = self.outputs = self.batch.n_tokens = 0

    def add(self, ids: Sequence[int], position: int, tokens: Sequence[int], outputs: int) -> None:
        """Add rows of one sequence, which must fit.

        Args:
            ids: of llama.cpp's sequences.
            position: of the first row.
            tokens: one a row.
            outputs: after how many of the last rows logits are wanted.
        """
        rows = slice(self.rows, self.rows + len(tokens))
        self._tokens[rows] = tokens
        self._positions[rows] = np.arange(position, position + len(tokens))
        self._ids[rows] = ids
        self._wanted[rows] = 0
        self._wanted[rows.stop - outputs : rows.stop] = 1
        self.rows = self.batch.n_tokens = rows.stop
        self.outputs += outputs
