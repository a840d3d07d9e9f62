"""Attention on a GPU's path: what goes to the kernels, what to torch, how work is cut."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

pytest.importorskip("triton", reason="Triton is not installed (extra gpu)")

from guided.decoding.attention import reference, triton_attention
from guided.decoding.attention.kernels.launch import interpreted
from guided.decoding.attention.kernels.tiles import Splits, choose_splits, choose_tile, fixed_splits
from guided.decoding.batch import Batch, SequenceRows
from guided.decoding.pages import LayerLayout, LayerPages

# Triton's interpreter does this for each scalar of a kernel.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Conversion of an array with ndim:DeprecationWarning"),
    pytest.mark.skipif(
        not interpreted() and not torch.cuda.is_available(),
        reason="no GPU, and Triton was imported without TRITON_INTERPRET=1",
    ),
]

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
PAGE = 16


def layer(heads: int = 2, size: int = 16, pages: int = 12, **layout: Any) -> LayerPages:
    """Pages that are full of random numbers."""
    made = LayerPages(
        LayerLayout(heads, size, size, layout.pop("dtype", torch.float32), DEVICE, **layout),
        pages,
        PAGE,
    )
    generator = torch.Generator().manual_seed(0)
    numbers = torch.randn(2, pages * PAGE, heads, size, generator=generator).to(DEVICE)
    made.write(torch.arange(pages * PAGE, device=DEVICE), numbers[0], numbers[1])
    return made


def mixed(*, tree: bool = False) -> Batch:
    """A decode row, a chunk of a prompt with more rows than others, and rows to be verified."""
    parents = (-1, -1, 0) if tree else ()
    return Batch(
        [
            SequenceRows([0], 20, [3, 1]),
            SequenceRows([0] * 30, 45, [2, 4, 5]),
            SequenceRows([0] * 3, 50, [6, 10, 8, 9], parents),
        ],
        PAGE,
        DEVICE,
    )


def query_of(batch: Batch, heads: int = 4, size: int = 16) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(batch.size, heads, size, generator=generator).to(DEVICE)


def error(batch: Batch, pages: LayerPages, **options: Any) -> float:
    """Return the largest difference from attention in float64."""
    query = query_of(batch)
    found = triton_attention.attend(pages.rotate(query), pages, batch, scale=0.25, **options)
    on_cpu = LayerPages(
        LayerLayout(
            pages.layout.heads,
            pages.layout.key_size,
            pages.layout.value_size,
            torch.float32,
            torch.device("cpu"),
            pages.layout.kv_dtype,
        ),
        pages.keys.shape[0],
        PAGE,
    )
    for name in ("keys", "values", "key_scales", "value_scales"):
        if (tensor := getattr(on_cpu, name)) is not None:
            tensor.copy_(getattr(pages, name))
    cpu_batch = batch.to(torch.device("cpu"))
    sink_logits = options.pop("sink_logits", None)
    if sink_logits is not None:
        options["sink_logits"] = sink_logits.cpu()
    wanted = reference.attend(query.cpu(), on_cpu, cpu_batch, scale=0.25, **options)
    return float((found.cpu().double() - wanted).abs().max())


@pytest.fixture
def fused_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let torch take sequences of more than 16 rows, so that a test need not be long."""
    monkeypatch.setattr(triton_attention, "FUSED_ROWS", 16)


def calls_of_torch(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the number of rows of each call of torch's fused attention."""
    calls: list[int] = []
    fused = triton_attention.fused

    def counted(query: Tensor, *arguments: Any) -> Tensor:
        calls.append(len(query))
        return fused(query, *arguments)

    monkeypatch.setattr(triton_attention, "fused", counted)
    return calls


@pytest.mark.usefixtures("fused_rows")
@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.parametrize("kv_dtype", [None, "int8", "fp8"])
def test_chunks_of_prompts_go_to_torch_and_all_else_to_the_kernels(
    kv_dtype: Any, tree: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = calls_of_torch(monkeypatch)
    assert error(mixed(tree=tree), layer(kv_dtype=kv_dtype)) < 1e-5
    assert calls == [30]


@pytest.mark.usefixtures("fused_rows")
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"window": 12}, id="window"),
        pytest.param({"window": 12, "sinks": 3}, id="sinks"),
        pytest.param({"soft_cap": 3.0}, id="soft cap"),
        pytest.param({"sink_logits": torch.linspace(-1, 1, 4)}, id="sink logits"),
    ],
)
def test_what_torch_lacks_stays_with_the_kernels(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = calls_of_torch(monkeypatch)
    there = {
        name: value.to(DEVICE) if isinstance(value, Tensor) else value
        for name, value in options.items()
    }
    assert error(mixed(), layer(), **there) < 1e-5
    assert calls == []


@pytest.mark.usefixtures("fused_rows")
def test_a_window_wider_than_the_context_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = calls_of_torch(monkeypatch)
    assert error(mixed(), layer(), window=45) < 1e-5
    assert calls == [30]


@pytest.mark.usefixtures("fused_rows")
def test_a_large_tree_beside_a_chunk_keeps_both_with_the_kernels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = calls_of_torch(monkeypatch)
    batch = Batch(
        [
            SequenceRows([0] * 17, 20, [1, 2], tuple(range(-1, 16))),
            SequenceRows([0] * 20, 20, [3, 4]),
        ],
        PAGE,
        DEVICE,
    )
    assert error(batch, layer()) < 1e-5
    assert calls == []


def test_wide_heads_and_float64_go_to_torch() -> None:
    batch = Batch([SequenceRows([0], 20, [3, 1])], PAGE, DEVICE)
    wide = query_of(batch, heads=2, size=320)
    pages = layer(heads=2, size=320)
    found = triton_attention.attend(wide, pages, batch, scale=0.1)
    wanted = reference.attend(wide.cpu(), pages, batch, scale=0.1) if DEVICE.type == "cpu" else None
    assert wanted is None or float((found.double() - wanted).abs().max()) < 1e-5


def test_layers_of_one_shape_share_a_plan_and_a_workspace() -> None:
    batch = mixed()
    query, pages = query_of(batch), layer()
    plans = [
        triton_attention.plan_of(batch, query, pages, window, 0, True) for window in (None, None, 9)
    ]
    assert plans[0] is plans[1]
    assert plans[0] is not plans[2]
    assert plans[0].workspace is plans[2].workspace


def test_the_query_may_be_a_view() -> None:
    batch = Batch([SequenceRows([0], 20, [3, 1])], PAGE, DEVICE)
    query, pages = query_of(batch), layer()
    columns = query.permute(2, 1, 0).contiguous().permute(2, 1, 0)
    assert columns.stride(2) != 1
    found = triton_attention.attend(columns, pages, batch, scale=0.25)
    assert torch.equal(found, triton_attention.attend(query, pages, batch, scale=0.25))


@pytest.mark.parametrize(
    ("contexts", "count", "chunk"),
    [
        pytest.param([65536], 32, 2048, id="one long context fills 132 multiprocessors twice"),
        pytest.param([1024] * 64, 1, 1024, id="a large batch fills them by itself"),
        pytest.param([200], 1, 200, id="a short context is not worth a merge"),
        pytest.param([0], 1, 1, id="nothing to read"),
    ],
)
def test_splits_fill_the_multiprocessors_once(contexts: list[int], count: int, chunk: int) -> None:
    splits = choose_splits(contexts, programs=8, tokens=64, multiprocessors=132)
    assert splits == Splits(count, -(-chunk // 64) * 64)
    assert splits.count * splits.chunk >= max(contexts)


def test_a_long_context_beside_short_ones_is_split_by_the_work_of_all() -> None:
    splits = choose_splits([131072, *[1024] * 63], programs=8, tokens=64, multiprocessors=132)
    assert 20 < splits.count < 30  # and not 1, as if all were as long
    assert splits.count * splits.chunk >= 131072


def test_a_captured_step_has_splits_for_any_context() -> None:
    assert fixed_splits(1, programs=8, tokens=64, multiprocessors=132) == Splits(33, 128)
    assert fixed_splits(64, programs=8, tokens=64, multiprocessors=132) == Splits(1, 128)


@pytest.mark.parametrize("pairs", [1, 16, 17, 1000])
@pytest.mark.parametrize("itemsize", [2, 4])
@pytest.mark.parametrize("quantized", [False, True])
def test_tiles_are_powers_of_two_that_matrix_units_take(
    pairs: int, itemsize: int, quantized: bool
) -> None:
    for head in (16, 64, 80, 128, 256):
        tile = choose_tile(pairs, head, head, itemsize, quantized)
        for number in (tile.pairs, tile.tokens, tile.warps):
            assert number & (number - 1) == 0
        assert tile.pairs >= 16
        assert tile.tokens >= 16
