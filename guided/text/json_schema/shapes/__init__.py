"""The normal form that schemas are read into.

`shape` defines it. `children` names what parts must fit, `evaluated` keeps what
`unevaluatedProperties` and `unevaluatedItems` leave alone, and `contradictions` says in words why
nothing fits.
"""
