"""What is added to the logits of single tokens; an option, so it never changes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping


class LogitBias(Mapping[int, float]):
    """A mapping from tokens to what is added to their logits; it can be hashed and not changed.

    Args:
        biases: token to a finite number, or to minus infinity, which bans the token.

    Raises:
        TypeError, ValueError: a token or a number is not one.

    Attributes:
        banned: the tokens whose bias is minus infinity, ascending.
        finite: the other ones with their biases, ascending.
    """

    __slots__ = ("_biases", "banned", "finite")

    def __init__(self, biases: Mapping[int, float]) -> None:
        if not isinstance(biases, Mapping):
            raise TypeError(
                f"logit_bias must be a mapping from tokens to numbers, found {biases!r}"
            )
        for token, bias in biases.items():
            check_bias(token, bias)
        self._biases = {token: float(biases[token]) for token in sorted(biases)}
        self.banned = tuple(token for token, bias in self._biases.items() if bias == -math.inf)
        self.finite = {token: bias for token, bias in self._biases.items() if bias > -math.inf}

    def __getitem__(self, token: int) -> float:
        return self._biases[token]

    def __iter__(self) -> Iterator[int]:
        return iter(self._biases)

    def __len__(self) -> int:
        return len(self._biases)

    def __hash__(self) -> int:
        return hash(tuple(self._biases.items()))

    def __repr__(self) -> str:
        return repr(self._biases)


def check_bias(token: object, bias: object) -> None:
    """Raise unless this is a token and a finite number or minus infinity."""
    if isinstance(token, bool) or not isinstance(token, int):
        raise TypeError(f"logit_bias must name tokens by their ids, found {token!r}")
    if token < 0:
        raise ValueError(f"logit_bias must name tokens by their ids, found {token}")
    if isinstance(bias, bool) or not isinstance(bias, int | float):
        raise TypeError(f"logit_bias of token {token} must be a number, found {bias!r}")
    if not bias < math.inf:  # true for NaN too
        raise ValueError(
            f"logit_bias of token {token} must be finite, or -inf to ban it, found {bias!r}"
        )
