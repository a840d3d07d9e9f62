"""Captured decode steps: when they are used, what is compared first, and when they are given up.

Without a GPU nothing is captured: here a graph is the step itself, run again on the same tensors,
which is what a graph does. That CUDA's graphs do so is tested by tests/gpu/run.sh alone.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from guided.decoding.batch import Batch, SequenceRows
from guided.decoding.graphs import StaticBatch, StepGraphs

CPU = torch.device("cpu")
PAGE, PAGES = 4, 3


def step(batch: Batch) -> Tensor:
    """Something of every tensor of a batch, a row each: (T, 6)."""
    columns = [batch.tokens, batch.positions, batch.slots, batch.lengths, batch.starts[1:]]
    weights = torch.arange(1, batch.tables.shape[1] + 1)
    return torch.stack([*columns, (batch.tables * weights).sum(1)], 1).float()


def again(function: Callable[[], Tensor]) -> tuple[Callable[[], None], Tensor]:
    """Stand in for a graph: run the function again, into the same tensor."""
    output = function().clone()

    def replay() -> None:
        output.copy_(function())

    return replay, output


def graphs(
    step_: Callable[[Batch], Tensor] = step,
    capture: Callable[[Callable[[], Tensor]], tuple[Callable[[], None], Tensor]] = again,
) -> StepGraphs:
    return StepGraphs(
        step_, pages=PAGES, page_size=PAGE, device=CPU, buckets=[1, 2, 4], capture=capture
    )


def decode(*lengths: int) -> Batch:
    """A batch of decode rows of sequences with their own pages."""
    rows = []
    for number, length in enumerate(lengths):
        pages = [number * PAGES + 1 + place for place in range(-(-length // PAGE))]
        rows.append(SequenceRows([number + 50], length, pages))
    return Batch(rows, PAGE)


@pytest.mark.parametrize("lengths", [(1,), (7, 2), (5, 9, 1), (4, 3, 2, 12)])
def test_a_captured_step_gives_what_the_step_gives(lengths: tuple[int, ...]) -> None:
    captured = graphs()
    for shift in (0, 1, 0):  # again with other contents, and back
        batch = decode(*[max(1, length - shift) for length in lengths])
        found = captured.run(batch)
        assert found is not None
        assert torch.equal(found, step(batch))
    assert captured.replays == 3
    assert captured.reason is None


def test_rows_of_an_earlier_batch_do_not_stay_behind() -> None:
    static = StaticBatch(3, PAGES, PAGE, CPU)
    static.fill(decode(12, 9, 5))
    static.fill(decode(2))
    for tensor in (static.tokens, static.positions, static.slots, static.lengths, static.tables):
        assert not tensor[1:].any()
    assert static.tables.tolist()[0] == [1, 0, 0]
    assert static.starts.tolist() == [0, 1, 2, 3]


def test_tensors_stay_where_they_are() -> None:
    static = StaticBatch(2, PAGES, PAGE, CPU)
    names = ("tokens", "positions", "slots", "lengths", "tables", "starts")
    before = [getattr(static, name).data_ptr() for name in names]
    static.fill(decode(12, 9))
    assert [getattr(static, name).data_ptr() for name in names] == before


@pytest.mark.parametrize(
    "batch",
    [
        pytest.param(Batch([SequenceRows([1, 2], 2, [1])], PAGE), id="two rows"),
        pytest.param(decode(1, 1, 1, 1, 1), id="more than the largest bucket"),
        pytest.param(decode(13), id="more pages than a table has"),
    ],
)
def test_other_batches_are_left_to_the_caller(batch: Batch) -> None:
    captured = graphs()
    assert captured.run(batch) is None
    assert captured.reason is None


def test_each_bucket_is_captured_once() -> None:
    calls: list[int] = []

    def counted(function: Callable[[], Tensor]) -> tuple[Callable[[], None], Tensor]:
        replay, output = again(function)
        calls.append(len(output))
        return replay, output

    captured = graphs(capture=counted)
    for lengths in [(1,), (2,), (1, 2, 3), (1, 2), (1, 2, 3, 4)]:
        captured.run(decode(*lengths))
    assert calls == [1, 4, 2]


def test_a_number_that_is_baked_in_is_found_before_use() -> None:
    """A step that reads a length on the host is right when it is captured and wrong later."""

    def baked(batch: Batch) -> Tensor:
        return step(batch) + float(batch.rows[0].length)

    captured = graphs(baked)
    with pytest.warns(UserWarning, match="run without CUDA graphs: a captured step of 1 is not"):
        assert captured.run(decode(9)) is None
    assert captured.reason is not None
    assert "its outputs differ by 9, where the largest is" in captured.reason
    assert captured.run(decode(9)) is None  # and no second warning


def test_nan_does_not_pass_the_test() -> None:
    def broken(function: Callable[[], Tensor]) -> tuple[Callable[[], None], Tensor]:
        output = function() * torch.nan
        return lambda: None, output

    captured = graphs(capture=broken)
    with pytest.warns(UserWarning, match="differ by nan"):
        assert captured.run(decode(9)) is None


def test_a_model_that_cannot_be_captured_runs_without() -> None:
    def refuses(function: Callable[[], Tensor]) -> tuple[Callable[[], None], Tensor]:
        raise RuntimeError("operation not permitted when stream is capturing")

    captured = graphs(capture=refuses)
    with pytest.warns(UserWarning, match="could not be captured: operation not permitted"):
        assert captured.run(decode(3)) is None
    assert captured.reason is not None


def test_layers_on_another_device_are_a_reason() -> None:
    def sharded(batch: Batch) -> Tensor:
        return step(batch.to(torch.device("meta")))

    captured = graphs(sharded)
    with pytest.warns(UserWarning, match="layers are on meta and on cpu"):
        assert captured.run(decode(3)) is None


def test_without_cuda_there_are_no_graphs() -> None:
    captured = StepGraphs(step, pages=PAGES, page_size=PAGE, device=CPU)
    assert captured.reason == "the model is on cpu, and graphs are of CUDA"
    assert captured.run(decode(3)) is None
