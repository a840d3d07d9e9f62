"""What the model itself thought of tokens, whatever the grammar and the options made of it."""

from __future__ import annotations

import torch
from torch import Tensor

LOWEST = -9999.0  # what stands for "impossible", so that it can be written as JSON


def token_logprobs(logits: Tensor, tokens: Tensor) -> Tensor:
    """Return the log-probabilities that the raw logits give to tokens, at temperature 1.

    They are those of the model: before masks, penalties and temperature, so call this before
    `mask_logits`, which changes logits in place, and with all V columns.

    Args:
        logits: (R, V), not masked. NaN counts as impossible.
        tokens: (R,) int64, one a row.

    Returns:
        (R,) float64, finite: from -9999 (impossible for the model) to 0.
    """
    scores = logits.double().nan_to_num_(nan=-torch.inf, posinf=torch.inf, neginf=-torch.inf)
    chosen = scores.gather(1, tokens.unsqueeze(1)).squeeze(1)  # (R,)
    found = chosen - scores.logsumexp(dim=1)
    # Plus infinity takes everything: what has it is certain.
    found = torch.where(chosen == torch.inf, 0.0, found)
    return found.nan_to_num_(nan=LOWEST, neginf=LOWEST).clamp_(LOWEST, 0.0)
