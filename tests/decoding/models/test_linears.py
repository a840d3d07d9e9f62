"""Linear layers for few rows and in half precision: the numbers of float64, rounded once."""

from __future__ import annotations

import sys

import pytest
import torch
from torch import Tensor, nn

from guided import _core
from guided.decoding.models import Piece, linears
from guided.decoding.models.linears import Linears, few_rows_linear, wide_linear
from guided.decoding.models.openmp import share_threads
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


needs_units = pytest.mark.skipif(
    not _core.can_multiply_rows(), reason="this processor has no AVX2, or the core is not for x86"
)


@needs_units
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("rows", [1, 2, 3, 5, 6, 7, 13, 16, 40])
@pytest.mark.parametrize("shape", [(576, 192), (37, 5), (16, 1), (8, 130), (1536, 33), (3, 64)])
def test_a_few_rows_give_the_products_of_float64_rounded_once(
    dtype: torch.dtype, rows: int, shape: tuple[int, int]
) -> None:
    torch.manual_seed(0)
    size_in, size_out = shape
    hidden = torch.randn(1, rows, size_in).to(dtype)
    weight = torch.randn(size_out, size_in).to(dtype)
    for bias in (None, torch.randn(size_out).to(dtype)):
        found = few_rows_linear(hidden, weight, bias)
        wanted = nn.functional.linear(
            hidden.double(), weight.double(), None if bias is None else bias.double()
        )
        assert found.dtype == dtype
        eps = torch.finfo(dtype).eps
        torch.testing.assert_close(found.double(), wanted, rtol=eps / 2 * 1.01, atol=1e-4)


@needs_units
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_row_has_the_same_products_whatever_stands_beside_it(dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    hidden, weight = torch.randn(16, 200).to(dtype), torch.randn(300, 200).to(dtype)
    share_threads()
    before = torch.get_num_threads()
    alone = torch.cat([few_rows_linear(row.unsqueeze(0), weight, None) for row in hidden])
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            for rows in (2, 5, 11, 16):
                found = few_rows_linear(hidden[:rows], weight, None)
                assert torch.equal(found, alone[:rows])
    finally:
        torch.set_num_threads(before)


@needs_units
def test_what_is_no_number_stays_in_its_place() -> None:
    for dtype in (torch.float32, torch.bfloat16):
        hidden = torch.ones(3, 40).to(dtype)
        weight = torch.ones(20, 40).to(dtype)
        hidden[1, 3], weight[7, 20], weight[8, 21] = float("nan"), float("inf"), float("-inf")
        found = few_rows_linear(hidden, weight, None)
        wanted = nn.functional.linear(hidden, weight)
        torch.testing.assert_close(found, wanted, equal_nan=True)


@needs_units
def test_torch_shares_its_threads() -> None:
    torch.ones(4, 4) @ torch.ones(4, 4)
    assert share_threads() is (sys.platform == "linux")


def test_layers_are_replaced_for_a_forward_and_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    half, single = torch.bfloat16, torch.float32
    calls: list[tuple[str, int, torch.dtype]] = []

    def few(hidden: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        calls.append(("few", len(hidden), weight.dtype))
        return nn.functional.linear(hidden, weight, bias)

    def wide(hidden: Tensor, weight: Tensor, bias: Tensor | None, buffer: Tensor) -> Tensor:
        calls.append(("wide", len(hidden), weight.dtype))
        return wide_linear(hidden, weight, bias, buffer)

    monkeypatch.setattr(linears, "needs_widening", lambda: True)
    monkeypatch.setattr(linears, "share_threads", lambda: True)
    monkeypatch.setattr(_core, "can_multiply_rows", lambda: True)
    monkeypatch.setattr(linears, "most_rows", {half: 8, single: 16}.__getitem__)
    monkeypatch.setattr(linears, "few_rows_linear", few)
    monkeypatch.setattr(linears, "wide_linear", wide)
    layers = [nn.Linear(8, 6, dtype=torch.bfloat16), nn.Linear(8, 4)]
    replaced = Linears(nn.ModuleList(layers))
    for rows in (1, 4, 8, 9, 16, 17):
        with replaced.step():
            for layer in layers:
                found = layer(torch.ones(rows, 8, dtype=layer.weight.dtype))
                torch.testing.assert_close(
                    found, type(layer).forward(layer, torch.ones(rows, 8, dtype=found.dtype))
                )
        assert not any("forward" in vars(layer) for layer in layers)
    assert calls == [
        *(("few", rows, dtype) for rows in (1, 4, 8) for dtype in (half, single)),
        ("wide", 9, half),
        ("few", 9, single),
        ("wide", 16, half),
        ("few", 16, single),
        ("wide", 17, half),
    ]


def test_nothing_is_replaced_where_torch_is_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linears, "needs_widening", lambda: False)
    monkeypatch.setattr(linears, "share_threads", lambda: False)
    network = nn.Sequential(nn.Linear(8, 6, dtype=torch.bfloat16))
    with Linears(network).step():
        assert "forward" not in vars(network[0])


@pytest.mark.parametrize("rows", [6, 20])
def test_a_model_in_half_precision_runs_so_its_head_too(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[int, int]] = []

    def counted(hidden: Tensor, weight: Tensor, bias: Tensor | None, buffer: Tensor) -> Tensor:
        calls.append((weight.shape[0], hidden.shape[-2]))
        return wide_linear(hidden, weight, bias, buffer)

    monkeypatch.setattr(linears, "needs_widening", lambda: True)
    monkeypatch.setattr(linears, "share_threads", lambda: False)
    monkeypatch.setattr(linears, "wide_linear", counted)
    network = tiny_model("llama").bfloat16()
    runner = TransformersRunner(network, CacheOptions(memory=1 << 20))
    calls.clear()
    tokens = list(range(5, 5 + rows))
    found = runner.run([Piece(runner.open()[0], tokens, 5)]).values
    assert len(calls) == 2 * 7 + 1  # the projections of two layers, and the head
    assert calls[-1] == (160, 5)
    with torch.no_grad():
        wanted = tiny_model("llama")(input_ids=torch.tensor([tokens])).logits[0, -5:]
    error = torch.linalg.vector_norm(found - wanted) / torch.linalg.vector_norm(wanted)
    assert error < 0.1


@needs_units
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_model_runs_its_few_rows_in_the_core(dtype: torch.dtype) -> None:
    network = tiny_model("llama")
    network.to(dtype=dtype)
    runner = TransformersRunner(network, CacheOptions(memory=1 << 20))
    tokens = [5, 6, 7, 8, 9, 10]
    found = runner.run([Piece(runner.open()[0], tokens, 6)]).values
    with torch.no_grad():
        wanted = network(input_ids=torch.tensor([tokens])).logits[0]
    bound = 1e-5 if dtype == torch.float32 else 0.05
    assert torch.linalg.vector_norm(found - wanted) / torch.linalg.vector_norm(wanted) < bound
