"""What `generate` and `stream` share: from arguments to requests, from requests to results."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from guided.decoding import Model, Prompt, Request
from guided.decoding.prompts import encode
from guided.results.constraint import Constraint
from guided.results.result import Result, Statistics
from guided.results.text import read_text
from guided.sampling import Sampler, Sampling


def check_call(model: object, max_tokens: object) -> None:
    """Raise unless the first argument is a Model and max_tokens a count."""
    if not isinstance(model, Model):
        raise TypeError(
            f"the first argument is what guided.load returns, found {type(model).__name__};"
            " for a model that is loaded already: guided.load(model, tokenizer)"
        )
    if isinstance(max_tokens, bool) or not isinstance(max_tokens, int):
        raise TypeError(f"max_tokens must be an int, found {max_tokens!r}")
    if max_tokens < 1:
        raise ValueError(f"max_tokens must be at least 1, found {max_tokens}")


def make_requests(
    model: Model,
    prompts: Sequence[Prompt],
    constraint: Constraint,
    max_tokens: int,
    sampling: Sampling,
) -> tuple[list[Request], float]:
    """Encode the prompts and compile the constraint, once for all.

    Returns:
        the requests, and the seconds that the compilation took.
    """
    start = perf_counter()
    automaton = None if constraint.grammar is None else constraint.grammar.compile(model.vocabulary)
    seconds = perf_counter() - start if automaton is not None else 0.0
    requests = []
    for index, prompt in enumerate(prompts):
        tokens = encode(model, prompt)
        room = max_tokens if model.context is None else model.context - len(tokens)
        requests.append(
            Request(
                prompt=tokens,
                max_tokens=min(max_tokens, room),
                sampler=Sampler(sampling, index),
                matcher=None if automaton is None else automaton.matcher(),
            )
        )
    return requests, seconds


def make_result(
    model: Model, request: Request, constraint: Constraint, compile_seconds: float, batch: int
) -> Result:
    """Make the result of a request that has finished."""
    assert request.finish_reason is not None
    timings = request.timings
    statistics = Statistics(
        compile_seconds=compile_seconds,
        first_mask_seconds=timings.first_mask,
        mask_seconds=timings.masks,
        masks=timings.mask_count,
        prefill_seconds=timings.prefill,
        decode_seconds=timings.decode,
        forwards=timings.forwards,
        prompt_tokens=len(request.prompt),
        output_tokens=len(request.tokens),
        forced_tokens=request.forced,
        batch=batch,
    )
    return Result(
        text=read_text(model.vocabulary, request.tokens),
        tokens=request.tokens,
        finish_reason=request.finish_reason,
        is_complete=request.is_complete,
        stats=statistics,
        read=constraint.read,
    )
