"""Grammars put together of others: parts, their nodes, what named parts spelled.

From the ground up: `parts` (the tree that callers build), `checks` (of what they give), `writer`
(the tree as nodes of one arena), `program` and `captures` (a finished text read along the tree).
"""

from guided.text.composition.captures import PartCaptures
from guided.text.composition.checks import (
    check_count,
    check_depth,
    check_name,
    check_stops,
    check_unordered,
)
from guided.text.composition.parts import (
    Capture,
    Choice,
    Leaf,
    Part,
    Repeat,
    Sequence,
    Token,
    Unordered,
    Until,
    Verbatim,
    choice,
    literal,
    sequence,
)
from guided.text.composition.writer import refuse_whole_texts, write_part

__all__ = [
    "Capture",
    "Choice",
    "Leaf",
    "Part",
    "PartCaptures",
    "Repeat",
    "Sequence",
    "Token",
    "Unordered",
    "Until",
    "Verbatim",
    "check_count",
    "check_depth",
    "check_name",
    "check_stops",
    "check_unordered",
    "choice",
    "literal",
    "refuse_whole_texts",
    "sequence",
    "write_part",
]
