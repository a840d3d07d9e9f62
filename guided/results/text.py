"""Tokens to text, whole characters only."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from guided.vocabulary import Vocabulary


class TextReader:
    """Turns the tokens of one output into text, piece by piece.

    A token may end inside a UTF-8 character: its bytes wait for the rest. Bytes that can never
    become a character read as U+FFFD; a constraint lets none through. Special tokens have no text.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def read(self, tokens: Sequence[int]) -> str:
        """Return the characters that these tokens, after those read before, make whole."""
        spellings = map(self._vocabulary.token_bytes, tokens)
        return self._decoder.decode(b"".join(spelling or b"" for spelling in spellings))


class MarkedTextReader(TextReader):
    """The same, with special tokens written as their names: some of them mark calls of tools."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary)
        self._names = {id_: name.encode() for name, id_ in vocabulary.special.items()}

    def read(self, tokens: Sequence[int]) -> str:
        """Return the characters that these tokens, after those read before, make whole."""
        spelled = (self._vocabulary.token_bytes(each) or self._names.get(each) for each in tokens)
        return self._decoder.decode(b"".join(each or b"" for each in spelled))


def read_text(vocabulary: Vocabulary, tokens: Sequence[int]) -> str:
    """Return the text of a whole output; an unfinished last character is left out."""
    return TextReader(vocabulary).read(tokens)
