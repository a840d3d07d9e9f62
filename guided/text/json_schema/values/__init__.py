"""What values are written with, as nodes of the core.

`any_json` is JSON that nothing constrains, `layout` its white space and brackets. `scalars` writes
strings and numbers. For arrays and objects alike, `obligations` counts members that must fit
something, and `productivity` finds recursion that never ends.
"""
