"""Keywords, read into shapes.

`known` lists those of each draft. `keyword_reader` reads those of one schema, each by its handler:
`assertions` constrain one type, `child_schemas` hold schemas for properties and items,
`enumerations` are `enum` and `const`, `combinations` are `anyOf`, `oneOf`, `not`, `if` and their
like.
"""
