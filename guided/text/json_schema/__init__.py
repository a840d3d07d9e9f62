"""JSON Schema to nodes.

The way is told in `compiler`: the `Reader` reads a `Document` into shapes, the normal form of
schemas, and the `Writer` writes those as nodes of the core.

From the ground up; each imports from those above it and from none below:

- `options`: what callers choose;
- `document`: places, references and dialects of schemas;
- `shapes`: the normal form;
- `numbers`, `strings`: their shapes as nodes;
- `algebra`: intersection, union and complement of shapes, and whether one is empty;
- `keywords`: what each keyword says of a value;
- `reader`: schemas into shapes;
- `values`: what the values of all types are written with;
- `arrays`, `objects`: their shapes as nodes;
- `writer`: shapes into nodes;
- `python_types`: schemas of Python types;
- `compiler`: the whole way.

Those below the reader and the writer ask them back, for the shapes and the nodes of parts: there
the two come as arguments, and only their types are imported.
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
from guided.text.json_schema.python_types.types import (
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
