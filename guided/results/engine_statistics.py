"""What an engine has done so far, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

from guided.decoding import Loop


@dataclass(frozen=True, slots=True)
class EngineStatistics:
    """Counts and seconds of an engine since it was made.

    Attributes:
        running, waiting: requests now; those just submitted wait.
        finished, failed, cancelled: requests that are over; late ones count as cancelled.
        prompt_tokens, output_tokens, forced_tokens: of requests that are over.
        cached_tokens: those of their prompts that were found in the cache.
        preemptions: how often pages were taken from a request, so that its tokens ran again.
        steps: runs of the model.
        rows: tokens that were run.
        step_seconds: all steps, from the schedule to the tokens written.
        run_seconds: the model's part of them.
        mask_seconds: filling masks, which happens beside the model.
        mask_wait_seconds: how long the model had to wait for masks.
        first_token_seconds: mean, from the call to the first token written.
        pages, free_pages, shared_pages: of the cache; shared ones serve two requests or more.
        cache_bytes: memory of the cache.
        drafts: by source of guesses, how many tokens were checked and how many accepted.
    """

    running: int
    waiting: int
    finished: int
    failed: int
    cancelled: int
    prompt_tokens: int
    output_tokens: int
    forced_tokens: int
    cached_tokens: int
    preemptions: int
    steps: int
    rows: int
    step_seconds: float
    run_seconds: float
    mask_seconds: float
    mask_wait_seconds: float
    first_token_seconds: float
    pages: int
    free_pages: int
    shared_pages: int
    cache_bytes: int
    drafts: dict[str, tuple[int, int]]

    @property
    def tokens_per_second(self) -> float:
        """Output tokens of requests that are over a second of stepping; 0 if there are none."""
        return self.output_tokens / self.step_seconds if self.step_seconds else 0.0

    def __str__(self) -> str:
        return (
            f"{self.finished} finished, {self.failed} failed, {self.cancelled} cancelled,"
            f" {self.running} running, {self.waiting} waiting; {self.output_tokens} tokens"
            f" ({self.forced_tokens} forced) in {self.steps} steps, {self.step_seconds:.2f} s,"
            f" {self.tokens_per_second:.1f} tokens/s; first token after"
            f" {1e3 * self.first_token_seconds:.0f} ms; masks {1e3 * self.mask_seconds:.1f} ms,"
            f" waited for {1e3 * self.mask_wait_seconds:.1f} ms; {self.cached_tokens} of"
            f" {self.prompt_tokens} prompt tokens cached; {self.free_pages} of {self.pages} pages"
            f" free, {self.preemptions} preemptions"
        )


def engine_statistics(loop: Loop) -> EngineStatistics:
    """Read the counters of a loop; they may move meanwhile."""
    totals, cache, scheduler = loop.totals, loop.runner.stats(), loop.scheduler
    return EngineStatistics(
        running=len(scheduler.running),
        waiting=len(scheduler.waiting) + loop.arriving,
        finished=totals.finished,
        failed=totals.failed,
        cancelled=totals.cancelled,
        prompt_tokens=totals.prompt_tokens,
        output_tokens=totals.output_tokens,
        forced_tokens=totals.forced_tokens,
        cached_tokens=totals.cached_tokens,
        preemptions=totals.preemptions,
        steps=totals.steps,
        rows=totals.rows,
        step_seconds=totals.step_seconds,
        run_seconds=totals.run_seconds,
        mask_seconds=totals.mask_seconds,
        mask_wait_seconds=totals.mask_wait_seconds,
        first_token_seconds=totals.first_token_seconds / max(1, totals.writers),
        pages=cache.pages,
        free_pages=cache.free + cache.cached,
        shared_pages=cache.shared,
        cache_bytes=cache.bytes,
        drafts={
            source: (tally.drafted, tally.accepted)
            for source, tally in list(loop.speculator.tallies.items())
        },
    )
