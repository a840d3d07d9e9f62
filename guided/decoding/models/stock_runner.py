"""Models that cannot run on our pages: transformers' own cache, one sequence at a time."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from guided.decoding.models.protocol import Allowed, Logits, Piece, RunnerStats
from guided.decoding.models.self_test import distance, input_device, stock_logits
from guided.errors import GuidedError

_ROOM = 1 << 31  # tokens; these caches grow as they must
_CACHES = ("cache", "past_key_values", "cache_params")  # what models call theirs
_SAME = 0.05  # |ours - stock| / |stock|, above which a way to go on from a cache is not used


@dataclass(slots=True)
class State:
    """One sequence.

    Attributes:
        tokens: what it holds.
        cache: of its first `cached` tokens; None: nothing was run yet, or it must be run again.
    """

    tokens: list[int] = field(default_factory=list)
    cache: Any = None
    cached: int = 0


class StockRunner:
    """A network on its stock forward and cache; see `Runner` for the methods.

    State-space models, and those whose attention is their own, come here. What their caches can do
    differs, so it is tried when the runner is made: several tokens at a time, else one at a time,
    else the whole text for each step. A rollback runs the sequence again, as such caches cannot
    always be cut.

    Args:
        network: in evaluation mode.
    """

    trees = False
    drafts = False

    def __init__(self, network: PreTrainedModel) -> None:
        self._network = network
        self._keeps_logits = "logits_to_keep" in inspect.signature(network.forward).parameters
        self._states: dict[int, State] = {}
        self._next = 0
        self.dtype: torch.dtype = network.dtype
        self.device = input_device(network)
        self._stride: int | None = None  # tokens that go on from a cache at a time; None: any
        self._has_cache = True
        text = [
            (7 * place + 3) % int(network.config.get_text_config().vocab_size) for place in range(7)
        ]
        wanted = stock_logits(network, text)  # (T, V)
        self.width = int(wanted.shape[1])
        self._choose_way(text, wanted)

    def _choose_way(self, text: list[int], wanted: Tensor) -> None:
        """Find out how the network goes on from its cache."""
        for self._has_cache, self._stride in ((True, None), (True, 1), (False, None)):
            state = State()
            try:
                self._append(state, text[:3], 1)
                self._append(state, text[3:5], 1)
                found = self._append(state, text[5:], 2)
            except Exception:  # the next way is tried, and the last one fails where it is used
                continue
            if distance(found, wanted[-2:]) <= _SAME:
                return

    @property
    def context(self) -> int | None:
        """The positions that the model was made for."""
        config = self._network.config.get_text_config(decoder=True)
        length = getattr(config, "max_position_embeddings", None)
        return int(length) if length else None

    def open(self, prompt: Sequence[int] = ()) -> tuple[int, int]:
        """Begin a sequence; nothing is ever found cached."""
        self._next += 1
        self._states[self._next] = State()
        return self._next, 0

    def length(self, sequence: int) -> int:
        """Count the tokens of a sequence."""
        return len(self._states[sequence].tokens)

    def run(self, pieces: Sequence[Piece], allowed: Allowed | None = None) -> Logits:
        """Append rows and return logits, all columns; see `Runner.run`.

        Raises:
            GuidedError: a piece is a tree.
        """
        if any(piece.parents is not None for piece in pieces):
            raise GuidedError("this model runs on its stock cache, which takes no trees of drafts")
        rows = []
        for piece in pieces:
            state = self._states[piece.sequence]
            rows.append(self._append(state, piece.tokens, piece.logits))
        return Logits(torch.cat(rows))

    def keep(self, sequence: int, path: Sequence[int]) -> None:
        """Refuse: there are no trees."""
        raise GuidedError("this model runs on its stock cache, which takes no trees of drafts")

    def rollback(self, sequence: int, count: int) -> None:
        """Drop the last tokens; the others are run again with the next piece."""
        state = self._states[sequence]
        if not 0 <= count <= len(state.tokens):
            raise GuidedError(f"cannot drop {count} tokens: the sequence holds {len(state.tokens)}")
        if count:
            del state.tokens[-count:]
            state.cache, state.cached = None, 0

    def fork(self, sequence: int) -> int:
        """Begin a sequence with a copy of the cache."""
        state = self._states[sequence]
        self._next += 1
        self._states[self._next] = State(
            list(state.tokens), copy.deepcopy(state.cache), state.cached
        )
        return self._next

    def free(self, sequence: int) -> None:
        """Forget a sequence."""
        del self._states[sequence]

    def room(self) -> int:
        """Return a large number: these caches grow as they must."""
        return _ROOM

    def needs(self, pieces: Sequence[Piece]) -> int:
        """Count the new tokens."""
        return sum(len(piece.tokens) for piece in pieces)

    def reset(self) -> None:
        """Forget all sequences."""
        self._states.clear()

    def stats(self) -> RunnerStats:
        """Return nothing: there are no pages."""
        return RunnerStats()

    def _append(self, state: State, tokens: Sequence[int], logits: int) -> Tensor:
        """Run what the cache of a sequence lacks, and new tokens; return their last rows (n, V)."""
        pending = [*state.tokens[state.cached :], *tokens]
        kept: list[Tensor] = []
        begin = 0
        try:
            while begin < len(pending):
                stop = len(pending)
                if state.cache is not None and self._stride is not None:
                    stop = begin + self._stride
                # The rows wanted are the last of all; this part may hold some of them.
                wanted = max(0, stop - max(begin, len(pending) - logits))
                kept.append(self._forward(state, pending[begin:stop], wanted))
                begin = stop
        except BaseException:
            state.cache, state.cached = None, 0
            raise
        state.tokens.extend(tokens)
        state.cached = len(state.tokens) if self._has_cache else 0
        return torch.cat(kept)

    def _forward(self, state: State, tokens: Sequence[int], logits: int) -> Tensor:
        """Run tokens after those in the cache; return their last rows (n, V)."""
        options: dict[str, Any] = {"use_cache": self._has_cache}
        if self._keeps_logits and logits:
            options["logits_to_keep"] = logits
        if state.cache is not None:
            name, cache = state.cache
            options[name] = cache
        with torch.no_grad():
            out = self._network(
                input_ids=torch.tensor([list(tokens)], device=self.device), **options
            )
        if self._has_cache:
            name = next((name for name in _CACHES if getattr(out, name, None) is not None), None)
            if name is None:
                raise GuidedError("the model returns no cache")
            state.cache = (name, getattr(out, name))
        rows: Tensor = out.logits[0]  # (T or n, V)
        return rows[len(rows) - logits :]
