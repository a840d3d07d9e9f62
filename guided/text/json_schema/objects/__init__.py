"""Objects, written as nodes.

`writer` is where to begin; it writes those of which only names and all other keys are spoken of.
`constrained` writes the others: it sorts their keys (`sorted_keys`, `key_cells`), counts what some
member must fit (`forced_members`, `redundant_obligations`), and ends in `nodes` as well.
"""
