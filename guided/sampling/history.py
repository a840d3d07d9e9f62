"""Which tokens a sequence holds already, for the penalties."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


class History:
    """The tokens of a prompt, and how often each was written after it.

    Tables over the vocabulary, brought up to date when they are asked for: a look-up then costs the
    same however long the text is.

    Attributes:
        written: how many tokens were written, some of the first not counted.
    """

    def __init__(self, prompt: Sequence[int] = (), uncounted: int = 0) -> None:
        self.written = -uncounted
        self._prompt = list(prompt)  # not yet in the table
        self._output: list[int] = []  # likewise
        self._seen = torch.zeros(0, dtype=torch.bool)  # (width,)
        self._counts = torch.zeros(0, dtype=torch.int32)  # (width,)

    def write(self, token: int) -> None:
        """Count a token that was written."""
        self.written += 1
        self._output.append(token)

    def seen(self, tokens: Tensor) -> Tensor:
        """Tell which tokens occur in the prompt or the output: (N,) ascending -> (N,) bool."""
        self._update(tokens)
        return self._seen[tokens]

    def counts(self, tokens: Tensor) -> Tensor:
        """Tell how often tokens occur in the output: (N,) ascending -> (N,) int32."""
        self._update(tokens)
        return self._counts[tokens]

    def _update(self, tokens: Tensor) -> None:
        """Bring the tables up to date, on the device of `tokens` and wide enough for them."""
        new = self._prompt + self._output
        width = max([int(tokens[-1]), *new]) + 1
        if width > len(self._seen) or self._seen.device != tokens.device:
            self._seen = widened(self._seen, width, tokens.device)
            self._counts = widened(self._counts, width, tokens.device)
        if new:
            self._seen[torch.tensor(new, device=tokens.device)] = True
        if self._output:
            written = torch.tensor(self._output, device=tokens.device)
            ones = torch.ones(len(written), dtype=torch.int32, device=tokens.device)
            self._counts.index_add_(0, written, ones)
        self._prompt, self._output = [], []


def widened(table: Tensor, width: int, device: torch.device) -> Tensor:
    """Return a table with zeros behind it, (max(width, its own),), on a device."""
    wider = torch.zeros(max(width, len(table)), dtype=table.dtype, device=device)
    wider[: len(table)] = table.to(device)
    return wider
