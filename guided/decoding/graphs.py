"""Decode steps captured as CUDA graphs, one for each bucket of batch sizes.

A decode step of a small batch is hundreds of short kernels, and launching them takes longer than
running them. A graph is launched once. It fixes addresses and shapes, so a captured step works on
tensors of its own, which are filled before each replay, and a batch is padded to its bucket with
rows that belong to no sequence: they are written to the trash page and see nothing.

A graph that does something else than the step itself would give wrong text without a word. So each
one is tested against the step before it is used, on inputs other than those it was captured with.
Where capture or test fails, steps run as they did before, and `reason` says why.
"""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from guided.decoding.batch import Batch, SequenceRows

BUCKETS = (1, 2, 4, 8, 16, 32, 64)
WARM_UPS = 2  # before capture: libraries choose their kernels in the first calls

Step: TypeAlias = Callable[[Batch], Tensor]
# Runs a function as a graph: gives what replays it, and the tensor that each replay writes.
Capture: TypeAlias = Callable[[Callable[[], Tensor]], tuple[Callable[[], None], Tensor]]


class StaticBatch(Batch):
    """A batch of B decode rows whose tensors stay where they are.

    `memo["static"]` tells attention not to look at the numbers of the rows, which change under it.

    Args:
        size: B.
        pages: N, the most pages of a sequence.
        page_size: S.
        device: of the tensors.
    """

    def __init__(self, size: int, pages: int, page_size: int, device: torch.device) -> None:
        nobody = SequenceRows(tokens=[0], length=0, pages=[0] * pages)
        super().__init__([nobody] * size, page_size, device)
        self.memo["static"] = True
        self.tokens = torch.zeros(size, dtype=torch.int64, device=device)
        self.positions = torch.zeros(size, dtype=torch.int64, device=device)
        self.slots = torch.zeros(size, dtype=torch.int64, device=device)
        self.starts = torch.arange(size + 1, dtype=torch.int32, device=device)
        self.lengths = torch.zeros(size, dtype=torch.int32, device=device)
        self.tables = torch.zeros((size, pages), dtype=torch.int32, device=device)
        self.visible = None
        self.first_slot = None

    def to(self, device: torch.device) -> Batch:
        """Return itself; a model on several devices is not captured."""
        if device != self.device:
            raise RuntimeError(f"layers are on {device} and on {self.device}")
        return self

    def fill(self, batch: Batch) -> None:
        """Take over the rows of a batch of decode rows; what is left over belongs to nobody."""
        count, pages = batch.tables.shape
        self.tokens[:count] = batch.tokens
        self.positions[:count] = batch.positions
        self.slots[:count] = batch.slots
        self.lengths[:count] = batch.lengths
        self.tables[:count, :pages] = batch.tables
        self.tables[:count, pages:] = 0
        self.tokens[count:] = 0
        self.positions[count:] = 0
        self.slots[count:] = 0
        self.lengths[count:] = 0
        self.tables[count:] = 0


@dataclass(frozen=True, slots=True)
class Captured:
    """A graph and its tensors."""

    batch: StaticBatch
    replay: Callable[[], None]
    output: Tensor


class StepGraphs:
    """The graphs of one model and cache. Not to be used by two threads at once.

    Attributes:
        reason: why no graphs are used; None while they are.
        replays: how many steps were graphs.

    Args:
        step: runs a batch and writes its keys and values; gives (T, ...), a row for each row. It
            must give the same when it is run twice on one batch.
        pages: N, the most pages of a sequence; longer ones run without a graph.
        page_size: S.
        device: where the model is.
        buckets: batch sizes, ascending.
        capture: how a function becomes a graph; None: by CUDA.
        tolerance: the most by which the self-test may be off, relative to the largest output. Graph
            and step run the same kernels, but for how contexts are split.
    """

    def __init__(
        self,
        step: Step,
        *,
        pages: int,
        page_size: int,
        device: torch.device,
        buckets: Sequence[int] = BUCKETS,
        capture: Capture | None = None,
        tolerance: float = 0.02,
    ) -> None:
        self.step = step
        self.pages = pages
        self.page_size = page_size
        self.device = device
        self.buckets = list(buckets)
        self.tolerance = tolerance
        self.replays = 0
        self.reason: str | None = None
        self._captured: dict[int, Captured] = {}
        self._capture = capture or capture_cuda
        if capture is None and device.type != "cuda":
            self.reason = f"the model is on {device}, and graphs are of CUDA"

    def run(self, batch: Batch) -> Tensor | None:
        """Run a step as a graph, or return None where the caller has to run it.

        Returns:
            (T, ...), valid until the next call; None for batches that are not of decode rows only,
            are larger than the largest bucket or longer than `pages`, and after a failure.
        """
        if self.reason is not None or not self.suits(batch):
            return None
        bucket = self.buckets[bisect_left(self.buckets, batch.size)]
        if bucket not in self._captured:
            try:
                self._captured[bucket] = self._make(bucket, batch)
            except Exception as error:  # whatever a model does under capture: it runs without
                self._give_up(f"a step of {bucket} could not be captured: {error}")
                return None
            if (off := self._test(self._captured[bucket], batch)) is not None:
                self._give_up(f"a captured step of {bucket} is not the step itself: {off}")
                return None
        found = self._captured[bucket]
        found.batch.fill(batch)
        found.replay()
        self.replays += 1
        return found.output[: batch.size]

    def suits(self, batch: Batch) -> bool:
        """Whether a batch is one that graphs are made for."""
        return (
            batch.most_rows == 1
            and batch.size <= self.buckets[-1]
            and max(len(rows.pages) for rows in batch.rows) <= self.pages
            and batch.visible is None
        )

    def _make(self, bucket: int, batch: Batch) -> Captured:
        """Capture a step whose rows belong to nobody."""
        static = StaticBatch(bucket, self.pages, self.page_size, self.device)
        replay, output = self._capture(lambda: self.step(static))
        return Captured(static, replay, output)

    def _test(self, captured: Captured, batch: Batch) -> str | None:
        """Compare a graph with the step, on a batch; return by how much it is off, or None."""
        wanted = self.step(batch)
        captured.batch.fill(batch)
        captured.replay()
        found = captured.output[: batch.size]
        if found.shape != wanted.shape:
            return f"it gives {tuple(found.shape)}, and {tuple(wanted.shape)} is wanted"
        largest = float(wanted.abs().max())
        error = float((found.float() - wanted.float()).abs().max())
        if error <= self.tolerance * largest:  # False for NaN
            return None
        return f"its outputs differ by {error:.3g}, where the largest is {largest:.3g}"

    def _give_up(self, reason: str) -> None:
        self.reason = reason
        self._captured.clear()
        warnings.warn(f"decode steps run without CUDA graphs: {reason}", stacklevel=3)


def capture_cuda(function: Callable[[], Tensor]) -> tuple[Callable[[], None], Tensor]:
    """Capture what a function launches as a CUDA graph, after warming up on a side stream."""
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # torch has no types here
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(WARM_UPS):
            function()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = function()
    return graph.replay, output
