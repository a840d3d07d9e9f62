"""Vocabularies of single bytes with some special tokens, and what a grammar makes of texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from guided.grammar import Grammar
from guided.text.tags.markers import split_at_tokens
from guided.vocabulary import Vocabulary


@lru_cache(maxsize=64)
def byte_vocabulary(special: tuple[str, ...] = (), eos: tuple[str, ...] = ("<eos>",)) -> Vocabulary:
    """A token for each byte, then the special ones, then those that end the output."""
    names = list(dict.fromkeys([*special, *eos]))
    ids = {name: 256 + place for place, name in enumerate(names)}
    tokens = [*(bytes([byte]) for byte in range(256)), *([None] * len(names))]
    return Vocabulary.from_tokens(tokens, [ids[name] for name in eos], ids)


def tokens_of(text: str, vocabulary: Vocabulary) -> list[int]:
    """Cut a text as a tokenizer does: special tokens first, then bytes."""
    tokens: list[int] = []
    for part, is_token in split_at_tokens(text, vocabulary.special):
        tokens += [vocabulary.special[part]] if is_token else list(part.encode())
    return tokens


def matches(
    grammar: Grammar, text: str, special: Sequence[str] = (), eos: Sequence[str] = ("<eos>",)
) -> bool:
    """Whether a text fits as a whole; one that has an end token must have it last."""
    vocabulary = byte_vocabulary(tuple(special), tuple(eos))
    matcher = grammar.compile(vocabulary).matcher()
    for token in tokens_of(text, vocabulary):
        if not matcher.can_accept(token):
            return False
        matcher.accept(token)
    return matcher.is_complete or matcher.is_terminated


def is_prefix(grammar: Grammar, text: str, special: Sequence[str] = ()) -> bool:
    """Whether a text can be gone on with."""
    vocabulary = byte_vocabulary(tuple(special))
    matcher = grammar.compile(vocabulary).matcher()
    tokens = tokens_of(text, vocabulary)
    return matcher.accepted_prefix(tokens) == len(tokens)
