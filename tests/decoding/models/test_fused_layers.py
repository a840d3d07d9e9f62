"""Whole layers by the core give the numbers of transformers' own."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from guided import _core
from guided.decoding.models import Piece, fused_layers
from guided.decoding.models.fused_layers import FusedLayers
from guided.decoding.models.paged_layers import PagedModelCache
from guided.decoding.models.transformers_runner import TransformersRunner
from guided.decoding.pages import CacheOptions
from tests.decoding.models.families import tiny_model
from tests.decoding.models.play import Player
from tests.decoding.models.test_families import play_at_random

SMALL = CacheOptions(page_size=4, memory=4 << 20, slack=8)
# Sizes that fill vectors, and biases and windows where a family has them.
SIZES: dict[str, Any] = {"hidden_size": 64, "intermediate_size": 96, "head_dim": 32}
FAMILIES: dict[str, dict[str, Any]] = {
    "llama": {"attention_bias": True, "mlp_bias": True},
    "mistral": {},
    "qwen2": {"use_sliding_window": True, "max_window_layers": 1},
    "qwen3": {},
}


def network_of(
    family: str, seed: int = 0, dtype: torch.dtype = torch.float32, **config: Any
) -> PreTrainedModel:
    network = tiny_model(family, seed, **{**SIZES, **FAMILIES[family], **config})
    with torch.no_grad():  # norms and biases are made as ones and zeros
        for parameter in network.parameters():
            if parameter.ndim == 1:
                parameter.add_(0.3 * torch.randn(parameter.shape))
    network._apply(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)
    return network


def fused_of(network: PreTrainedModel) -> FusedLayers:
    fused = FusedLayers(network, PagedModelCache(network.config))
    layers = network.config.num_hidden_layers
    if not len(fused):
        pytest.skip("this processor has no AVX2, or torch's threads are not known")
    assert len(fused) == layers
    return fused


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of each layer that the core ran."""

    class Counting:
        def __getattr__(self, name: str) -> Any:
            return getattr(_core, name)

        def run_layer(self, layer: Any, plan: Any, *arguments: Any) -> None:
            seen.append(1)
            _core.run_layer(layer, plan, *arguments)

    seen: list[int] = []
    monkeypatch.setattr(fused_layers, "_core", Counting())
    return seen


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(2))
def test_any_order_of_operations_gives_the_logits_of_the_stock_forward(
    family: str, seed: int, runs: list[int]
) -> None:
    network = network_of(family, seed)
    fused_of(network)
    player = Player(network, TransformersRunner(network, SMALL), random.Random(f"{family}{seed}"))
    runs.clear()
    play_at_random(player, steps=30)
    assert len(runs) > 20


@pytest.mark.parametrize("family", FAMILIES)
def test_in_bfloat16_it_rounds_where_transformers_does(family: str, runs: list[int]) -> None:
    network = network_of(family, dtype=torch.bfloat16)
    fused_of(network)
    runner = TransformersRunner(network, SMALL)
    text = [random.Random(family).randrange(runner.width) for _ in range(40)]
    runs.clear()
    found = []
    sequence, _ = runner.open()
    for first in range(0, 40, 5):
        found.append(runner.run([Piece(sequence, text[first : first + 5], 5)]).values)
    assert len(runs) == 8 * network.config.num_hidden_layers
    with torch.no_grad():
        wanted = network(input_ids=torch.tensor([text]), use_cache=False).logits[0]
    difference = (torch.cat(found).float() - wanted.float()).norm() / wanted.float().norm()
    assert float(difference) < 0.01


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_so_do_many_rows(family: str, dtype: torch.dtype) -> None:
    network = network_of(family, dtype=dtype)
    fused_of(network)
    runner = TransformersRunner(network, SMALL)
    texts = [
        [random.Random(f"{family}{at}").randrange(runner.width) for _ in range(at)]
        for at in (61, 7)
    ]
    opened = [runner.open()[0] for _ in texts]
    pieces = [Piece(one, text, len(text)) for one, text in zip(opened, texts, strict=True)]
    found = torch.split(runner.run(pieces).values, [len(text) for text in texts])
    for ours, text in zip(found, texts, strict=True):
        with torch.no_grad():
            wanted = network(input_ids=torch.tensor([text]), use_cache=False).logits[0]
        difference = (ours.float() - wanted.float()).norm() / wanted.float().norm()
        assert float(difference) < (1e-5 if dtype == torch.float32 else 0.01)


def test_layers_that_somebody_looks_into_run_themselves(runs: list[int]) -> None:
    network = network_of("llama")
    fused_of(network)
    runner = TransformersRunner(network, SMALL)
    runs.clear()
    seen = []
    projection = network.model.layers[0].mlp.up_proj
    handle = projection.register_forward_hook(lambda *arguments: seen.append(1))
    sequence, _ = runner.open()
    runner.run([Piece(sequence, [1])])
    assert seen == [1]
    assert len(runs) == network.config.num_hidden_layers - 1
    handle.remove()
    runner.run([Piece(sequence, [2])])
    assert seen == [1]
    assert len(runs) == 2 * network.config.num_hidden_layers - 1


@pytest.mark.parametrize("change", ["parameter", "data", "in place", "module"])
def test_weights_that_were_put_in_their_place_are_seen(change: str) -> None:
    network = network_of("llama")
    fused_of(network)
    player = Player(network, TransformersRunner(network, SMALL), random.Random(0))
    projection = network.model.layers[1].mlp.down_proj
    new = torch.randn_like(projection.weight)
    if change == "parameter":
        projection.weight = torch.nn.Parameter(new)
    elif change == "data":
        projection.weight.data = new
    elif change == "module":
        network.model.layers[1].mlp.down_proj = torch.nn.Sequential(projection, torch.nn.Tanh())
    else:
        with torch.no_grad():
            projection.weight.copy_(new)
    sequence, _ = player.runner.open([7, 8])
    found = player.runner.run([Piece(sequence, [7, 8], 2)]).values
    player.check(found, player.stock([7, 8]))


@pytest.mark.parametrize(
    ("family", "config"),
    [("llama", {"hidden_act": "gelu"}), ("gemma", {}), ("olmo2", {}), ("llama", {"head_dim": 24})],
)
def test_other_layers_are_left_alone(family: str, config: dict[str, Any]) -> None:
    network = tiny_model(family, **{**SIZES, **config})
    assert not len(FusedLayers(network, PagedModelCache(network.config)))


def test_quantized_pages_go_the_other_way(runs: list[int]) -> None:
    network = network_of("llama")
    fused_of(network)
    options = CacheOptions(page_size=4, memory=4 << 20, kv_dtype="int8")
    runner = TransformersRunner(network, options)
    runs.clear()
    sequence, _ = runner.open()
    found = runner.run([Piece(sequence, [1, 2, 3], 3)]).values
    assert not runs
    with torch.no_grad():
        wanted = network(input_ids=torch.tensor([[1, 2, 3]]), use_cache=False).logits[0]
    torch.testing.assert_close(found, wanted, atol=0.1, rtol=0.1)


def test_a_layer_whose_weights_are_missing_is_refused() -> None:
    with pytest.raises(ValueError, match="weight"):
        _core.DecoderLayer(64, 96, 2, 1, 32, 1e-6, 1.0, False, {"query": 1})
