"""A GGUF file behind the runner protocol, by llama.cpp's own cache and kernels.

One buffer of cells holds the tokens of all sequences, a cell a token. llama.cpp notes for each cell
which sequences hold it, so that a fork and a shared beginning cost no memory, and it computes
logits only for the rows that ask for them. Its grammars and samplers are not used.

Three kinds of cache behave in three ways:
- full attention: as above;
- layers with a sliding window: llama.cpp writes over cells that have left the window, but never
  over one that two sequences hold. So each sequence of ours is two of llama.cpp's, and a rollback
  finds everything as it was;
- layers with a state of the whole past: a sequence can be forgotten as a whole only. What is left
  after a rollback is run again with the next rows.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

import torch
from torch import Tensor

from guided.decoding.models.llama_cpp.cells import Cells
from guided.decoding.models.llama_cpp.context import LlamaContext
from guided.decoding.models.llama_cpp.network import LlamaCppNetwork
from guided.decoding.models.llama_cpp.sizes import cache_dtype, check_sequences, count_cells
from guided.decoding.models.protocol import Allowed, Logits, OutOfPages, Piece, RunnerStats
from guided.errors import GuidedError

SEQUENCES = 64  # at a time; each takes a row of logits of memory, or a state, which is megabytes
CHUNK = 64  # tokens that are compared at a time


@dataclass(slots=True, eq=False)
class LlamaSequence:
    """One sequence.

    Attributes:
        ids: of llama.cpp's sequences that hold it.
        tokens: all that it holds.
        cells: of the first of its tokens; the others must be run again before anything follows.
        last: how many tokens were appended last.
    """

    ids: list[int]
    tokens: list[int] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    last: int = 0

    @property
    def missing(self) -> list[int]:
        """The tokens that llama.cpp has forgotten."""
        return self.tokens[len(self.cells) :]


class LlamaCppRunner:
    """Runs a GGUF file; see `Runner` for the methods. A page is a single token here.

    Sequences that were freed stay in the cache, the one freed longest ago goes first, until their
    room is needed: a prompt that begins as one of them did, to any length, finds that cached.

    Args:
        network: the loaded file.
        memory: bytes for keys and values. None: what two whole contexts take, at most 1 GiB.
        kv_dtype: "int8" keeps keys and values in half the memory; None: float16.
        sequences: the most at a time.
        threads: of a forward. None: as many as torch uses.

    Raises:
        LimitError: the memory does not suffice for anything.
        GuidedError: llama.cpp cannot hold so many sequences, or makes no cache.
        UnsupportedError: another `kv_dtype`.
    """

    trees = False

    def __init__(
        self,
        network: LlamaCppNetwork,
        *,
        memory: int | None = None,
        kv_dtype: str | None = None,
        sequences: int = SEQUENCES,
        threads: int | None = None,
    ) -> None:
        shape = network.cache_shape()
        name, size = cache_dtype(kv_dtype)
        self._token_bytes = shape.numbers * size
        self._network = network
        self._is_recurrent = shape.is_recurrent
        self._copies = 2 if shape.window and not shape.is_recurrent else 1
        self._total = count_cells(self._token_bytes, network.context, memory)
        self._ids = sequences * self._copies
        most = network.llama.llama_max_parallel_sequences()
        check_sequences(sequences, most // self._copies)
        self._context = LlamaContext(
            network,
            tokens=self._total,
            ids=self._ids,
            copies=self._copies,
            dtype=name,
            threads=threads or torch.get_num_threads(),
        )
        self._handles = 0
        self._forget_all()

    @property
    def width(self) -> int:
        """V, the width of the logits."""
        return self._network.width

    @property
    def drafts(self) -> bool:
        """Whether llama.cpp can drop the last tokens of a sequence."""
        return not self._is_recurrent

    @property
    def context(self) -> int | None:
        """The most positions that the model was trained for."""
        return self._network.context

    @property
    def device(self) -> torch.device:
        """Of the logits: the CPU."""
        return self._network.device

    @property
    def dtype(self) -> torch.dtype:
        """Of the logits: float32."""
        return self._network.dtype

    def open(self, prompt: Sequence[int] = ()) -> tuple[int, int]:
        """Begin a sequence; see `Runner.open`.

        Raises:
            GuidedError: llama.cpp has no more sequences.
        """
        prompt = list(prompt)
        sequence = LlamaSequence(self._take_ids())
        donor, count = self._find_beginning(prompt)
        if donor is not None:
            self._copy(donor, sequence, count)
        self._hits += count
        self._misses += len(prompt) - count
        return self._add(sequence), count

    def length(self, sequence: int) -> int:
        """Count the tokens that a sequence holds."""
        return len(self._sequences[sequence].tokens)

    def run(self, pieces: Sequence[Piece], allowed: Allowed | None = None) -> Logits:
        """Append each piece to its sequence; see `Runner.run`. All columns are computed.

        Raises:
            OutOfPages: there is no room; nothing has changed.
            GuidedError: llama.cpp fails; nothing has changed.
        """
        for piece in pieces:
            check_piece(piece, self.width)
        needed = self.needs(pieces)
        if needed > self.room():
            raise OutOfPages(needed, self.room())
        while self._cells.free < needed:
            self._evict()
        sequences = [self._sequences[piece.sequence] for piece in pieces]
        before = [(len(sequence.tokens), len(sequence.cells)) for sequence in sequences]
        try:
            values = self._run(pieces)  # (R, V)
        except BaseException:
            for sequence, (tokens, cells) in zip(sequences, before, strict=True):
                del sequence.tokens[tokens:]
                self._drop_cells(sequence, cells)
            raise
        finally:
            self._context.rows.clear()
        return Logits(values)

    def keep(self, sequence: int, path: Sequence[int]) -> None:
        """Keep the first rows of the last piece; see `Runner.keep`. Pieces are chains here."""
        if list(path) != list(range(len(path))):
            raise ValueError(f"the last piece was a chain; {list(path)} is no beginning of it")
        last = self._sequences[sequence].last
        if len(path) > last:
            raise ValueError(f"the last piece had {last} tokens, found a path of {len(path)}")
        self.rollback(sequence, last - len(path))

    def rollback(self, sequence: int, count: int) -> None:
        """Drop the last `count` tokens of a sequence."""
        held = self._sequences[sequence]
        if not 0 <= count <= len(held.tokens):
            raise ValueError(f"the sequence holds {len(held.tokens)} tokens, not {count}")
        self._cut(held, len(held.tokens) - count)

    def fork(self, sequence: int) -> int:
        """Begin a sequence that holds the same tokens, in the same cells."""
        source = self._sequences[sequence]
        target = LlamaSequence(self._take_ids())
        self._copy(source, target, len(source.cells))
        target.tokens = list(source.tokens)
        target.last = source.last
        return self._add(target)

    def free(self, sequence: int) -> None:
        """Forget a sequence; its beginning may still serve a later prompt."""
        held = self._sequences.pop(sequence)
        del held.tokens[len(held.cells) :]
        self._cells.retire(held.cells)
        self._idle[sequence] = held

    def room(self) -> int:
        """Count the tokens that fit now."""
        return self._cells.room

    def needs(self, pieces: Sequence[Piece]) -> int:
        """Count the tokens of room that `run` would take for these pieces."""
        return sum(
            len(piece.tokens) + len(self._sequences[piece.sequence].missing) for piece in pieces
        )

    def reset(self) -> None:
        """Forget all sequences and all that is cached."""
        self._context.clear()
        self._forget_all()

    def stats(self) -> RunnerStats:
        """Return the state of the cache; pages are tokens."""
        return RunnerStats(
            pages=self._total,
            free=self._cells.free,
            cached=self._cells.room - self._cells.free,
            shared=self._cells.shared,
            page_size=1,
            bytes=round(self._total * self._token_bytes),
            hits=self._hits,
            misses=self._misses,
        )

    def _forget_all(self) -> None:
        """Begin with an empty cache."""
        self._cells = Cells(self._total)
        self._sequences: dict[int, LlamaSequence] = {}
        self._idle: OrderedDict[int, LlamaSequence] = OrderedDict()  # freed, the oldest first
        self._free_ids = list(range(self._ids - 1, -1, -1))
        self._hits = self._misses = 0

    def _add(self, sequence: LlamaSequence) -> int:
        """Give a sequence its handle."""
        self._handles += 1
        self._sequences[self._handles] = sequence
        return self._handles

    def _take_ids(self) -> list[int]:
        """Take llama.cpp's sequences for one of ours."""
        while len(self._free_ids) < self._copies:
            if not self._idle:
                raise GuidedError(
                    f"llama.cpp holds no more than {self._ids // self._copies} sequences of"
                    f" {self._network.path.name} at a time",
                    mend="lower max_batch",
                )
            self._evict()
        return [self._free_ids.pop() for _ in range(self._copies)]

    def _evict(self) -> None:
        """Forget the sequence that was freed longest ago."""
        _, sequence = self._idle.popitem(last=False)
        self._context.forget(sequence.ids)
        self._cells.drop(sequence.cells)
        self._free_ids += sequence.ids

    def _find_beginning(self, prompt: list[int]) -> tuple[LlamaSequence | None, int]:
        """Find the sequence that shares most with a prompt, and how many tokens that is."""
        best, most = None, 0
        for handle, sequence in chain(self._sequences.items(), self._idle.items()):
            count = common_length(sequence.tokens, prompt)
            count = min(count, len(sequence.cells), len(prompt) - 1)
            if self._is_recurrent and count < len(sequence.tokens):
                continue  # its state is that of all its tokens
            if count > most:
                best, most, used = sequence, count, handle
        if best is not None and used in self._idle:
            self._idle.move_to_end(used)
        return best, most

    def _copy(self, source: LlamaSequence, target: LlamaSequence, count: int) -> None:
        """Let an empty sequence hold the first `count` cells of another."""
        if count:
            self._context.copy(source.ids, target.ids, count)
        target.tokens = source.tokens[:count]
        target.cells = source.cells[:count]
        self._cells.share(target.cells)

    def _cut(self, sequence: LlamaSequence, length: int) -> None:
        """Drop all tokens of a sequence after the first `length`."""
        del sequence.tokens[length:]
        sequence.last = 0
        if len(sequence.cells) > length:
            self._drop_cells(sequence, length)

    def _drop_cells(self, sequence: LlamaSequence, length: int) -> None:
        """Have llama.cpp forget the tokens of a sequence after the first `length`, or all."""
        if not self._context.forget(sequence.ids, length):  # then all of it is run again later
            length = 0
            self._context.forget(sequence.ids)
        gone = sequence.cells[length:]
        del sequence.cells[length:]
        self._cells.retire(gone)
        self._cells.drop(gone)

    def _run(self, pieces: Sequence[Piece]) -> Tensor:
        """Run the rows of all pieces, in as many calls of llama.cpp as they need; (R, V)."""
        values = torch.empty((sum(piece.logits for piece in pieces), self.width))  # (R, V)
        done = 0
        for piece in pieces:
            sequence = self._sequences[piece.sequence]
            tokens = [*sequence.missing, *piece.tokens]
            sequence.tokens.extend(piece.tokens)
            sequence.last = len(piece.tokens)
            while tokens:
                if self._context.is_full:
                    done += self._context.run(values[done:])
                count, outputs = self._context.fitting(len(tokens), piece.logits)
                self._context.rows.add(sequence.ids, len(sequence.cells), tokens[:count], outputs)
                sequence.cells += self._cells.take(count)
                tokens = tokens[count:]
        done += self._context.run(values[done:])
        assert done == len(values)
        return values


def check_piece(piece: Piece, width: int) -> None:
    """Raise unless llama.cpp can run this piece."""
    if not piece.tokens or not 0 <= piece.logits <= len(piece.tokens):
        raise ValueError(
            f"a piece has at least one token and logits for some of them, found {piece}"
        )
    if min(piece.tokens) < 0 or max(piece.tokens) >= width:
        raise ValueError(f"tokens are from 0 to {width - 1}, found {list(piece.tokens)}")
    if piece.parents is not None and list(piece.parents) != list(range(-1, len(piece.tokens) - 1)):
        raise ValueError("pieces are chains here, as `trees` says; found parents of a tree")


def common_length(first: list[int], second: list[int]) -> int:
    """Count the tokens that two lists begin with in common."""
    most = min(len(first), len(second))
    start = 0
    while start < most and first[start : start + CHUNK] == second[start : start + CHUNK]:
        start += CHUNK
    while start < most and first[start] == second[start]:
        start += 1
    return min(start, most)
