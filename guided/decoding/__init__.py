"""Models, prompts and the loop that runs one under the other's masks."""

from guided.decoding.job import FinishReason, Job, TokenLogprob
from guided.decoding.loading import load
from guided.decoding.loop import Loop
from guided.decoding.model import Model
from guided.decoding.prompts import Messages, Prompt
from guided.decoding.totals import Totals

__all__ = [
    "FinishReason",
    "Job",
    "Loop",
    "Messages",
    "Model",
    "Prompt",
    "TokenLogprob",
    "Totals",
    "load",
]
