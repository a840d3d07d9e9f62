"""Tokens to text, whole characters only."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from guided.vocabulary import Vocabulary


class TextReader:
    """Turns the tokens of one output into text, piece by piece.

    A token may end inside a UTF-8 character: its bytes wait for the rest. Bytes that can never
    become a character read as U+FFFD; a constraint lets none through. Special tokens have no text.

    Args:
        vocabulary: the tokens.
        healed: bytes that the tokens begin with and that are no part of the text.
    """

    def __init__(self, vocabulary: Vocabulary, healed: bytes = b"") -> None:
        self._vocabulary = vocabulary
        self._left = len(healed)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def read(self, tokens: Sequence[int]) -> str:
        """Return the characters that these tokens, after those read before, make whole."""
        data = b"".join(self._spelling(token) or b"" for token in tokens)
        left, self._left = self._left, max(0, self._left - len(data))
        return self._decoder.decode(data[left:])

    def _spelling(self, token: int) -> bytes | None:
        return self._vocabulary.token_bytes(token)


class MarkedTextReader(TextReader):
    """The same, with special tokens written as their names: some of them mark calls of tools."""

    def __init__(self, vocabulary: Vocabulary, healed: bytes = b"") -> None:
        super().__init__(vocabulary, healed)
        self._names = {id_: name.encode() for name, id_ in vocabulary.special.items()}

    def _spelling(self, token: int) -> bytes | None:
        return self._vocabulary.token_bytes(token) or self._names.get(token)


def read_text(vocabulary: Vocabulary, tokens: Sequence[int], healed: bytes = b"") -> str:
    """Return the text of a whole output; an unfinished last character is left out."""
    return TextReader(vocabulary, healed).read(tokens)
