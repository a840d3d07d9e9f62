"""Which arguments of a tool may be strings, and which may be something else."""

from __future__ import annotations

from guided.errors import GuidedError
from guided.text.json_schema.compiler import load_schema
from guided.text.json_schema.document.document import Document
from guided.text.json_schema.reader import Reader
from guided.text.json_schema.shapes.shape import ANYTHING, is_nothing
from guided.text.tools.tool import Tool

# By the name of an argument: whether it may be a string, and whether it may be another value.
Kinds = dict[str, tuple[bool, bool]]


def kinds_of(tool: Tool) -> Kinds:
    """Return what the arguments of a tool may be; {} if its schema cannot be read."""
    try:
        document = Document(load_schema(tool.closed_parameters), registry=None)
        reader = Reader(document, "ignore", formats="annotate")
        found: Kinds = {}
        for one in reader.shape(reader.resolve((document.root,))).objects:
            for group in one.groups:
                for name, child in group.properties.items():
                    shape = reader.shape(reader.resolve(child)) if child else ANYTHING
                    rest = shape._replace(strings=())
                    found[name] = (bool(shape.strings), not is_nothing(rest))
        reader.release()
    except GuidedError:
        return {}
    return found
