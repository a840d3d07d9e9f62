"""Which arguments of a tool may be strings, and which may be something else."""

from __future__ import annotations

from typing import NamedTuple

from guided.errors import GuidedError
from guided.text.json_schema.compiler import load_schema
from guided.text.json_schema.document.document import Document
from guided.text.json_schema.reader import Reader
from guided.text.json_schema.shapes.shape import ANYTHING, is_nothing
from guided.text.tools.tool import Tool


class Kind(NamedTuple):
    """What an argument may be.

    Attributes:
        is_text: it may be a string.
        is_other: it may be another value.
        brackets: those that arrays and objects begin with, if it may be such.
    """

    is_text: bool
    is_other: bool
    brackets: str = ""


TEXT, OTHER = Kind(True, False), Kind(False, True, "[{")
# By the name of an argument.
Kinds = dict[str, Kind]


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
                    brackets = ("[" if rest.arrays else "") + ("{" if rest.objects else "")
                    found[name] = Kind(bool(shape.strings), not is_nothing(rest), brackets)
        reader.release()
    except GuidedError:
        return {}
    return found
