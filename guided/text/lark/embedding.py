"""JSON Schemas within a grammar, to nodes of one arena."""

from __future__ import annotations

import copy
from collections.abc import Mapping

from guided._core import Arena
from guided.text.json_schema.compiler import load_schema
from guided.text.json_schema.document import Document
from guided.text.json_schema.prelude import prelude
from guided.text.json_schema.reader import Reader
from guided.text.json_schema.writer import Writer


def write_schemas(schemas: Mapping[str, str]) -> tuple[Arena, dict[str, int]]:
    """Write schemas into a new arena, and return it with the node of each by its name.

    Raises:
        SchemaError, UnsupportedError, LimitError: a schema is at fault, or cannot be enforced.
    """
    if not schemas:
        return Arena(), {}
    base = prelude("flexible", "minimal")
    nodes = {}
    for name, text in schemas.items():
        document = Document(load_schema(text), registry=None)
        reader = Reader(document, "refuse", formats="assert")
        writer = Writer(reader, base, property_order="schema")
        nodes[name] = writer.write((document.root,))
        reader.release()
        # The next starts from what is there: numbers of nodes stay valid in a copy.
        base = copy.copy(base)
        base.arena = writer.arena
    return base.arena, nodes
