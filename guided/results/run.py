"""What `generate`, `stream` and engines share: arguments checked, jobs made and read."""

from __future__ import annotations

from functools import partial

from guided.decoding import Job, Model
from guided.results.constraint import Constraint
from guided.results.result import Result, Statistics
from guided.results.text import MarkedTextReader, read_text
from guided.text.tools.reading import ParsedCalls, gather
from guided.vocabulary import Vocabulary


def check_call(model: object, max_tokens: object) -> None:
    """Raise unless the first argument is a Model and max_tokens a count."""
    check_model(model)
    check_count("max_tokens", max_tokens)


def check_model(model: object) -> None:
    """Raise unless this is a Model."""
    if not isinstance(model, Model):
        raise TypeError(
            f"the first argument is what guided.load returns, found {type(model).__name__};"
            " for a model that is loaded already: guided.load(model, tokenizer)"
        )


def check_count(name: str, value: object) -> None:
    """Raise unless this is an int of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, found {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, found {value}")


def bounded(max_tokens: int, prompt: list[int], context: int | None) -> int:
    """Return how many tokens may be written after a prompt."""
    return max_tokens if context is None else min(max_tokens, context - len(prompt))


def make_result(vocabulary: Vocabulary, job: Job, constraint: Constraint) -> Result:
    """Make the result of a job that has finished."""
    assert job.finish_reason is not None
    timings = job.timings
    statistics = Statistics(
        compile_seconds=timings.compile,
        first_mask_seconds=timings.first_mask,
        mask_seconds=timings.masks,
        masks=timings.mask_count,
        prefill_seconds=timings.prefill,
        decode_seconds=timings.decode,
        forwards=timings.forwards,
        prompt_tokens=len(job.prompt),
        output_tokens=len(job.tokens),
        forced_tokens=job.forced,
        batch=timings.batch,
        queue_seconds=timings.queued,
        first_token_seconds=timings.first_token,
        cached_tokens=timings.cached,
        preemptions=timings.preemptions,
        drafted_tokens=timings.drafted,
        accepted_tokens=timings.accepted,
    )
    parsed = read_turn(vocabulary, job, constraint)
    return Result(
        text=parsed.text,
        tokens=job.tokens,
        finish_reason=job.finish_reason,
        is_complete=job.is_complete,
        stats=statistics,
        read=constraint.reading(parsed.calls),
        find_captures=partial(_captures, vocabulary, job, constraint),
        logprobs=job.logprobs if job.sampler.options.logprobs else None,
        calls=parsed.calls,
        reasoning=parsed.reasoning,
    )


def _captures(vocabulary: Vocabulary, job: Job, constraint: Constraint) -> dict[str, list[str]]:
    """Return what was captured in an output, in which special tokens stand by their names."""
    return constraint.captures(MarkedTextReader(vocabulary, job.healed).read(job.tokens))


def read_turn(vocabulary: Vocabulary, job: Job, constraint: Constraint) -> ParsedCalls:
    """Return text, calls and thoughts of an output; all of it is text where there are no tools."""
    if constraint.tools is None:
        return ParsedCalls(read_text(vocabulary, job.tokens, job.healed))
    parser = constraint.tools.parser()
    events = parser.feed(MarkedTextReader(vocabulary, job.healed).read(job.tokens))
    return gather([*events, *parser.close()], parser.unfinished)
