"""What the grammar says of a job between two forwards: forced tokens, and the end."""

from __future__ import annotations

from time import perf_counter

from torch import Tensor

from guided.decoding.job import Job
from guided.grammar import Matcher
from guided.masks import allocate_mask
from guided.vocabulary import Vocabulary


def take(job: Job, token: int, vocabulary: Vocabulary) -> None:
    """Accept and write the token that was chosen, and prepare the step after it; or finish."""
    if job.matcher is not None:
        job.matcher.accept(token)
    if token in vocabulary.eos:
        job.finish("stop")
    else:
        job.write([token])
        prepare(job, vocabulary)


def prepare(job: Job, vocabulary: Vocabulary) -> None:
    """Write what the grammar forces, and finish if nothing can follow.

    None of it needs logits, so a text that can only be one costs no forward.
    """
    matcher = job.matcher
    if matcher is not None:
        write_forced(job, matcher)
        is_full = len(job.tokens) >= job.max_tokens
        if matcher.is_complete and (is_full or not matcher.allowed_bytes()):
            mask = fill_one(job, matcher, vocabulary)
            if only_ends(mask, vocabulary):
                job.finish("stop")
                return
    if len(job.tokens) >= job.max_tokens:
        job.finish("length")


def write_forced(job: Job, matcher: Matcher) -> None:
    """Accept and write the tokens that must come, as far as there is room.

    That is where a single token is allowed, and where the grammar leaves a single text up to its
    end: no choice of tokens makes a difference then, so they are those of the tokenizer. Forced
    text in the middle may be written in several ways, and what the model writes after it may hang
    on which; there the forced tokens are but a draft.
    """
    while (room := job.max_tokens - len(job.tokens)) > 0 and len(matcher.allowed_bytes()) == 1:
        if (token := matcher.forced_token()) is not None:
            forced = [token]
        elif is_last(matcher):
            forced = matcher.forced_tokens()[:room]
        else:
            return
        if not forced or forced[0] in matcher.vocabulary.eos:
            return
        matcher.accept_all(forced)
        job.write(forced)
        job.forced += len(forced)


def is_last(matcher: Matcher) -> bool:
    """Whether the text that the grammar forces goes up to its end."""
    rest = matcher.fork()
    rest.accept_bytes(matcher.forced_bytes())
    if not rest.is_complete or rest.allowed_bytes():
        return False
    return set(rest.allowed_tokens()) <= set(matcher.vocabulary.eos)


def fill_one(job: Job, matcher: Matcher, vocabulary: Vocabulary) -> Tensor:
    """Make the mask for the next token, (W,), now and not beside a forward."""
    mask = allocate_mask(1, vocabulary)[0]
    start = perf_counter()
    matcher.fill_mask(mask)
    count_mask(job, perf_counter() - start)
    return mask


def count_mask(job: Job, seconds: float) -> None:
    """Add a mask to the statistics."""
    if job.timings.mask_count == 0:
        job.timings.first_mask = seconds
    job.timings.masks += seconds
    job.timings.mask_count += 1


def only_ends(mask: Tensor, vocabulary: Vocabulary) -> bool:
    """Whether a mask (W,) allows nothing but end tokens."""
    ends: dict[int, int] = {}
    for token in vocabulary.eos:
        ends[token // 32] = ends.get(token // 32, 0) | 1 << token % 32
    words = mask.nonzero().squeeze(1)  # (words with a bit set,), mostly far more than ends
    return len(words) <= len(ends) and all(
        int(mask[word]) & 0xFFFFFFFF & ~ends.get(word, 0) == 0 for word in words.tolist()
    )
