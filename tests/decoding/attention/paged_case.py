"""Random paged batches, and their attention in float64 by the definition, row by row."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

import torch
from torch import Tensor

from guided.decoding.attention.kernels.launch import Rows, Rule

F64 = torch.float64


@dataclass
class StoredPages:
    """What the kernels want of a layer's pages."""

    keys: Tensor
    values: Tensor
    key_scales: Tensor | None
    value_scales: Tensor | None


@dataclass
class Case:
    """A batch: for each sequence its context (new rows included) and how many rows are new.

    `parents` makes the new rows of all sequences trees: the row before each row, -1 for none.
    `poison` fills all that must not be read with NaN: unused slots, freed pages, page 0.
    """

    contexts: list[int]
    new: list[int]
    heads: int = 4
    kv_heads: int = 2
    head: int = 64
    value_head: int | None = None
    page: int = 16
    dtype: torch.dtype = torch.float32
    stored: torch.dtype | None = None  # int8 or uint8
    window: int | None = None
    sinks: int = 0
    soft_cap: float | None = None
    sink_logits: bool = False
    parents: list[list[int]] | None = None
    device: str = "cpu"
    seed: int = 0
    scale: float = field(init=False)

    def __post_init__(self) -> None:
        self.scale = 1.0 / math.sqrt(self.head)
        self.value_head = self.value_head or self.head
        generator = torch.Generator().manual_seed(self.seed)
        shuffle = random.Random(self.seed)
        page_counts = [-(-context // self.page) for context in self.contexts]
        pool = 1 + sum(page_counts)
        numbers = list(range(1, pool))
        shuffle.shuffle(numbers)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator)

        self.query = normal(sum(self.new), self.heads, self.head).to(self.dtype)
        keys = normal(pool, self.page, self.kv_heads, self.head)
        values = normal(pool, self.page, self.kv_heads, self.value_head)
        self.keys, self.key_scales, self.true_keys = self.store(keys)
        self.values, self.value_scales, self.true_values = self.store(values)
        self.logits = normal(self.heads) if self.sink_logits else None
        self.tables = torch.zeros(len(self.contexts), max([1, *page_counts]), dtype=torch.int32)
        for b, count in enumerate(page_counts):
            self.tables[b, :count] = torch.tensor([numbers.pop() for _ in range(count)])
        self.starts = torch.tensor([0, *self.new]).cumsum(0).int()
        self.lengths = torch.tensor(self.contexts, dtype=torch.int32)
        self.positions, self.visible = self.trees()
        self.poison()

    def store(self, tensor: Tensor) -> tuple[Tensor, Tensor | None, Tensor]:
        """Return what the pages hold, scales, and what that means in float64."""
        if self.stored is None:
            held = tensor.to(self.dtype)
            return held, None, held.to(F64)
        scales = tensor.abs().amax(-1) / (127 if self.stored == torch.int8 else 448)
        scaled = tensor / scales[..., None]
        if self.stored == torch.int8:
            held = scaled.round().to(torch.int8)
            return held, scales, held.to(F64) * scales.to(F64)[..., None]
        small = scaled.to(torch.float8_e4m3fn)
        return small.view(torch.uint8), scales, small.to(F64) * scales.to(F64)[..., None]

    def trees(self) -> tuple[Tensor, Tensor | None]:
        """Return position of each row, and who sees which new row."""
        positions = []
        visible = torch.zeros(sum(self.new), max(self.new), dtype=torch.bool)
        for b, (context, rows) in enumerate(zip(self.contexts, self.new, strict=True)):
            before = context - rows
            parents = list(range(-1, rows - 1)) if self.parents is None else self.parents[b]
            depth: list[int] = []
            for row, parent in enumerate(parents):
                depth.append(0 if parent < 0 else depth[parent] + 1)
                seen = visible[int(self.starts[b]) + row]
                if parent >= 0:
                    seen |= visible[int(self.starts[b]) + parent]
                seen[row] = True
            positions += [before + level for level in depth]
        return torch.tensor(positions), None if self.parents is None else visible

    def poison(self) -> None:
        """Put NaN where nothing is held, and free the pages that have left the windows."""
        worst = torch.nan if self.stored is None else 127  # as e4m3 the bits of 127 are NaN
        held = torch.zeros(self.keys.shape[:2], dtype=torch.bool)
        for b, (context, rows) in enumerate(zip(self.contexts, self.new, strict=True)):
            for j in range(context):
                held[self.tables[b, j // self.page], j % self.page] = True
            if self.window is not None:
                oldest = max(0, context - rows - self.window + 1)
                for i in range(-(-self.sinks // self.page), oldest // self.page):
                    held[self.tables[b, i]] = False
                    self.tables[b, i] = 0
        for tensor in [self.keys, self.values]:
            tensor[~held] = worst
        for scales in [self.key_scales, self.value_scales]:
            if scales is not None:
                scales[~held] = torch.nan

    def inputs(self) -> tuple[Tensor, StoredPages, Rows, Rule]:
        """Return the arguments of `paged_attention`, on the device."""

        def there(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.to(self.device)

        pages = StoredPages(
            self.keys.to(self.device),
            self.values.to(self.device),
            there(self.key_scales),
            there(self.value_scales),
        )
        rows = Rows(
            self.starts.to(self.device),
            self.lengths.to(self.device),
            self.tables.to(self.device),
            max(self.new),
            there(self.positions),
            there(self.visible),
        )
        rule = Rule(self.scale, self.window, self.sinks, self.soft_cap, there(self.logits))
        return self.query.to(self.device), pages, rows, rule

    def sees(self, b: int, row: int, j: int) -> bool:
        """Whether a new row of a sequence sees the token at index j."""
        before = self.contexts[b] - self.new[b]
        own = int(self.starts[b])
        if j < before:
            place, seen = j, True
        elif self.visible is None:
            place, seen = j, j <= before + row
        else:
            place = int(self.positions[own + j - before])
            seen = bool(self.visible[own + row, j - before])
        if self.window is not None:
            seen &= place > int(self.positions[own + row]) - self.window or place < self.sinks
        return seen

    def expected(self) -> Tensor:
        """(T, Hq, Dv) float64."""
        assert self.value_head is not None
        out = torch.zeros(sum(self.new), self.heads, self.value_head, dtype=F64)
        group = self.heads // self.kv_heads
        for b, (context, rows) in enumerate(zip(self.contexts, self.new, strict=True)):
            for row in range(rows):
                seen = [j for j in range(context) if self.sees(b, row, j)]
                at = [(int(self.tables[b, j // self.page]), j % self.page) for j in seen]
                if not at:
                    continue
                token = int(self.starts[b]) + row
                pages, inside = map(torch.tensor, zip(*at, strict=True))
                for head in range(self.heads):
                    k = self.true_keys[pages, inside, head // group]  # (n, D)
                    v = self.true_values[pages, inside, head // group]  # (n, Dv)
                    scores = k @ self.query[token, head].to(F64) * self.scale
                    if self.soft_cap is not None:
                        scores = self.soft_cap * torch.tanh(scores / self.soft_cap)
                    if self.logits is not None:
                        scores = torch.cat([scores, self.logits[head].to(F64)[None]])
                    weights = torch.softmax(scores, 0)[: len(seen)]
                    out[token, head] = weights @ v
        return out
