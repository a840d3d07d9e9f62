"""Arrays, written as nodes: by `records` where items are counted or must differ.

`writer` is where to begin. `unique_arrays` and `unique_items` are for `uniqueItems`.
"""
