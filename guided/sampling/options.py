"""How a token is chosen from the allowed ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from guided.sampling.bias import LogitBias


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Options of the choice, with the meaning they have in transformers; see docs/sampling.md.

    The penalties and the bias come first, then what follows `temperature`, in the order below.

    Args:
        temperature: divides the logits; 0 takes the most likely token (greedy, ties to the lowest
            id). None: 1 if `seed` or any of the next four is given, else 0.
        top_k: keep the k most likely tokens, and those as likely as the last of them; 0 or None
            keeps all.
        top_p: keep the fewest most likely tokens whose probabilities add up to it (of equals the
            lowest ids); 1 or None keeps all.
        min_p: drop tokens less likely than it times the most likely one; 0 or None drops none.
        typical_p: keep the fewest tokens whose surprise is nearest to the expected one and whose
            probabilities add up to it, and those as near; 1 or None keeps all.
        seed: makes the choice repeatable. None: drawn from torch's own generator, so that
            `torch.manual_seed` rules.
        logit_bias: tokens to what is added to their logits; minus infinity bans a token.
        repetition_penalty: divides the logits of tokens of the prompt and the output, if positive,
            else multiplies them; above 1 discourages. 1 or None does nothing.
        presence_penalty: subtracted from the logits of tokens of the output. -2 to 2.
        frequency_penalty: subtracted for each time that a token is in the output. -2 to 2.
        min_tokens: no end before so many tokens, unless the grammar allows nothing else.
        logprobs: whether results have the log-probabilities of their tokens.

    Probabilities are those among the allowed tokens: a mask comes before all of these.

    Raises:
        ValueError, TypeError: an option is out of its range or no number.
    """

    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    typical_p: float | None = None
    seed: int | None = None
    logit_bias: Mapping[int, float] | None = None
    repetition_penalty: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    min_tokens: int | None = None
    logprobs: bool = False

    def __post_init__(self) -> None:
        check_number("temperature", self.temperature, 0.0, math.inf)
        check_number("top_p", self.top_p, 0.0, 1.0)
        check_number("min_p", self.min_p, 0.0, 1.0)
        check_number("typical_p", self.typical_p, 0.0, 1.0)
        check_number("repetition_penalty", self.repetition_penalty, 0.0, math.inf)
        check_number("presence_penalty", self.presence_penalty, -2.0, 2.0)
        check_number("frequency_penalty", self.frequency_penalty, -2.0, 2.0)
        check_count("top_k", self.top_k, 1 << 62)
        check_count("seed", self.seed, (1 << 64) - 1)
        check_count("min_tokens", self.min_tokens, 1 << 62)
        if self.temperature == math.inf:
            raise ValueError("temperature must be a finite number of at least 0, found inf")
        if self.repetition_penalty in (0.0, math.inf):
            found = self.repetition_penalty
            raise ValueError(f"repetition_penalty must be finite and above 0, found {found!r}")
        if self.typical_p == 0.0:
            raise ValueError(f"typical_p must be above 0, found {self.typical_p!r}")
        if not isinstance(self.logprobs, bool):
            raise TypeError(f"logprobs must be True or False, found {self.logprobs!r}")
        if self.logit_bias is not None and not isinstance(self.logit_bias, LogitBias):
            object.__setattr__(self, "logit_bias", LogitBias(self.logit_bias))

    @property
    def effective_temperature(self) -> float:
        """The temperature, with None resolved."""
        if self.temperature is not None:
            return float(self.temperature)
        others = (self.top_k, self.top_p, self.min_p, self.typical_p, self.seed)
        return 0.0 if all(option is None for option in others) else 1.0

    @property
    def is_greedy(self) -> bool:
        """Whether the most likely token is taken, without chance."""
        return self.effective_temperature == 0.0

    @property
    def banned(self) -> tuple[int, ...]:
        """The tokens that `logit_bias` bans, ascending."""
        return self.logit_bias.banned if isinstance(self.logit_bias, LogitBias) else ()

    @property
    def finite_biases(self) -> dict[int, float]:
        """The rest of `logit_bias`, ascending."""
        return self.logit_bias.finite if isinstance(self.logit_bias, LogitBias) else {}

    @property
    def changes_logits(self) -> bool:
        """Whether a bias or a penalty is given that does something."""
        penalties = (self.presence_penalty, self.frequency_penalty, self.logit_bias)
        return self.repetition_penalty not in (None, 1.0) or any(penalties)

    def check_length(self, max_tokens: int) -> None:
        """Raise ValueError if the output cannot get as long as `min_tokens` says."""
        if self.min_tokens is not None and self.min_tokens > max_tokens:
            raise ValueError(
                f"min_tokens must be at most max_tokens, {max_tokens}, found {self.min_tokens}"
            )


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
