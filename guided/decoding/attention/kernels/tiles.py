"""How the work of attention is cut: the block of one program, and the splits of the context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDEST_HEAD = 256
MOST_PAIRS = 32  # of query row and head of the group, in one program
RESIDENT = 2  # programs at a time on one multiprocessor: what the shared memory of a tile allows
LEAST_CHUNK = 128  # tokens; a smaller split is paid for by merging and not by reading
MOST_SPLITS = 256


@dataclass(frozen=True, slots=True)
class Tile:
    """What one program works on.

    Attributes:
        pairs: pairs of query row and query head, a power of two 16 or 32.
        tokens: tokens of the context at a time, a power of two.
        warps, stages: how Triton runs it; `stages` tiles of K and V are under way at once.
    """

    pairs: int
    tokens: int
    warps: int
    stages: int


def power_above(number: int) -> int:
    """Return the smallest power of two that is not below `number`."""
    return 1 << max(0, number - 1).bit_length()


def choose_tile(pairs: int, head: int, value_head: int, itemsize: int, quantized: bool) -> Tile:
    """Choose the block for so many pairs (query rows times the group) of heads of that size.

    Larger blocks would read pages less often, but would not fit the registers: tests hold that no
    kernel spills.

    Args:
        pairs: of the sequence with the most.
        head, value_head: D and Dv.
            Both are at most WIDEST_HEAD.
        itemsize: bytes of an element of the query.
        quantized: whether pages are int8 or fp8.
    """
    widest = power_above(max(head, value_head))
    if itemsize > 2:
        return Tile(16, 16 if widest > 128 else 32, warps=8, stages=2)
    block = min(MOST_PAIRS, max(16, power_above(pairs)))
    tokens = 32 if widest > 128 or (quantized and block > 16) else 64
    warps = 4 if block == 16 and widest <= 128 and not quantized else 8
    return Tile(block, tokens, warps, stages=3)


@dataclass(frozen=True, slots=True)
class Splits:
    """How the contexts of a batch are split.

    Attributes:
        count: programs side by side for each sequence, KV head and block of rows.
        chunk: the least tokens of a split, a multiple of the tile's.
    """

    count: int
    chunk: int


def choose_splits(
    contexts: Sequence[int], *, programs: int, tokens: int, multiprocessors: int
) -> Splits:
    """Split so that the programs of a batch fill the multiprocessors once.

    A short sequence beside a long one gets fewer splits: chunks are of one size, and where its
    context ends, programs have nothing to do and end at once.

    Args:
        contexts: tokens that each sequence reads.
        programs: KV heads times blocks of rows, for each sequence.
        tokens: of a tile.
        multiprocessors: of the device.
    """
    longest = max(contexts, default=0)
    work = sum(contexts) * programs
    chunk = max(LEAST_CHUNK, work // (RESIDENT * multiprocessors))
    count = min(MOST_SPLITS, max(1, longest // chunk))
    chunk = _rounded(-(-longest // count), tokens)
    return Splits(max(1, -(-longest // chunk)), chunk)


def fixed_splits(sequences: int, *, programs: int, tokens: int, multiprocessors: int) -> Splits:
    """Split for any contexts, as a captured step has to: the kernel then shares them out evenly."""
    count = RESIDENT * multiprocessors // max(1, sequences * programs)
    return Splits(min(MOST_SPLITS, max(1, count)), _rounded(LEAST_CHUNK, tokens))


def _rounded(number: int, multiple: int) -> int:
    return -(-max(1, number) // multiple) * multiple
