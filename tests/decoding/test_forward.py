"""Rows through the stock forward: however they are cut and packed, the logits are the same."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from transformers import (
    DynamicCache,
    GPT2Config,
    GPT2LMHeadModel,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedModel,
)

from guided.decoding.forward import Rows
from tests.decoding.tiny_model import SIZES, tiny_network


def tiny_gpt2() -> PreTrainedModel:
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=320, n_positions=256, n_embd=32, n_layer=2, n_head=4)
    network = GPT2LMHeadModel(config)
    network.eval()
    return network


def tiny_mistral(window: int | None) -> PreTrainedModel:
    torch.manual_seed(0)
    network = MistralForCausalLM(MistralConfig(**SIZES, sliding_window=window))
    network.eval()
    return network


NETWORKS: dict[str, Callable[[], PreTrainedModel]] = {
    "llama": tiny_network,
    "gpt2": tiny_gpt2,
    "mistral": lambda: tiny_mistral(None),
}


def whole(network: PreTrainedModel, tokens: list[int]) -> Tensor:
    """The logits after a text, by one forward without a cache, (V,)."""
    with torch.no_grad():
        logits: Tensor = network(input_ids=torch.tensor([tokens]), use_cache=False).logits
    return logits[0, -1]


def random_tokens(count: int, generator: random.Random) -> list[int]:
    return [generator.randrange(320) for _ in range(count)]


@pytest.mark.parametrize("name", NETWORKS)
def test_ragged_pieces_give_the_logits_of_each_row_alone(name: str) -> None:
    network, generator = NETWORKS[name](), random.Random(1)
    rows = Rows(network)
    assert rows.can_pad
    texts: list[list[int]] = [[] for _ in range(4)]
    for step in range(6):
        sizes = [generator.randint(1, 9 if step % 2 else 2) for _ in texts]
        pieces = [random_tokens(size, generator) for size in sizes]
        logits = rows.run(pieces)
        texts = [text + piece for text, piece in zip(texts, pieces, strict=True)]
        wanted = torch.stack([whole(network, text) for text in texts])
        torch.testing.assert_close(logits, wanted, atol=2e-5, rtol=1e-4)
        if step == 2:  # one row leaves, another moves
            rows.keep([3, 0, 1])
            texts = [texts[row] for row in (3, 0, 1)]


def test_a_single_row_is_run_without_a_mask_of_padding() -> None:
    network, generator = tiny_network(), random.Random(2)
    rows = Rows(network)
    text: list[int] = []
    for size in (5, 1, 1, 7, 1):
        piece = random_tokens(size, generator)
        text += piece
        torch.testing.assert_close(rows.run([piece])[0], whole(network, text), atol=2e-5, rtol=1e-4)


def test_a_sliding_window_cannot_be_padded_but_is_right_alone() -> None:
    network, generator = tiny_mistral(6), random.Random(3)
    rows = Rows(network)
    assert not rows.can_pad
    text: list[int] = []
    for size in (9, 1, 4, 1):
        piece = random_tokens(size, generator)
        text += piece
        torch.testing.assert_close(rows.run([piece])[0], whole(network, text), atol=2e-5, rtol=1e-4)


def test_the_logits_carry_no_gradient() -> None:
    assert not Rows(tiny_network()).run([[1, 2]]).requires_grad


def test_a_model_that_knows_only_the_old_name_of_the_cache_is_served() -> None:
    class OldNetwork(nn.Module):
        """Models with code of their own may have this signature still."""

        def __init__(self) -> None:
            super().__init__()
            self.inner = tiny_network()
            self.config, self.device = self.inner.config, self.inner.device
            self.seen: list[int] = []

        def forward(
            self,
            input_ids: Tensor,
            past_key_values: DynamicCache | None = None,
            use_cache: bool = True,
        ) -> object:
            assert past_key_values is not None
            self.seen.append(past_key_values.get_seq_length())
            return self.inner(input_ids=input_ids, cache=past_key_values, use_cache=use_cache)

    network = OldNetwork()
    rows = Rows(network)  # type: ignore[arg-type]
    assert not rows.can_pad  # it takes no positions
    rows.run([[5, 6, 7]])
    logits = rows.run([[8]])
    assert network.seen == [0, 3]
    torch.testing.assert_close(logits[0], whole(network.inner, [5, 6, 7, 8]), atol=2e-5, rtol=1e-4)
