"""From what a model wrote to text and calls, piece by piece.

From the ground up: `stream` (characters that come in pieces), `literals` (values of JSON and of
Python, as far as they have come), `call_reader` (one call in each style), `events` (what is told of
a turn), `parser` (a whole turn).
"""

from guided.text.tools.reading.events import (
    CallArguments,
    CallBegan,
    CallFinished,
    Event,
    ParsedCalls,
    TextPiece,
    gather,
)
from guided.text.tools.reading.literals import read_partial_json
from guided.text.tools.reading.parser import CallParser, parse_calls

__all__ = [
    "CallArguments",
    "CallBegan",
    "CallFinished",
    "CallParser",
    "Event",
    "ParsedCalls",
    "TextPiece",
    "gather",
    "parse_calls",
    "read_partial_json",
]
