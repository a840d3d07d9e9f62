"""What comes out: text, values, statistics; and `generate` and `stream`, which wire it all."""

from guided.results.generate import generate
from guided.results.result import Result, Statistics
from guided.results.stream import Stream, stream

__all__ = ["Result", "Statistics", "Stream", "generate", "stream"]
