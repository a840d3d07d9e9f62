"""One request on its way through the loop: what was asked, and what has come so far."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from guided.grammar import Matcher
from guided.sampling import Sampler

if TYPE_CHECKING:
    from guided.decoding.drafts import Drafter

FinishReason: TypeAlias = Literal["stop", "length", "timeout", "cancelled"]


@dataclass(slots=True)
class Timings:
    """Seconds and counts of one job; those of a step are shared by all that took part in it.

    Attributes:
        submitted: when it came, by `perf_counter`.
        compile: from the constraint to a matcher.
        queued: until its first forward.
        first_token: until its first token was written.
        first_mask, masks, mask_count: the masks.
        prefill: steps until the first logits.
        decode: steps after them.
        has_logits: whether the first logits have come.
        forwards: runs of the model.
        batch: the most sequences in one of them.
        cached: tokens of the prompt that an earlier sequence had left in the cache.
        preemptions: how often its pages were taken, so that its tokens had to be run again.
        drafted, accepted: tokens that were guessed and checked, and those that the model agreed to.
    """

    submitted: float = field(default_factory=perf_counter)
    compile: float = 0.0
    queued: float = 0.0
    first_token: float = 0.0
    first_mask: float = 0.0
    masks: float = 0.0
    mask_count: int = 0
    prefill: float = 0.0
    decode: float = 0.0
    has_logits: bool = False
    forwards: int = 0
    batch: int = 0
    cached: int = 0
    preemptions: int = 0
    drafted: int = 0
    accepted: int = 0


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """How likely a token of the output was, in natural logarithms, at temperature 1.

    Attributes:
        token: its id.
        logprob: among the tokens that the grammar allowed there.
        model_logprob: among all tokens, as the model has it; None where the grammar left no choice,
            so that the model was not asked.
        allowed: the share of probability, by the model, of all tokens allowed there; None likewise.
    """

    token: int
    logprob: float
    model_logprob: float | None
    allowed: float | None


@dataclass(slots=True, eq=False, weakref_slot=True)
class Job:
    """One sequence: what was asked, and what has come so far.

    Attributes:
        prompt: tokens, at least one.
        max_tokens: how many tokens may be written, the end token not counted.
        sampler: chooses the tokens.
        matcher: the constraint at its beginning, or None for free text.
        compiling: gives the matcher later; until then only the prompt is run.
        priority: the higher goes first; of equals the one that came first.
        deadline: when it is given up, by `perf_counter`.
        wake: called by the loop's thread when something has come, or all of it.
        tokens: what was written; end tokens are left out.
        forced: how many of them the grammar forced, so that none was sampled.
        logprobs: of the tokens, where `Sampling.logprobs` asks for them.
        finish_reason: "stop" when the text ended by itself, "length" when it was cut, "timeout" and
            "cancelled" when it was given up; None before, and if it failed.
        is_complete: whether the text may end where it does; a text that was cut may happen to.
        error: why it failed, or None.
        cancelled: set by anybody to have it given up at the next step.
        drafters: guess its next tokens; none: it writes a token a forward.
        healed: bytes that were taken back from the prompt: the output begins with them.
        taken_back: how many tokens of the prompt they were; so many do not count for `min_tokens`.
        is_free: the matcher holds the output to `healed` alone, so it says nothing about the end.
    """

    prompt: list[int]
    max_tokens: int
    sampler: Sampler
    matcher: Matcher | None = None
    compiling: Future[Matcher | None] | None = None
    priority: int = 0
    deadline: float = math.inf
    wake: Callable[[], None] | None = None
    tokens: list[int] = field(default_factory=list)
    forced: int = 0
    logprobs: list[TokenLogprob] = field(default_factory=list)
    finish_reason: FinishReason | None = None
    is_complete: bool = False
    error: BaseException | None = None
    cancelled: bool = False
    drafters: tuple[Drafter, ...] = ()
    healed: bytes = b""
    taken_back: int = 0
    is_free: bool = False
    timings: Timings = field(default_factory=Timings)
    notes: dict[object, Any] = field(default_factory=dict)  # of drafters, by drafter
    arrival: int = 0  # counted by the loop
    sequence: int | None = None  # of the runner; None while it waits
    seen: int = 0  # tokens of the history that the sequence holds
    history: list[int] = field(init=False)  # prompt and tokens

    def __post_init__(self) -> None:
        self.history = list(self.prompt)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come."""
        return self.finish_reason is not None or self.error is not None

    @property
    def pending(self) -> int:
        """How many tokens the model can be shown now."""
        # Until the grammar is there the last token is held back: its logits would be of no use yet,
        # and what the grammar forces goes into the same forward.
        return len(self.history) - self.seen - (self.compiling is not None)

    @property
    def rank(self) -> tuple[int, int]:
        """The lower goes first."""
        return -self.priority, self.arrival

    def write(self, tokens: list[int]) -> None:
        """Append tokens to the output and to what the model must still see."""
        if not self.tokens and tokens:
            self.timings.first_token = perf_counter() - self.timings.submitted
        self.history.extend(tokens)
        self.tokens.extend(tokens)
        for token in tokens:
            self.sampler.observe(token)
        if self.sampler.options.logprobs:  # as if all were forced; those that were chosen follow
            self.logprobs += [TokenLogprob(token, 0.0, None, None) for token in tokens]

    def finish(self, reason: FinishReason) -> None:
        """Note why it is over."""
        if reason == "stop":
            self.is_complete = True
        elif self.matcher is not None and not self.is_free:
            self.is_complete = self.matcher.is_complete
        self.finish_reason = reason  # last: whoever reads it in another thread may read the rest
