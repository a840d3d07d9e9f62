"""Numbers: bounds, multiples, lists and what is excluded, as automata over digits.

`sets` says what can be known of a set of numbers without writing it out, `automata` and
`constraints` follow its digits, `spelling` writes them as JSON does (`exponents` those with an
exponent), and `writer` is what a number shape comes to in all.
"""
