"""The output matrix on the rows and columns that are wanted.

The forward of the model's output embedding is replaced for the time of a step, so that whatever the
model does with its logits afterwards (soft caps, scales) still happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

# The columns are computed alone where they are at most this share of all: their weights must first
# be copied together.
_FEW = 8

Multiply = Callable[[Tensor, Tensor, Tensor | None], Tensor]


class Head:
    """The output embedding of a network.

    Args:
        embedding: hidden states to logits.
        multiply: hidden states, some rows of the weight and of the bias or None, to logits.

    Attributes:
        width: V, columns of its weight.
        is_linear: whether columns can be computed alone; a self-test may turn it off.
        rows: of the hidden states (1, T, h), those wanted; None: all.
        tokens: after a forward, the columns that were computed, (n,) int64; None: all.
        was_called: whether the model went through the embedding.
    """

    def __init__(self, embedding: nn.Module, multiply: Multiply = linear) -> None:
        self.embedding = embedding
        self._multiply = multiply
        weight = getattr(embedding, "weight", None)
        self.width = int(weight.shape[0]) if weight is not None else 0
        # Neither quantized nor sharded nor offloaded weights can be indexed by row.
        self.is_linear = (
            type(embedding) is nn.Linear
            and type(weight) is nn.Parameter
            and weight.device.type != "meta"
            and not hasattr(embedding, "_hf_hook")
        )
        self.rows: Tensor | None = None
        self.tokens: Tensor | None = None
        self.was_called = False
        self._allowed: Callable[[], Sequence[Tensor | None]] | None = None

    @contextmanager
    def step(
        self, rows: Tensor | None, allowed: Callable[[], Sequence[Tensor | None]] | None
    ) -> Iterator[Head]:
        """Replace the forward of the embedding for one forward of the model."""
        self.rows, self.tokens, self._allowed, self.was_called = rows, None, allowed, False
        original = self.embedding.__dict__.get("forward")
        forward = self.embedding.forward
        self.embedding.forward = lambda hidden: self._forward(hidden, forward)
        try:
            yield self
        finally:
            if original is None:
                del self.embedding.__dict__["forward"]
            else:
                self.embedding.forward = original
            self._allowed = None

    def _forward(self, hidden: Tensor, forward: Callable[[Tensor], Tensor]) -> Tensor:
        """Multiply the rows wanted, (1, T, h) to (1, R, n)."""
        self.was_called = True
        if self.rows is not None:
            hidden = hidden.index_select(1, self.rows.to(hidden.device))
        if hidden.shape[1] == 0:
            return hidden.new_zeros(1, 0, self.width)
        if self.is_linear and self._allowed is not None:
            self.tokens = few_tokens(self._allowed(), self.width // _FEW)
        if self.tokens is None:
            return forward(hidden)
        weight, bias = self.embedding.weight, self.embedding.bias
        tokens = self.tokens.to(hidden.device)
        assert isinstance(weight, Tensor)
        return self._multiply(
            hidden,
            weight.index_select(0, tokens),
            bias.index_select(0, tokens) if isinstance(bias, Tensor) else None,
        )


def few_tokens(wanted: Sequence[Tensor | None], most: int) -> Tensor | None:
    """Return the tokens that any row may choose, ascending; None where they are too many."""
    total = 0
    for tokens in wanted:
        if tokens is None or len(tokens) > most:
            return None
        total += len(tokens)
    if not wanted or total == 0:
        return None
    if len(wanted) == 1:
        assert wanted[0] is not None
        return wanted[0]
    together = torch.unique(torch.cat([tokens for tokens in wanted if tokens is not None]))
    return together if len(together) <= most else None
