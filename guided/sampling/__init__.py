"""Masked logits to a token: the options and the choice."""

from guided.sampling.options import Sampling
from guided.sampling.sampler import Sampler
from guided.sampling.warpers import warp

__all__ = ["Sampler", "Sampling", "warp"]
