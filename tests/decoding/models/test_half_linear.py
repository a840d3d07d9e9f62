"""Linear layers in half precision by blocks in float32: the same numbers, rounded once."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from guided.decoding.models import Piece, half_linear
from guided.decoding.models.half_linear import WideLinears, wide_linear
from guided.decoding.models.transformers_runner import TransformersRunner
from guided.decoding.pages import CacheOptions
from tests.decoding.models.families import tiny_model


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape", [(1, 7, 24, 40), (3, 4, 16, 2500), (2, 1, 8, 1024)])
@pytest.mark.parametrize("has_bias", [False, True])
def test_products_are_those_of_float64_rounded_once(
    dtype: torch.dtype, shape: tuple[int, int, int, int], has_bias: bool
) -> None:
    torch.manual_seed(0)
    batch, rows, size_in, size_out = shape
    hidden = torch.randn(batch, rows, size_in).to(dtype)
    weight = torch.randn(size_out, size_in).to(dtype)
    bias = torch.randn(size_out).to(dtype) if has_bias else None
    found = wide_linear(hidden, weight, bias, torch.empty(1024 * size_in))
    wanted = nn.functional.linear(
        hidden.double(), weight.double(), None if bias is None else bias.double()
    )
    assert found.dtype == dtype
    assert found.shape == wanted.shape
    eps = torch.finfo(dtype).eps
    torch.testing.assert_close(found.double(), wanted, rtol=eps / 2 * 1.01, atol=1e-5)


def test_layers_are_replaced_for_a_forward_of_some_rows_and_put_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(half_linear, "needs_widening", lambda: True)
    network = nn.Sequential(nn.Linear(8, 6, dtype=torch.bfloat16), nn.Linear(6, 4))
    linears = WideLinears(network)
    with linears.widened(3):
        assert "forward" not in vars(network[0])
    with linears.widened(4):
        assert "forward" in vars(network[0])
        assert "forward" not in vars(network[1])  # float32
        hidden = torch.randn(4, 8).bfloat16()
        found = network[0](hidden)
    assert "forward" not in vars(network[0])
    torch.testing.assert_close(found, network[0](hidden), rtol=0.02, atol=0.02)


def test_nothing_is_replaced_where_the_processor_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(half_linear, "needs_widening", lambda: False)
    network = nn.Sequential(nn.Linear(8, 6, dtype=torch.bfloat16))
    with WideLinears(network).widened(100):
        assert "forward" not in vars(network[0])


def test_a_model_in_half_precision_runs_so_its_head_too(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, int]] = []

    def counted(hidden: Tensor, weight: Tensor, bias: Tensor | None, buffer: Tensor) -> Tensor:
        calls.append((weight.shape[0], hidden.shape[-2]))
        return wide_linear(hidden, weight, bias, buffer)

    monkeypatch.setattr(half_linear, "needs_widening", lambda: True)
    monkeypatch.setattr(half_linear, "wide_linear", counted)
    network = tiny_model("llama").bfloat16()
    runner = TransformersRunner(network, CacheOptions(memory=1 << 20))
    calls.clear()
    tokens = [5, 6, 7, 8, 9, 10]
    found = runner.run([Piece(runner.open()[0], tokens, 5)]).values
    assert len(calls) == 2 * 7 + 1  # the projections of two layers, and the head
    assert calls[-1] == (160, 5)
    with torch.no_grad():
        wanted = tiny_model("llama")(input_ids=torch.tensor([tokens])).logits[0, 1:]
    error = torch.linalg.vector_norm(found - wanted) / torch.linalg.vector_norm(wanted)
    assert error < 0.1
    assert "forward" not in vars(network.get_output_embeddings())
