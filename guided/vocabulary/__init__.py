"""A tokenizer read into a `Vocabulary`: what each token spells, in bytes.

The bytes come from the tables and the components of the tokenizer itself, never from the difference
of two decoded texts: decoding tidies blanks, drops the first one and replaces parts of characters.
"""

from guided.vocabulary.vocabulary import Vocabulary

__all__ = ["Vocabulary"]
