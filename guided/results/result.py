"""The result of one generation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any

from guided.decoding import FinishReason, TokenLogprob
from guided.errors import IncompleteError
from guided.text.tools.call import ToolCall


@dataclass(frozen=True, slots=True)
class Statistics:
    """Where the time went; seconds and counts.

    Attributes:
        compile_seconds: from the constraint to a matcher.
        first_mask_seconds: the first mask.
        mask_seconds: all masks together.
        masks: how many.
        prefill_seconds: the steps until the first logits: the prompt, whole or in chunks.
        decode_seconds: the steps after them.
        forwards: runs of the model, the prefill among them.
        prompt_tokens, output_tokens: counts.
        forced_tokens: those of the output that the grammar forced, so that none was sampled.
        batch: the most sequences that shared one of these forwards.
        queue_seconds: from the call to the first forward.
        first_token_seconds: from the call to the first token written.
        cached_tokens: those of the prompt that an earlier call had left in the cache.
        preemptions: how often the cache was too small, so that tokens had to be run again.
        drafted_tokens: those that were guessed and checked by the model.
        accepted_tokens: those of them that the model agreed to.
    """

    compile_seconds: float
    first_mask_seconds: float
    mask_seconds: float
    masks: int
    prefill_seconds: float
    decode_seconds: float
    forwards: int
    prompt_tokens: int
    output_tokens: int
    forced_tokens: int
    batch: int = 1
    queue_seconds: float = 0.0
    first_token_seconds: float = 0.0
    cached_tokens: int = 0
    preemptions: int = 0
    drafted_tokens: int = 0
    accepted_tokens: int = 0

    @property
    def tokens_per_forward(self) -> float:
        """Output tokens for each run of the model; 0 if there are none."""
        return self.output_tokens / self.forwards if self.forwards else 0.0

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.compile_seconds + self.prefill_seconds + self.decode_seconds

    @property
    def seconds_per_token(self) -> float:
        """Mean time of an output token, prefill not counted; 0 if there is none."""
        return self.decode_seconds / self.output_tokens if self.output_tokens else 0.0

    @property
    def tokens_per_second(self) -> float:
        """Output tokens a second, prefill and compilation counted; 0 if there is none."""
        return self.output_tokens / self.seconds if self.output_tokens and self.seconds else 0.0

    def __str__(self) -> str:
        return (
            f"{self.output_tokens} tokens ({self.forced_tokens} forced) in {self.seconds:.2f} s,"
            f" {self.tokens_per_second:.1f} tokens/s, {self.forwards} forwards"
            f" ({self.accepted_tokens} of {self.drafted_tokens} drafted tokens accepted);"
            f" compile {1e3 * self.compile_seconds:.2f} ms,"
            f" first mask {1e6 * self.first_mask_seconds:.0f} us,"
            f" mask {1e6 * self.mask_seconds / max(1, self.masks):.1f} us on average"
        )


@dataclass(frozen=True)
class Result:
    """What a model wrote.

    Attributes:
        text: the output, without end and special tokens; with tools the free text in it, without
            calls and thoughts.
        tokens: its ids, the end token left out; with `heal` the first of them may begin within the
            prompt, which is no part of the text.
        finish_reason: "stop" if the text ended by itself, "length" if it was cut short by
            max_tokens, the model's context or the memory of its cache; for a request to an engine
            also "timeout" or "cancelled".
        is_complete: whether the text fits the constraint as it stands. A text that was cut short
            may happen to, free text that was cut short does not.
        stats: where the time went.
        logprobs: how likely each token was; None unless asked for by `logprobs=True`.
        calls: the calls of tools, in their order; one that was cut short is not among them.
        reasoning: what the model thought first, where it was given tools and does so.
    """

    text: str
    tokens: list[int]
    finish_reason: FinishReason
    is_complete: bool
    stats: Statistics
    read: Callable[[str], Any]
    find_captures: Callable[[], dict[str, list[str]]]
    logprobs: list[TokenLogprob] | None = None
    calls: list[ToolCall] = field(default_factory=list)
    reasoning: str = ""

    @property
    def grammar_mass(self) -> float | None:
        """How much of the model's probability the grammar took away, from 0 to 1.

        The mean over the tokens for which the model was asked. Near 0 the model would have written
        such a text by itself; near 1 it wanted something else, and the prompt should say what is
        expected. None unless asked for by `logprobs=True`, and where the model was never asked.
        """
        if self.logprobs is None:
            return None
        removed = [1.0 - found.allowed for found in self.logprobs if found.allowed is not None]
        return fmean(removed) if removed else None

    @cached_property
    def value(self) -> Any:
        """The value of the text: for a Python type its object, for a schema parsed JSON; else text.

        None if there are calls in the place of an answer that a constraint was given for.

        Raises:
            IncompleteError: the output was cut short and is not complete.
            ValueRejected: a check of the Python type that its schema cannot say refuses the value.
        """
        if not self.is_complete:
            raise IncompleteError(self.text, self.finish_reason)
        return self.read(self.text)

    @cached_property
    def captures(self) -> dict[str, list[str]]:
        """What parts with `capture` spelled, and rules of Lark with that attribute, by name.

        Each name has a list of texts, in the order in which they begin; see `Grammar.captures`.

        Raises:
            IncompleteError: the output was cut short and is not complete.
        """
        if not self.is_complete:
            raise IncompleteError(self.text, self.finish_reason)
        return self.find_captures()

    def __repr__(self) -> str:
        return f"Result({self.text!r}, finish_reason={self.finish_reason!r})"
