"""Tokens that a grammar names: by their text or number, which only a vocabulary can tell."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from guided import _core
from guided.errors import VocabularyError
from guided.text.tags import Marker, NamedToken
from guided.text.tags.markers import write_marker
from guided.vocabulary import Vocabulary

# By the node of a rule that is not yet defined: the text or the number of a token, and whether any
# other token is meant; or a marker, which is a token in some vocabularies and text in others.
NamedTokens = Mapping[int, NamedToken | Marker]


def define_tokens(arena: _core.Arena, tokens: NamedTokens, vocabulary: Vocabulary) -> _core.Arena:
    """Return a copy of `arena` in which the rules of `tokens` are the tokens of a vocabulary.

    Raises:
        VocabularyError: it has no such token, or writes that text by several.
    """
    if not tokens:
        return arena
    defined = arena.clone()
    for rule, meant in tokens.items():
        if isinstance(meant, Marker):
            node = write_marker(defined, meant, vocabulary)
            if isinstance(node, str):
                raise _ends(node)
            defined.define(rule, node)
            continue
        named, negated = meant
        if isinstance(named, str):
            token = token_of(named, vocabulary)
        else:
            token = _numbered(named, vocabulary)
        if token in vocabulary.eos and not negated:
            raise _ends(named)
        defined.define(rule, defined.token([token], negated))
    return defined


def _ends(named: str | int) -> VocabularyError:
    return VocabularyError(
        f"token {named} ends the output, so nothing in a grammar can stand for it",
        mend="leave it out: the end is allowed where the grammar is complete",
    )


def _numbered(number: int, vocabulary: Vocabulary) -> int:
    if number >= vocabulary.size:
        raise VocabularyError(
            f"the vocabulary has no token {number}: it has {vocabulary.size} tokens",
            mend="give the token by its text, or use the tokenizer that the grammar is meant for",
        )
    return number


def token_of(text: str, vocabulary: Vocabulary) -> int:
    """Return the one token that stands for a text: a special one, or one that spells it.

    Raises:
        VocabularyError: there is none, or several.
    """
    if text in vocabulary.special:
        return vocabulary.special[text]
    spelled = text.encode()
    if vocabulary.encode is not None:
        tokens = vocabulary.encode(text)
        if len(tokens) == 1 and vocabulary.token_bytes(tokens[0]) in (None, spelled):
            return tokens[0]
    found = [id_ for id_ in range(vocabulary.size) if vocabulary.token_bytes(id_) == spelled]
    if len(found) == 1:
        return found[0]
    close = difflib.get_close_matches(text, vocabulary.special, 1)
    mend = f'write "{text}" in double quotes for its characters, or give the token by its number'
    raise VocabularyError(
        f"the vocabulary has {len(found) or 'no'} token{'s' if found else ''} {text}",
        mend=f"did you mean {close[0]}? Or {mend}" if close else mend,
    )
