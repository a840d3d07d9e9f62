"""Bounds on the products of alternatives, so that a schema is refused rather than hangs."""

from __future__ import annotations

# Alternatives of one type that may be left of a product: anyOf beside anyOf multiplies branches.
MAX_ALTERNATIVES = 2_000

# Pairs of alternatives that are looked at for one product, and for a whole document.
MAX_PAIRS = 20_000
MAX_ALL_PAIRS = 200_000


class TooManyError(Exception):
    """Alternatives are too many to be combined; the numbers are those that were."""

    def __init__(self, left: int, right: int) -> None:
        super().__init__(left, right)
        self.fact = f"it combines {left} alternatives with {right}"


class Budget:
    """What a document may still spend."""

    def __init__(self) -> None:
        self._pairs = MAX_ALL_PAIRS

    def spend(self, left: int, right: int) -> None:
        """Pay for the pairs of so many alternatives.

        Raises:
            TooManyError: that is too much.
        """
        pairs = left * right
        self._pairs -= pairs
        if pairs > MAX_PAIRS or self._pairs < 0:
            raise TooManyError(left, right)
