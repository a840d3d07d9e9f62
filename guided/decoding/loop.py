"""The loop: mask, choose, accept, and one forward for what was chosen and what follows from it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from guided.decoding.forward import Rows
from guided.decoding.model import Model
from guided.grammar import Matcher
from guided.masks import allocate_mask
from guided.sampling import Sampler
from guided.vocabulary import Vocabulary

FinishReason: TypeAlias = Literal["stop", "length"]


@dataclass(slots=True)
class Timings:
    """Seconds and counts of one request; those of a forward are shared by its batch."""

    first_mask: float = 0.0
    masks: float = 0.0
    mask_count: int = 0
    prefill: float = 0.0
    decode: float = 0.0
    forwards: int = 0


@dataclass(slots=True, eq=False)
class Request:
    """One sequence on its way: what was asked, and what has come so far.

    Attributes:
        prompt: tokens, at least one.
        max_tokens: how many tokens may be written, the end token not counted.
        sampler: chooses the tokens.
        matcher: the constraint at its beginning, or None for free text.
        tokens: what was written; end tokens are left out.
        forced: how many of them the grammar forced, so that none was sampled.
        finish_reason: "stop" when the text ended by itself, "length" when it was cut, None before.
        is_complete: whether the text may end where it does; a text that was cut may happen to.
    """

    prompt: list[int]
    max_tokens: int
    sampler: Sampler
    matcher: Matcher | None = None
    tokens: list[int] = field(default_factory=list)
    forced: int = 0
    finish_reason: FinishReason | None = None
    is_complete: bool = False
    timings: Timings = field(default_factory=Timings)
    pending: list[int] = field(default_factory=list)  # not yet seen by the model
    mask: Tensor | None = None  # (W,) for the next token


def decode(model: Model, requests: Sequence[Request]) -> Generator[None, None, None]:
    """Run requests as a batch until all have finished; yields whenever tokens may have come.

    A model whose layers cannot share a padded batch runs the requests one after the other.
    """
    rows = Rows(model.network)
    if len(requests) > 1 and not rows.can_pad:
        for request in requests:
            yield from decode(model, [request])
        return
    for request in requests:
        request.pending = list(request.prompt)
        prepare(request, model.vocabulary)
    yield
    active = [request for request in requests if request.finish_reason is None]
    while active:
        logits = run_forward(rows, active)  # (B, V)
        for request, row in zip(active, logits, strict=True):
            choose(request, row, model.vocabulary)
        yield
        going = [row for row, request in enumerate(active) if request.finish_reason is None]
        if going and len(going) < len(active):
            rows.keep(going)
        active = [active[row] for row in going]


def run_forward(rows: Rows, active: Sequence[Request]) -> Tensor:
    """Show the model what is pending and return the logits that follow, (B, V)."""
    start = perf_counter()
    logits = rows.run([request.pending for request in active])
    if logits.is_cuda:
        torch.cuda.synchronize(logits.device)
    seconds = perf_counter() - start
    for request in active:
        if request.timings.forwards == 0:
            request.timings.prefill = seconds
        else:
            request.timings.decode += seconds
        request.timings.forwards += 1
        request.pending = []
    return logits


def choose(request: Request, logits: Tensor, vocabulary: Vocabulary) -> None:
    """Choose the next token, accept it, and prepare the step after it; logits (V,)."""
    start = perf_counter()
    mask = request.mask
    token = request.sampler.choose(logits, None if mask is None else mask.to(logits.device))
    if request.matcher is not None:
        request.matcher.accept(token)
    if token in vocabulary.eos:
        finish(request, "stop")
    else:
        write(request, [token])
        prepare(request, vocabulary)
    request.timings.decode += perf_counter() - start


def prepare(request: Request, vocabulary: Vocabulary) -> None:
    """Write what the grammar forces, and make the mask for what comes then; or finish.

    All of it needs no logits, so a text that can only end costs no forward.
    """
    if request.matcher is not None:
        write_forced(request, request.matcher)
        make_mask(request, request.matcher, vocabulary)
        if request.is_complete and request.mask is not None and only_ends(request.mask, vocabulary):
            finish(request, "stop")
            return
    if len(request.tokens) >= request.max_tokens:
        finish(request, "length")


def write(request: Request, tokens: Sequence[int]) -> None:
    """Append tokens to the output and to what the model must still see."""
    request.tokens.extend(tokens)
    request.pending.extend(tokens)


def write_forced(request: Request, matcher: Matcher) -> None:
    """Accept and write the tokens that must come, as far as there is room."""
    while (room := request.max_tokens - len(request.tokens)) > 0:
        forced = matcher.forced_tokens()[:room]
        if not forced:
            return
        matcher.accept_all(forced)
        write(request, forced)
        request.forced += len(forced)


def make_mask(request: Request, matcher: Matcher, vocabulary: Vocabulary) -> None:
    """Fill the mask for the next token."""
    if request.mask is None:
        request.mask = allocate_mask(1, vocabulary)[0]  # (W,)
    start = perf_counter()
    matcher.fill_mask(request.mask)
    seconds = perf_counter() - start
    if request.timings.mask_count == 0:
        request.timings.first_mask = seconds
    request.timings.masks += seconds
    request.timings.mask_count += 1
    request.is_complete = matcher.is_complete


def only_ends(mask: Tensor, vocabulary: Vocabulary) -> bool:
    """Whether a mask (W,) allows nothing but end tokens."""
    ends: dict[int, int] = {}
    for token in vocabulary.eos:
        ends[token // 32] = ends.get(token // 32, 0) | 1 << token % 32
    words = mask.nonzero().squeeze(1)  # (words with a bit set,), mostly far more than ends
    return len(words) <= len(ends) and all(
        int(mask[word]) & 0xFFFFFFFF & ~ends.get(word, 0) == 0 for word in words.tolist()
    )


def finish(request: Request, reason: FinishReason) -> None:
    """Note why a request is over."""
    request.finish_reason = reason
    if reason == "stop" or request.matcher is None:
        request.is_complete = reason == "stop"
