"""Masked logits to a token: the options and the choice."""

from guided.sampling.batch import best_tokens, mask_logits
from guided.sampling.options import Sampling
from guided.sampling.sampler import Sampler
from guided.sampling.warpers import warp

__all__ = ["Sampler", "Sampling", "best_tokens", "mask_logits", "warp"]
