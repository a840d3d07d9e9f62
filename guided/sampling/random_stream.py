"""Random numbers by counting: the n-th number of a seed is known without those before it."""

from __future__ import annotations

WORD = (1 << 32) - 1
MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
KEY_STEPS = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10


class RandomStream:
    """The numbers of one seed, one after the other.

    The kernel that samples on a GPU makes the same numbers from `seed` and `counter`.

    Attributes:
        seed: 64 bits.
        counter: how many numbers were taken.
    """

    __slots__ = ("counter", "seed")

    def __init__(self, seed: int) -> None:
        self.seed = seed % (1 << 64)
        self.counter = 0

    def next(self) -> float:
        """Take the next number: a multiple of 2**-53 in [0, 1)."""
        number = uniform(self.seed, self.counter)
        self.counter += 1
        return number


def uniform(seed: int, counter: int) -> float:
    """Make a number in [0, 1) of 53 bits from a seed and a place in its stream, 64 bits each."""
    key = seed & WORD, seed >> 32
    first, second, _, _ = philox((counter & WORD, counter >> 32, 0, 0), key)
    return ((first >> 5 << 26) + (second >> 6)) / (1 << 53)


def philox(block: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, int, int, int]:
    """Scramble a block of four 32-bit words under a key of two: Philox4x32-10.

    Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
    """
    a, b, c, d = block
    low, high = key
    for _ in range(ROUNDS):
        first, second = MULTIPLIERS[0] * a, MULTIPLIERS[1] * c
        a, b = second >> 32 ^ b ^ low, second & WORD
        c, d = first >> 32 ^ d ^ high, first & WORD
        low, high = (low + KEY_STEPS[0]) & WORD, (high + KEY_STEPS[1]) & WORD
    return a, b, c, d
