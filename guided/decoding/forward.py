"""Rows of a batch through a model's stock forward, over transformers' own cache."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer


class Rows:
    """What the model has seen of each row, and the way to show it more.

    Rows of unequal length are padded on the left of each piece, and the padding is masked for ever,
    so the cache may have holes; positions are counted without them. That is exact as long as every
    layer attends to the whole past (`can_pad`).

    Args:
        network: a causal language model.
    """

    def __init__(self, network: PreTrainedModel) -> None:
        parameters = inspect.signature(network.forward).parameters
        # `cache` replaced `past_key_values` in transformers 5.21; models with code of their own
        # may know only the old name.
        self._cache_name = "cache" if "cache" in parameters else "past_key_values"
        self._keeps_logits = "logits_to_keep" in parameters
        self._takes_positions = "position_ids" in parameters
        self._network = network
        self._cache = DynamicCache(config=network.config)
        self._visible: Tensor | None = None  # (B, C) int64, 0 where a column is padding
        self._columns = 0  # C, of the cache
        self._lengths: list[int] = []  # positions of each row

    @property
    def can_pad(self) -> bool:
        """Whether rows of unequal length may share a batch."""
        # A sliding window counts columns, holes included; a recurrent state has no holes at all.
        return self._takes_positions and all(
            type(layer) is DynamicLayer for layer in self._cache.layers
        )

    def run(self, pieces: Sequence[Sequence[int]]) -> Tensor:
        """Append a piece to each row and return the logits after it.

        Args:
            pieces: B lists of tokens, none empty.

        Returns:
            (B, V), apart from the model's own memory, without gradient.
        """
        width = max(len(piece) for piece in pieces)
        lengths = self._lengths or [0] * len(pieces)
        tokens = [[0] * (width - len(piece)) + list(piece) for piece in pieces]
        positions = [
            [0] * (width - len(piece)) + list(range(seen, seen + len(piece)))
            for piece, seen in zip(pieces, lengths, strict=True)
        ]
        self._lengths = [seen + len(piece) for piece, seen in zip(pieces, lengths, strict=True)]
        self._extend_visible(pieces, width)
        options: dict[str, object] = {self._cache_name: self._cache, "use_cache": True}
        if self._visible is not None:
            options["attention_mask"] = self._visible
        if self._takes_positions:
            options["position_ids"] = self._tensor(positions)  # (B, T)
        if self._keeps_logits:
            options["logits_to_keep"] = 1
        with torch.no_grad():
            logits: Tensor = self._network(input_ids=self._tensor(tokens), **options).logits
        return logits[:, -1]  # (B, T or 1, V) -> (B, V)

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these rows only, in this order."""
        chosen = self._tensor(rows)
        self._cache.batch_select_indices(chosen)
        self._lengths = [self._lengths[row] for row in rows]
        if self._visible is not None:
            self._visible = self._visible[chosen]

    def _extend_visible(self, pieces: Sequence[Sequence[int]], width: int) -> None:
        """Note which of the new columns are padding; no mask is kept while there is none."""
        before, self._columns = self._columns, self._columns + width
        if self._visible is None:
            if all(len(piece) == width for piece in pieces):
                return
            shape = (len(pieces), before)
            self._visible = torch.ones(shape, dtype=torch.int64, device=self._network.device)
        new = [[0] * (width - len(piece)) + [1] * len(piece) for piece in pieces]  # (B, T)
        self._visible = torch.cat([self._visible, self._tensor(new)], dim=1)

    def _tensor(self, values: Sequence[object]) -> Tensor:
        return torch.tensor(values, dtype=torch.int64, device=self._network.device)
