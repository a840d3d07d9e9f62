"""JSON Schema to nodes.

The way: `document` (places, references) -> `reader` (keywords) -> `shapes` (the normal form) ->
`algebra` (intersection, union) -> `writer` (values, with `scalars`, `arrays`, `objects`) -> nodes
of the core, starting from the `prelude` of all JSON. `contradictions` and `productivity` find what
nothing fits.
"""

from guided.text.json_schema.compiler import CompiledSchema, compile_schema

__all__ = ["CompiledSchema", "compile_schema"]
