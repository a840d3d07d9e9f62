"""What the tests of GBNF share: does a grammar match a text, or the beginning of one?"""

from __future__ import annotations

from functools import cache

from guided import Grammar, Matcher, TokenRejected, Vocabulary


@cache
def byte_vocabulary() -> Vocabulary:
    """Return a vocabulary with a token for each byte and an end token."""
    return Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos=[256])


class Texts:
    """The texts of one grammar."""

    def __init__(self, grammar: str | Grammar, *, start: str = "root") -> None:
        if isinstance(grammar, str):
            grammar = Grammar.from_gbnf(grammar, start=start)
        self._start = grammar.compile(byte_vocabulary()).matcher()

    def _after(self, text: str | bytes) -> Matcher | None:
        matcher = self._start.fork()
        try:
            matcher.accept_bytes(text.encode() if isinstance(text, str) else text)
        except TokenRejected:
            return None
        return matcher

    def has(self, text: str) -> bool:
        """Return True if the grammar matches all of the text."""
        matcher = self._after(text)
        return matcher is not None and matcher.is_complete

    def begins(self, text: str | bytes) -> bool:
        """Return True if the grammar matches a text that begins so."""
        return self._after(text) is not None
