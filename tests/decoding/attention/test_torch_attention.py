"""Attention by torch against float64, row by row, for all that a batch may mix."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from torch import Tensor

from guided.decoding.attention import attend, reference
from guided.decoding.attention.spans import spans_of
from guided.decoding.attention.torch_attention import attend_packed
from guided.decoding.batch import Batch, SequenceRows
from guided.decoding.pages import KVDtype, LayerLayout, LayerPages

SIZE = 4  # of a page
CPU = torch.device("cpu")
TREE = (-1, 0, 0, 2, -1)


def sequence(
    generator: random.Random, free: list[int], cached: int, rows: int, *, tree: bool, spread: bool
) -> SequenceRows:
    """A sequence on neighbouring pages, or on any."""
    length = cached + rows
    count = -(-length // SIZE)
    if spread:
        pages = [free.pop(generator.randrange(len(free))) for _ in range(count)]
    else:
        pages = [free.pop(0) for _ in range(count)]
    return SequenceRows([0] * rows, length, pages, TREE if tree else ())


def random_case(
    seed: int,
    *,
    heads: tuple[int, int] = (6, 2),
    sizes: tuple[int, int] = (16, 16),
    dtype: torch.dtype = torch.float32,
    kv_dtype: KVDtype | None = None,
    shapes: tuple[tuple[int, int], ...] = ((17, 1), (0, 1), (9, 3), (0, 11), (30, 5), (1, 1)),
) -> tuple[Tensor, LayerPages, Batch]:
    """Sequences with (cached tokens, new rows); five rows are a tree."""
    generator = random.Random(seed)
    torch.manual_seed(seed)
    pages = LayerPages(LayerLayout(heads[1], *sizes, dtype, CPU, kv_dtype), 64, SIZE)
    free = list(range(1, 64))
    rows = [
        sequence(generator, free, cached, new, tree=new == 5, spread=generator.random() < 0.5)
        for cached, new in shapes
    ]
    slots = torch.arange(SIZE, 64 * SIZE)  # what nobody owns is filled as well
    pages.write(
        slots,
        torch.randn(len(slots), heads[1], sizes[0]).to(dtype),
        torch.randn(len(slots), heads[1], sizes[1]).to(dtype),
    )
    batch = Batch(rows, SIZE)
    return torch.randn(batch.size, heads[0], sizes[0]).to(dtype), pages, batch


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "window": {"window": 7},
    "window of one": {"window": 1},
    "sinks": {"window": 6, "sinks": 3},
    "wide window": {"window": 1000, "sinks": 2},
    "soft cap": {"soft_cap": 2.0},
    "soft cap and window": {"soft_cap": 2.0, "window": 5},
    "sink logits": {"sink_logits": torch.tensor([0.5, -1.0, 3.0, 0.0, 9.0, -9.0])},
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", OPTIONS)
def test_rows_of_every_kind_see_what_they_should(name: str, seed: int) -> None:
    query, pages, batch = random_case(seed)
    found = attend(query, pages, batch, scale=0.3, **OPTIONS[name])
    wanted = reference.attend(query, pages, batch, scale=0.3, **OPTIONS[name])
    torch.testing.assert_close(found.double(), wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("heads", [(4, 4), (8, 1), (6, 3)])
@pytest.mark.parametrize("sizes", [(8, 8), (24, 16), (16, 40)])
def test_groups_and_head_sizes(heads: tuple[int, int], sizes: tuple[int, int]) -> None:
    query, pages, batch = random_case(7, heads=heads, sizes=sizes)
    found = attend(query, pages, batch, scale=0.25)
    wanted = reference.attend(query, pages, batch, scale=0.25)
    assert found.shape == (batch.size, heads[0], sizes[1])
    torch.testing.assert_close(found.double(), wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", OPTIONS)
def test_half_precision_is_off_by_its_rounding(dtype: torch.dtype, name: str) -> None:
    query, pages, batch = random_case(5, dtype=dtype)
    found = attend(query, pages, batch, scale=0.3, **OPTIONS[name])
    wanted = reference.attend(query, pages, batch, scale=0.3, **OPTIONS[name])
    assert found.dtype == dtype
    bound = 4 * torch.finfo(dtype).eps
    torch.testing.assert_close(found.double(), wanted, atol=bound, rtol=bound)


@pytest.mark.parametrize("kv_dtype", ["int8", "fp8"])
@pytest.mark.parametrize("name", ["plain", "sinks", "soft cap"])
def test_quantized_pages_are_attended_as_they_read_back(kv_dtype: KVDtype, name: str) -> None:
    query, pages, batch = random_case(6, kv_dtype=kv_dtype)
    found = attend(query, pages, batch, scale=0.3, **OPTIONS[name])
    wanted = reference.attend(query, pages, batch, scale=0.3, **OPTIONS[name])
    torch.testing.assert_close(found.double(), wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("rows", [64, 80])
@pytest.mark.parametrize("cached", [0, 13])
@pytest.mark.parametrize("name", ["plain", "window", "sinks", "soft cap"])
def test_long_chunks_are_prefilled_likewise(rows: int, cached: int, name: str) -> None:
    query, pages, batch = random_case(8, shapes=((cached, rows), (3, 1)))
    found = attend(query, pages, batch, scale=0.3, **OPTIONS[name])
    wanted = reference.attend(query, pages, batch, scale=0.3, **OPTIONS[name])
    torch.testing.assert_close(found.double(), wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("shapes", [((0, 1),), ((12, 1),), ((5, 5),), ((0, 9),)])
def test_a_batch_of_one(shapes: tuple[tuple[int, int], ...]) -> None:
    query, pages, batch = random_case(9, shapes=shapes)
    found = attend(query, pages, batch, scale=0.3)
    wanted = reference.attend(query, pages, batch, scale=0.3)
    torch.testing.assert_close(found.double(), wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("shapes", [((20, 1),) * 7, ((3, 1), (40, 1), (0, 1), (25, 1), (9, 1))])
@pytest.mark.parametrize("name", OPTIONS)
def test_many_decoding_sequences(shapes: tuple[tuple[int, int], ...], name: str) -> None:
    query, pages, batch = random_case(10, shapes=shapes)
    found = attend(query, pages, batch, scale=0.3, **OPTIONS[name])
    wanted = reference.attend(query, pages, batch, scale=0.3, **OPTIONS[name])
    torch.testing.assert_close(found.double(), wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["plain", "window", "sinks"])
def test_keys_that_were_gathered_give_the_same(name: str) -> None:
    query, pages, batch = random_case(11)
    options = OPTIONS[name]
    spans = spans_of(batch, options.get("window"), options.get("sinks", 0), torch.float32)
    keys, values = (
        torch.cat(parts, 2) for parts in zip(*(span.read(pages) for span in spans), strict=True)
    )
    found = attend_packed(query, keys, values, batch, scale=0.3, **options)
    wanted = reference.attend(query, pages, batch, scale=0.3, **options)
    torch.testing.assert_close(found.double(), wanted, atol=1e-5, rtol=1e-5)


def test_extreme_scores_give_no_nan() -> None:
    query, pages, batch = random_case(12)
    for name, options in OPTIONS.items():
        found = attend(query * 1e4, pages, batch, scale=10.0, **options)
        assert bool(found.isfinite().all()), name
