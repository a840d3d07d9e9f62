"""Masked logits to a token: the options and the choice."""

from guided.sampling.batch import best_tokens, mask_logits
from guided.sampling.bias import LogitBias
from guided.sampling.logprobs import token_logprobs
from guided.sampling.options import Sampling
from guided.sampling.sampler import Sampler, draw
from guided.sampling.warpers import warp

__all__ = [
    "LogitBias",
    "Sampler",
    "Sampling",
    "best_tokens",
    "draw",
    "mask_logits",
    "token_logprobs",
    "warp",
]
