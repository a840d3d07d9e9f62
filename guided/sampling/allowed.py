"""The logits of the allowed tokens, gathered and cleared of what is no number."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from torch import Tensor

from guided.errors import GuidedError
from guided.masks import unpack_bits
from guided.masks.apply import check_shapes
from guided.sampling.batch import allowed_columns


def allowed_logits(
    logits: Tensor, mask: Tensor | None, columns: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Gather the allowed tokens with their logits.

    What comes after it works on these alone: the fewer are allowed the less there is to do, and the
    result does not hang on what stands between them.

    Args:
        logits: (V,) or (n,), masked or not.
        mask: (W,) or None.
        columns: (n,) ids of the columns, ascending, or None.

    Returns:
        (N,) ids, ascending, N at least 1, and (N,) float64 logits as they are.

    Raises:
        GuidedError: no token is allowed.
        ShapeError: the mask does not belong to the logits.
    """
    if mask is None:
        tokens = columns
        if tokens is None:
            tokens = torch.arange(logits.shape[0], device=logits.device)  # (V,)
        scores = logits
    else:
        places = allowed_places(logits, mask, columns)
        tokens = places if columns is None else columns[places]
        scores = logits[places]  # (N,)
    if tokens.numel() == 0:
        raise GuidedError(
            "no token is allowed: the mask is empty",
            mend="a matcher's mask is empty only after its end; stop when is_terminated is true",
        )
    return tokens, scores.double()


def allowed_places(logits: Tensor, mask: Tensor, columns: Tensor | None) -> Tensor:
    """Return the places of (V,) or (n,) logits that a mask (W,) allows: (N,) int64, ascending."""
    if columns is not None:
        return allowed_columns(mask, columns).nonzero().squeeze(1)
    check_shapes(logits, mask)
    width = logits.shape[0]
    if mask.device.type != "cpu":
        return unpack_bits(mask)[:width].nonzero().squeeze(1)
    octets = mask.contiguous().numpy().astype("<i4", copy=False).view(np.uint8)  # (4 * W,)
    bits = np.unpackbits(octets, bitorder="little").view(np.bool_)  # (32 * W,)
    return torch.from_numpy(np.flatnonzero(bits[:width]))


def make_numbers(scores: Tensor) -> Tensor:
    """Clear (N,) logits of what is no number.

    NaN becomes minus infinity, with a RuntimeWarning; where plus infinity occurs it alone stays, as
    0; where nothing is left all become 0.

    Returns:
        (N,), finite or minus infinity, at least one finite.
    """
    top = scores.max()  # NaN counts as the largest
    if bool(top.isfinite()):
        return scores
    unknown = int(scores.isnan().sum())
    if unknown:
        warnings.warn(
            f"the model gave NaN for {unknown} of {len(scores)} allowed tokens;"
            " they count as impossible. Half precision that overflows is the usual reason.",
            RuntimeWarning,
            stacklevel=4,
        )
        scores = scores.masked_fill(scores.isnan(), -torch.inf)
    if bool((scores == torch.inf).any()):
        return torch.where(scores == torch.inf, 0.0, -torch.inf).to(scores.dtype)
    if bool((scores == -torch.inf).all()):
        return torch.zeros_like(scores)
    return scores
