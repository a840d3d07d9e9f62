"""Models behind one protocol: rows of sequences in, logits out."""

from guided.decoding.models.protocol import (
    Allowed,
    Logits,
    OutOfPages,
    Piece,
    Runner,
    RunnerStats,
)

__all__ = ["Allowed", "Logits", "OutOfPages", "Piece", "Runner", "RunnerStats"]
