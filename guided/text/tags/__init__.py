"""Structural tags: free text, and parts between markers that fit grammars of their own.

From the ground up: `occurrences` (texts up to the first of some markers), `markers` (what a
vocabulary may hold as a special token), `transplant` (nodes from one arena to another), `tag` (what
callers give), `writer` (all of it as one node).
"""

from guided.text.tags.markers import LateNodes, Marker, NamedToken
from guided.text.tags.tag import Tag
from guided.text.tags.transplant import transplant
from guided.text.tags.writer import TaggedText, write_tags

__all__ = [
    "LateNodes",
    "Marker",
    "NamedToken",
    "Tag",
    "TaggedText",
    "transplant",
    "write_tags",
]
