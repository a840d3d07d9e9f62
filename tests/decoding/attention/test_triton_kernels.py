"""The attention kernels against float64, on a GPU where there is one, else in Triton's interpreter.

The reference takes the inputs as they were rounded. Outputs in float32 have to be within 1e-5 of it
whatever the dtype of the inputs; outputs in 16 bits within their own rounding. All that must not be
read is NaN or the largest number, so that reading it shows.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

pytest.importorskip("triton", reason="Triton is not installed (extra gpu)")

from guided.decoding.attention.kernels.launch import interpreted
from guided.decoding.attention.kernels.tiles import Splits, Tile, choose_tile
from guided.decoding.attention.triton_attention import Workspace, paged_attention
from tests.decoding.attention.paged_case import Case

pytestmark = [
    # Triton's interpreter does this for each scalar of a kernel.
    pytest.mark.filterwarnings("ignore:Conversion of an array with ndim:DeprecationWarning"),
    pytest.mark.skipif(
        not interpreted() and not torch.cuda.is_available(),
        reason="no GPU, and Triton was imported without TRITON_INTERPRET=1",
    ),
]

F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16
INT8, FP8 = torch.int8, torch.uint8
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
TOLERANCE = 1e-5
TREES = [[-1, 0], [-1, -1, 0, 1, 1]]  # for sequences of 2 and 5 new rows


def run(
    case: Case, splits: int = 1, out: torch.dtype = F32, chunk: int | None = None, **tile: Any
) -> Tensor:
    """Run the kernels on a case; the workspace and the output are NaN before."""
    query, pages, rows, rule = case.inputs()
    assert case.value_head is not None
    pairs = rows.most * case.heads // case.kv_heads
    chosen = choose_tile(
        pairs, case.head, case.value_head, query.element_size(), pages.key_scales is not None
    )
    if tile:
        chosen = Tile(**{"pairs": 16, "tokens": 16, "warps": 4, "stages": 2} | tile)
    workspace = Workspace(query.device)
    workspace.memory = torch.full((200_000,), torch.nan, device=query.device)
    shape = (query.shape[0], case.heads, case.value_head)
    output = torch.full(shape, torch.nan, dtype=out, device=query.device)
    cut = Splits(splits, chunk or chosen.tokens)
    paged_attention(
        query, pages, rows, rule, tile=chosen, splits=cut, workspace=workspace, output=output
    )
    return output.cpu()


def check(case: Case, **how: Any) -> None:
    """Hold the result of the kernels to 1e-5 of float64."""
    found, wanted = run(case, **how), case.expected()
    assert float((found.double() - wanted).abs().max()) < TOLERANCE  # False for NaN


@pytest.mark.parametrize("dtype", [F32, F16, BF16], ids=str)
@pytest.mark.parametrize("stored", [None, INT8, FP8], ids=["plain", "int8", "fp8"])
def test_each_dtype_of_query_and_pages(dtype: torch.dtype, stored: torch.dtype | None) -> None:
    case = Case(contexts=[70, 21], new=[1, 3], page=64, dtype=dtype, stored=stored, device=DEVICE)
    check(case)
    check(case, splits=2)


@pytest.mark.parametrize("head", [64, 80, 96, 128, 256])
def test_each_head_size(head: int) -> None:
    case = Case(
        contexts=[19, 40], new=[1, 2], heads=2, kv_heads=1, head=head, dtype=F16, device=DEVICE
    )
    check(case, splits=3)


def test_heads_of_values_may_differ() -> None:
    check(Case(contexts=[40], new=[1], head=48, value_head=24, device=DEVICE), splits=2)
    check(Case(contexts=[40], new=[1], head=24, value_head=80, device=DEVICE))


@pytest.mark.parametrize("page", [16, 32, 64, 128, 100])
def test_each_page_size_and_that_of_a_contiguous_cache(page: int) -> None:
    check(Case(contexts=[1, 133], new=[1, 2], page=page, head=16, device=DEVICE), splits=2)


@pytest.mark.parametrize(("heads", "kv_heads"), [(1, 1), (3, 1), (9, 3), (7, 1), (40, 1)])
def test_each_size_of_a_group(heads: int, kv_heads: int) -> None:
    """Also where the pairs of one row and a group are more than a program takes: 40 heads."""
    case = Case(
        contexts=[5, 33], new=[2, 1], heads=heads, kv_heads=kv_heads, head=16, device=DEVICE
    )
    check(case, splits=2)


def test_a_context_of_one_token_gives_its_value() -> None:
    case = Case(contexts=[1], new=[1], heads=2, kv_heads=2, head=16, device=DEVICE)
    for splits in [1, 3]:
        found = run(case, splits=splits)
        value = case.values[int(case.tables[0, 0]), 0]
        assert torch.equal(found[0], value)


@pytest.mark.parametrize("splits", [2, 18])
def test_splits_that_get_nothing_change_nothing(splits: int) -> None:
    """More splits than tokens of the shorter sequence, and more than the merge takes at a time."""
    case = Case(contexts=[3, 90], new=[1, 1], heads=2, kv_heads=1, head=16, device=DEVICE)
    check(case, splits=splits, tokens=16)


def test_too_few_splits_become_longer() -> None:
    """A captured step has a fixed number of splits, whatever the contexts grow to."""
    check(Case(contexts=[150], new=[1], head=16, device=DEVICE), splits=2, chunk=16, tokens=16)


def test_many_rows_of_one_sequence_take_several_blocks() -> None:
    check(Case(contexts=[30, 64], new=[30, 21], head=16, device=DEVICE), pairs=16)


def test_rows_that_see_nothing_are_zero() -> None:
    case = Case(contexts=[1, 4], new=[1, 1], head=16, sink_logits=True, device=DEVICE)
    case.lengths[0] = 0  # the padding of a captured step
    for splits in [1, 2]:
        found = run(case, splits=splits)
        assert torch.equal(found[0], torch.zeros_like(found[0]))
        assert float((found[1].double() - case.expected()[1]).abs().max()) < TOLERANCE


def test_sequences_with_more_rows_are_left_alone() -> None:
    case = Case(contexts=[20, 33], new=[6, 1], head=16, device=DEVICE)
    for splits in [1, 2]:
        query, pages, rows, rule = case.inputs()
        few = type(rows)(rows.starts, rows.lengths, rows.tables, most=1)
        output = torch.full((7, 4, 16), 7.0, device=query.device)
        paged_attention(
            query,
            pages,
            few,
            rule,
            tile=Tile(16, 16, 4, 2),
            splits=Splits(splits, 16),
            workspace=Workspace(query.device),
            output=output,
        )
        assert (output[:6] == 7.0).all()
        assert float((output[6].cpu().double() - case.expected()[6]).abs().max()) < TOLERANCE


@pytest.mark.parametrize("splits", [1, 3])
@pytest.mark.parametrize("sinks", [0, 4, 20])
@pytest.mark.parametrize("window", [1, 24])
def test_windows_and_sinks_over_pages_that_were_freed(window: int, sinks: int, splits: int) -> None:
    case = Case(
        contexts=[1, 30, 115],
        new=[1, 2, 5],
        head=16,
        window=window,
        sinks=sinks,
        device=DEVICE,
    )
    assert (case.tables[2] == 0).any()
    check(case, splits=splits, tokens=64)  # a tile has pages that are held and that are not


@pytest.mark.parametrize("splits", [1, 3])
@pytest.mark.parametrize("window", [None, 3])
def test_trees_see_what_was_cached_and_their_own_ancestors(window: int | None, splits: int) -> None:
    case = Case(
        contexts=[20, 50],
        new=[2, 5],
        head=16,
        parents=TREES,
        window=window,
        sinks=0 if window is None else 2,
        device=DEVICE,
    )
    check(case, splits=splits, tokens=16)


@pytest.mark.parametrize("splits", [1, 2])
def test_soft_caps_and_sink_logits(splits: int) -> None:
    plain: dict[str, Any] = {"contexts": [3, 40], "new": [1, 2], "head": 32, "device": DEVICE}
    check(Case(**plain, soft_cap=2.0), splits=splits, tokens=16)
    check(Case(**plain, soft_cap=50.0), splits=splits, tokens=16)
    check(Case(**plain, sink_logits=True), splits=splits, tokens=16)
    check(Case(**plain, soft_cap=2.0, sink_logits=True, window=9, sinks=1), splits=splits)


@pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
@pytest.mark.parametrize("splits", [1, 2])
def test_outputs_are_rounded_to_the_nearest(dtype: torch.dtype, splits: int) -> None:
    case = Case(contexts=[9, 40], new=[1, 2], head=16, dtype=dtype, device=DEVICE)
    wanted = case.expected()
    off = (run(case, splits=splits, out=dtype).double() - wanted).abs()
    # Half a unit in the last place, and what the result was off before it was rounded.
    assert (off <= wanted.abs() * torch.finfo(dtype).eps / 2 + TOLERANCE).all()


def test_large_scores_do_not_overflow() -> None:
    case = Case(contexts=[40], new=[1], head=16, sink_logits=True, device=DEVICE)
    case.scale = 1e4
    check(case, splits=2)


def test_all_of_it_at_once() -> None:
    case = Case(
        contexts=[20, 150],
        new=[2, 5],
        heads=6,
        kv_heads=2,
        head=80,
        page=32,
        dtype=BF16,
        stored=FP8,
        window=60,
        sinks=5,
        soft_cap=20.0,
        sink_logits=True,
        parents=TREES,
        device=DEVICE,
    )
    check(case, splits=2)
