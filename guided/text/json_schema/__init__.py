"""JSON Schema to nodes.

The way: `document` (places, references) -> `reader` (keywords) -> `shapes` (the normal form) ->
`algebra` (intersection, union) -> `writer` (values, with `scalars`, `arrays`, `objects`) -> nodes
of the core, starting from the `prelude` of all JSON. `contradictions` and `productivity` find what
nothing fits.
"""

from guided.text.json_schema.compiler import CompiledSchema, compile_schema
from guided.text.json_schema.options import (
    Escapes,
    Formats,
    PropertyOrder,
    Unsupported,
    Whitespace,
    check_options,
)
from guided.text.json_schema.python_types import (
    SchemaLike,
    is_python_type,
    read_value,
    type_adapter,
)

__all__ = [
    "CompiledSchema",
    "Escapes",
    "Formats",
    "PropertyOrder",
    "SchemaLike",
    "Unsupported",
    "Whitespace",
    "check_options",
    "compile_schema",
    "is_python_type",
    "read_value",
    "type_adapter",
]
