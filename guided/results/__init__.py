"""What comes out: text, values, statistics; and what wires it all: engines, generate, stream."""

from guided.results.engine import Engine
from guided.results.engine_statistics import EngineStatistics
from guided.results.generate import generate
from guided.results.request import Request
from guided.results.result import Result, Statistics
from guided.results.stream import Stream, stream

__all__ = [
    "Engine",
    "EngineStatistics",
    "Request",
    "Result",
    "Statistics",
    "Stream",
    "generate",
    "stream",
]
