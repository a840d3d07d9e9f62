"""What a loop has done so far, in numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Totals:
    """Sums over all steps and jobs; seconds and counts.

    Attributes:
        steps: forwards.
        step_seconds: all of each step, from the plan to the tokens written.
        run_seconds: of these, the model.
        mask_seconds: filling masks, beside the model.
        mask_wait_seconds: what of it the model had to wait for.
        rows: tokens that were run, those run again among them.
        finished, failed, cancelled: jobs; late ones count as cancelled.
        prompt_tokens, cached_tokens, output_tokens, forced_tokens: of jobs that are over.
        preemptions: how often pages were taken from a job.
        first_token_seconds: sum over the jobs that wrote something.
        writers: how many these are.
    """

    steps: int = 0
    step_seconds: float = 0.0
    run_seconds: float = 0.0
    mask_seconds: float = 0.0
    mask_wait_seconds: float = 0.0
    rows: int = 0
    finished: int = 0
    failed: int = 0
    cancelled: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    forced_tokens: int = 0
    preemptions: int = 0
    first_token_seconds: float = 0.0
    writers: int = 0
