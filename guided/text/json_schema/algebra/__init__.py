"""Shapes put together: what fits both, one, none, or exactly one of some schemas.

`intersection`, `union`, `negation`, and `exclusion` (this but not that), which for arrays and
objects is done by `rivals`. `emptiness` tells cheaply if nothing is left, and `budget` bounds it
all.
"""
