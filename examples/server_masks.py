"""Masks in a server: a batch under different grammars, filled in threads, sent as row numbers.

    python examples/server_masks.py

Logits are random here, as a model would only make it slower. Two ways to the same logits:

- `fill_masks` writes a mask of the batch, (B, W), in threads and without the GIL;
- `RowMirror` keeps the rows on the device. States recur, so from the second sequence on there is
  little to send but a number for each sequence.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

import guided

GRAMMARS = [
    guided.Grammar.from_regex(r"\d{4}-\d{2}-\d{2}"),
    guided.Grammar.from_choices(["yes", "no", "perhaps"]),
    guided.Grammar.from_json_schema({"type": "array", "items": {"type": "boolean"}, "maxItems": 5}),
    None,  # free text
]


@dataclass
class Slot:
    """One sequence of the batch; no matcher: nothing is forbidden."""

    matcher: guided.Matcher | None
    tokens: list[int] = field(default_factory=list)

    def write(self, token: int) -> None:
        """Go on by one token."""
        self.tokens.append(token)
        if self.matcher is not None and not self.matcher.is_terminated:
            self.matcher.accept(token)


def open_batch(vocabulary: guided.Vocabulary, batch: int) -> list[Slot]:
    """Begin B sequences, each under one of the grammars in turn; automata are shared."""
    grammars = [GRAMMARS[b % len(GRAMMARS)] for b in range(batch)]
    return [
        Slot(None if grammar is None else grammar.compile(vocabulary).matcher())
        for grammar in grammars
    ]


def mask_in_threads(slots: Sequence[Slot], logits: torch.Tensor) -> None:
    """Forbid by a mask of the batch; logits (B, V), in place."""
    bound = [b for b, slot in enumerate(slots) if slot.matcher is not None]
    matchers = [slot.matcher for slot in slots if slot.matcher is not None]
    mask = guided.allocate_mask(len(slots), logits.shape[1])  # (B, W); a server keeps it
    mask.fill_(-1)  # all bits: rows without a matcher forbid nothing
    rows = guided.allocate_mask(len(bound), logits.shape[1])
    guided.fill_masks(matchers, rows)
    mask[bound] = rows
    guided.apply_mask(logits, mask.to(logits.device))


def mask_by_numbers(slots: Sequence[Slot], logits: torch.Tensor, mirror: guided.RowMirror) -> None:
    """Forbid by numbers of rows that are on the device; logits (B, V), in place."""
    numbers = mirror.numbers([slot.matcher for slot in slots])  # (B,), -1 without a matcher
    guided.apply_mask(logits, mirror.rows, numbers=numbers)


def run(vocabulary: guided.Vocabulary, *, batch: int = 64, steps: int = 12) -> guided.RowMirror:
    """Step a batch, masking each way, and check that both forbid the same."""
    generator = torch.Generator().manual_seed(0)
    slots = open_batch(vocabulary, batch)
    mirror = guided.RowMirror(vocabulary, "cpu", rows=256)
    for _ in range(steps):
        logits = torch.randn(batch, vocabulary.size, generator=generator)  # (B, V)
        other = logits.clone()
        mask_in_threads(slots, logits)
        mask_by_numbers(slots, other, mirror)
        if not torch.equal(logits, other):
            raise RuntimeError("the two ways to mask differ")
        for slot, token in zip(slots, logits.argmax(dim=1).tolist(), strict=True):
            slot.write(token)
        slots = [
            slot if slot.matcher is None or not slot.matcher.is_terminated else fresh
            for slot, fresh in zip(slots, open_batch(vocabulary, batch), strict=True)
        ]
    return mirror


def main() -> int:
    """Run on the vocabulary of the default model."""
    vocabulary = guided.load().vocabulary
    mirror = run(vocabulary)
    asked = mirror.hits + mirror.misses
    row = 4 * mirror.rows.shape[1]
    print(f"{asked} rows asked for, {mirror.misses} of them sent: {row} bytes each")
    return 0


if __name__ == "__main__":
    sys.exit(main())
