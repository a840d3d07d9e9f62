"""Attention on a CPU, by the core and by torch, against float64, for all that a batch may mix."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from torch import Tensor

from guided import _core
from guided.decoding.attention import attend, reference, torch_attention
from guided.decoding.attention.core_attention import plan_of
from guided.decoding.attention.spans import spans_of
from guided.decoding.attention.torch_attention import attend_packed
from guided.decoding.batch import Batch, SequenceRows
from guided.decoding.pages import KVDtype, LayerLayout, LayerPages

SIZE = 4  # of a page
CPU = torch.device("cpu")
TREE = (-1, 0, 0, 2, -1)


@pytest.fixture(params=["core", "torch"], autouse=True)
def by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Who attends where both can."""
    name: str = request.param
    if name == "torch":
        monkeypatch.setattr(torch_attention, "plan_of", lambda *arguments: None)
    elif not _core.can_attend(16, 16):
        pytest.skip("this processor has no AVX2, or the core is not for x86")
    return name


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
    count = 64 + sum(map(sum, shapes)) // SIZE
    pages = LayerPages(LayerLayout(heads[1], *sizes, dtype, CPU, kv_dtype), count, SIZE)
    free = list(range(1, count))
    rows = [
        sequence(generator, free, cached, new, tree=new == 5, spread=generator.random() < 0.5)
        for cached, new in shapes
    ]
    slots = torch.arange(SIZE, count * SIZE)  # what nobody owns is filled as well
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


LONG = ((700, 1), (300, 5), (127, 3), (128, 1), (255, 2), (90, 60), (0, 200), (513, 17), (40, 16))


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("kv_dtype", [None, "int8"])
def test_long_sequences_are_cut_and_merged(name: str, kv_dtype: KVDtype | None) -> None:
    options = OPTIONS[name]
    if "window" in options:
        options = {**options, "window": options["window"] * 30}
    query, pages, batch = random_case(13, shapes=LONG, kv_dtype=kv_dtype)
    found = attend(query, pages, batch, scale=0.3, **options)
    wanted = reference.attend(query, pages, batch, scale=0.3, **options)
    torch.testing.assert_close(found.double(), wanted, atol=2e-5, rtol=1e-5)


@pytest.mark.parametrize("name", OPTIONS)
def test_so_are_those_of_few_rows_in_int8(name: str) -> None:
    shapes = ((700, 1), (300, 2), (127, 3), (128, 1), (255, 4), (0, 1))
    query, pages, batch = random_case(18, shapes=shapes, kv_dtype="int8")
    found = attend(query, pages, batch, scale=0.3, **OPTIONS[name])
    wanted = reference.attend(query, pages, batch, scale=0.3, **OPTIONS[name])
    torch.testing.assert_close(found.double(), wanted, atol=2e-5, rtol=1e-5)


def test_what_must_not_be_read_may_be_anything() -> None:
    query, pages, batch = random_case(14, shapes=((130, 1), (9, 5), (0, 21)))
    wanted = reference.attend(query, pages, batch, scale=0.3, window=30, sinks=2)
    read = set()
    for rows in batch.rows:
        low = max(0, rows.cached - 30 + 1)
        for place in [*range(min(2, low)), *range(low, rows.length)]:
            read.add(rows.pages[place // SIZE] * SIZE + place % SIZE)
    unread = [slot for slot in range(len(pages.keys) * SIZE) if slot not in read]
    for numbers in (pages.keys, pages.values):
        numbers.flatten(0, 1)[unread] = torch.nan
    found = attend(query, pages, batch, scale=0.3, window=30, sinks=2)
    torch.testing.assert_close(found.double(), wanted, atol=1e-5, rtol=1e-5)


def test_nan_is_not_hidden() -> None:
    query, pages, batch = random_case(17, shapes=((300, 1), (9, 3), (0, 40)))
    query[2, 1] = torch.nan
    found = attend(query, pages, batch, scale=0.3)
    assert bool(found[2, 1].isnan().all())
    found[2, 1] = 0
    assert bool(found.isfinite().all())


def test_a_row_gets_the_same_bits_whatever_is_beside_it_and_on_any_threads(by: str) -> None:
    if by != "core":
        pytest.skip("torch promises no such thing")
    query, pages, batch = random_case(15, shapes=LONG)
    together = attend(query, pages, batch, scale=0.3)
    threads = torch.get_num_threads()
    torch.set_num_threads(threads % 2 + 1)
    try:
        for start, rows in zip(batch.row_starts, batch.rows, strict=False):
            assert plan_of(query, pages, batch, None, 0) is not None
            stop = start + len(rows.tokens)
            alone = attend(query[start:stop], pages, Batch([rows], SIZE), scale=0.3)
            assert torch.equal(alone, together[start:stop])
            last = SequenceRows([0], rows.length, rows.pages)
            if not rows.parents:
                one = attend(query[stop - 1 : stop], pages, Batch([last], SIZE), scale=0.3)
                assert torch.equal(one[0], together[stop - 1])
    finally:
        torch.set_num_threads(threads)


def test_plans_that_do_not_fit_are_refused() -> None:
    tables = torch.tensor([[1, 2]], dtype=torch.int32)
    address, row = tables.data_ptr(), (0, 0)
    for size, sequence, rows, message in [
        (3, (0, 1, 4, 5, 0, 0), [row], "multiple of 4"),
        (4, (0, 1, 5, 5, 0, 0), [row], "do not fit"),  # cached and new are not the length
        (4, (0, 1, 9, 10, 0, 0), [row], "do not fit"),  # more than its pages hold
        (4, (1, 1, 4, 5, 0, 0), [row], "do not fit"),  # a row that is not there
        (4, (0, 1, 4, 5, 3, 2), [row], "do not fit"),  # more kept than is before the window
        (64, (0, 65, 0, 65, 0, 0), [(0, 1)] * 65, "at most 64 rows"),
    ]:
        with pytest.raises(ValueError, match=message):
            _core.AttentionPlan(size, 0, [sequence], rows, address, 2)


def test_pages_behind_the_end_are_refused(by: str) -> None:
    if by != "core":
        pytest.skip("torch checks its own indices")
    query, pages, batch = random_case(16, shapes=((4, 1),))
    batch.rows[0] = SequenceRows([0], 5, [1, len(pages.keys)])
    with pytest.raises(IndexError, match="page"):
        attend(query, pages, batch, scale=1.0)
