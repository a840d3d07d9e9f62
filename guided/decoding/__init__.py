"""Models, prompts and the loop that runs one under the other's masks."""

from guided.decoding.loading import load
from guided.decoding.loop import FinishReason, Request, decode
from guided.decoding.model import Model
from guided.decoding.prompts import Messages, Prompt

__all__ = ["FinishReason", "Messages", "Model", "Prompt", "Request", "decode", "load"]
