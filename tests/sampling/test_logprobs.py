"""Log-probabilities of tokens: the model's own, and always finite."""

from __future__ import annotations

import torch

from guided.sampling import token_logprobs
from guided.sampling.logprobs import LOWEST

NAN, INF = float("nan"), float("inf")


def test_they_are_those_of_the_raw_logits() -> None:
    logits = torch.randn(20, 50, generator=torch.Generator().manual_seed(0))
    tokens = torch.arange(20)
    wanted = logits.double().log_softmax(-1)[tokens, tokens]
    torch.testing.assert_close(token_logprobs(logits, tokens), wanted)


def test_they_are_finite_whatever_the_model_says() -> None:
    logits = torch.tensor(
        [[0.0, -INF], [NAN, 0.0], [-INF, -INF], [NAN, NAN], [INF, 0.0], [INF, INF], [3e38, -3e38]]
    )
    found = token_logprobs(logits, torch.tensor([1, 0, 0, 0, 1, 0, 1]))
    assert found.tolist() == [LOWEST] * 5 + [0.0, LOWEST]
    assert token_logprobs(logits, torch.tensor([0, 1, 1, 1, 0, 1, 0])).tolist() == [
        0.0,
        0.0,
        LOWEST,
        LOWEST,
        0.0,
        0.0,
        0.0,
    ]
