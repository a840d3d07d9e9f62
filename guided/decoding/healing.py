"""How much of a prompt is taken back, so that the model may write it in other tokens.

A prompt ends where its author stopped, and so does its last token; a text that the model would have
written by itself has no seam there. `"url: http:"` ends with the token `:`, but `://` is one token
in most vocabularies, and a model that was taught it seldom writes `//` after `:`.

Source: token healing, of guidance (Microsoft, 2023); Lundberg, "The art of prompt design: prompt
boundaries and token healing", 2023.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from guided.vocabulary import Vocabulary


def taken_back(tokens: Sequence[int], vocabulary: Vocabulary) -> int:
    """Return how many of the last tokens of a prompt are taken back.

    As many as together are the beginning of one longer token, the most that there are: a text in
    which the model had written such a token across the end of the prompt has its seam before them.
    None if there is no such token. Special tokens stay, with all before them, and so does the first
    token: the model must be shown something.

    Cost: some 50 ms for the first prompt of a vocabulary of 128,000 tokens, then microseconds.
    """
    beginnings = vocabulary.kept(_Beginnings)
    found = 0
    tail = b""
    for count in range(1, len(tokens)):
        spelled = vocabulary.token_bytes(tokens[-count])
        tail = (spelled or b"") + tail
        if not spelled or len(tail) >= beginnings.longest(vocabulary):
            break
        if beginnings.has(tail, vocabulary):
            found = count
    return found


def spelled(tokens: Sequence[int], vocabulary: Vocabulary) -> bytes:
    """Return what tokens spell."""
    return b"".join(vocabulary.token_bytes(token) or b"" for token in tokens)


class _Beginnings:
    """The spellings of a vocabulary in their order, made when first asked."""

    def __init__(self) -> None:
        self._spellings: list[bytes] = []
        self._longest = 0

    def longest(self, vocabulary: Vocabulary) -> int:
        """Return the length of the longest spelling."""
        if not self._spellings:
            known = map(vocabulary.token_bytes, range(vocabulary.size))
            spellings = sorted({spelling for spelling in known if spelling})
            self._longest = max(map(len, spellings), default=0)
            self._spellings = spellings
        return self._longest

    def has(self, text: bytes, vocabulary: Vocabulary) -> bool:
        """Return True if a longer spelling begins with a text."""
        self.longest(vocabulary)
        place = bisect_right(self._spellings, text)
        return place < len(self._spellings) and self._spellings[place].startswith(text)
