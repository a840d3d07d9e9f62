"""How a token is chosen from the allowed ones."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Options of the choice, applied in this order, with the meaning they have in transformers.

    Args:
        temperature: divides the logits; 0 takes the most likely token (greedy, ties to the lowest
            id). None: 1 if any of the options below is given, else 0.
        top_k: keep the k most likely tokens, and those as likely as the last of them; 0 or None
            keeps all.
        top_p: keep the fewest most likely tokens whose probabilities add up to it; 1 or None keeps
            all.
        min_p: drop tokens less likely than it times the most likely one; 0 or None drops none.
        seed: makes the choice repeatable. None: drawn from torch's own generator, so that
            `torch.manual_seed` rules.

    Probabilities are those among the allowed tokens: a mask comes before all of these.

    Raises:
        ValueError, TypeError: an option is out of its range or no number.
    """

    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        check_number("temperature", self.temperature, 0.0, math.inf)
        check_number("top_p", self.top_p, 0.0, 1.0)
        check_number("min_p", self.min_p, 0.0, 1.0)
        check_count("top_k", self.top_k, 1 << 62)
        check_count("seed", self.seed, (1 << 64) - 1)
        if self.temperature == math.inf:
            raise ValueError("temperature must be a finite number of at least 0, found inf")

    @property
    def effective_temperature(self) -> float:
        """The temperature, with None resolved."""
        if self.temperature is not None:
            return float(self.temperature)
        others = (self.top_k, self.top_p, self.min_p, self.seed)
        return 0.0 if all(option is None for option in others) else 1.0

    @property
    def is_greedy(self) -> bool:
        """Whether the most likely token is taken, without chance."""
        return self.effective_temperature == 0.0


def check_number(name: str, value: object, low: float, high: float) -> None:
    """Raise unless `value` is None or a number in [low, high]."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, found {value!r}")
    if not low <= value <= high:  # false for NaN too
        bounds = f"at least {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
        raise ValueError(f"{name} must be {bounds}, found {value!r}")


def check_count(name: str, value: object, high: int) -> None:
    """Raise unless `value` is None or an int in [0, high]."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, found {value!r}")
    if not 0 <= value <= high:
        raise ValueError(f"{name} must be from 0 to {high}, found {value!r}")
