"""What a text or a token is worth under a grammar, found by trying: no trie, no state, no cache.

`Matcher` behaves as the matcher of the core does, one Earley chart and one token at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from guided.errors import RollbackError, TokenRejected
from tests.reference.arena import Arena
from tests.reference.earley import Chart, Grammar
from tests.reference.lexing import LexingChart


class Vocabulary:
    """The tokens of a model and what each spells. An end token does nothing but end the text."""

    def __init__(
        self, tokens: Sequence[bytes | None], eos: Sequence[int], size: int | None = None
    ) -> None:
        self.tokens = list(tokens)
        self.eos = sorted(set(eos))
        self.size = len(self.tokens) if size is None else size
        if not self.eos or not all(0 <= end < len(self.tokens) for end in self.eos):
            raise ValueError("eos must hold at least one id, and ids of tokens only")
        if self.size < len(self.tokens):
            raise ValueError("size is less than the number of tokens")

    @property
    def words(self) -> int:
        return (self.size + 31) // 32

    def token_bytes(self, token: int) -> bytes | None:
        return self.tokens[token] if 0 <= token < len(self.tokens) else None


def _start(arena: Arena, node: int, tokens: Collection[int] | None = None) -> Chart | LexingChart:
    grammar = Grammar(arena, node, tokens)
    return LexingChart(grammar) if grammar.has_lexemes else Chart(grammar)


def _chart(arena: Arena, node: int, data: bytes | str) -> Chart | LexingChart:
    chart = _start(arena, node)
    chart.push_bytes(data.encode() if isinstance(data, str) else data)
    return chart


def accepts(arena: Arena, node: int, data: bytes | str) -> bool:
    """Return True if `node` matches all of `data`."""
    return _chart(arena, node, data).is_complete


def is_viable_prefix(arena: Arena, node: int, data: bytes | str) -> bool:
    """Return True if `node` matches a text (of bytes and tokens) that begins with `data`."""
    return _chart(arena, node, data).is_viable


def allowed_tokens(
    arena: Arena, node: int, prefix: bytes | str | Sequence[int], vocabulary: Vocabulary
) -> set[int]:
    """Return the tokens that may follow `prefix`, bytes or tokens; end tokens if it is complete."""
    matcher = Matcher(arena, node, vocabulary)
    if isinstance(prefix, bytes | str):
        matcher.accept_bytes(prefix.encode() if isinstance(prefix, str) else prefix)
    else:
        matcher.accept_all(prefix)
    return set(matcher.allowed_tokens())


class Matcher:
    """One sequence of tokens under a grammar."""

    def __init__(self, arena: Arena, node: int, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        ordinary = set(range(len(vocabulary.tokens))) - set(vocabulary.eos)
        self._chart = _start(arena, node, ordinary)
        self._lengths = [0]
        self.history: list[int | bytes] = []

    def fork(self) -> Matcher:
        copy = Matcher.__new__(Matcher)
        copy.vocabulary = self.vocabulary
        copy._chart = self._chart.fork()
        copy._lengths = list(self._lengths)
        copy.history = list(self.history)
        return copy

    @property
    def tokens(self) -> list[int]:
        """The tokens accepted; -1 for a piece given as bytes."""
        return [piece if isinstance(piece, int) else -1 for piece in self.history]

    @property
    def is_terminated(self) -> bool:
        return bool(self.history) and self.history[-1] in self.vocabulary.eos

    @property
    def is_complete(self) -> bool:
        return not self.is_terminated and self._chart.is_complete

    def can_accept(self, token: int) -> bool:
        if self.is_terminated or not 0 <= token < len(self.vocabulary.tokens):
            return False
        if token in self.vocabulary.eos:
            return self.is_complete
        return self._chart.can_push_token(token, self.vocabulary.token_bytes(token))

    def allowed_tokens(self) -> list[int]:
        return [token for token in range(self.vocabulary.size) if self.can_accept(token)]

    def allowed_bytes(self) -> bytes:
        if self.is_terminated:
            return b""
        return bytes(byte for byte in range(256) if self._chart.can_push_byte(byte))

    def accept(self, token: int) -> None:
        if not self.can_accept(token):
            allowed = self.allowed_tokens()
            spelling = self.vocabulary.token_bytes(token)
            raise TokenRejected(token, spelling, allowed[:16], len(allowed) > 16)
        if token not in self.vocabulary.eos:
            self._chart.push_token(token, self.vocabulary.token_bytes(token))
        self._lengths.append(len(self._chart))
        self.history.append(token)

    def accept_bytes(self, data: bytes) -> None:
        self._chart.push_bytes(data)
        if self.is_terminated or not self._chart.is_viable:
            self._chart.truncate(self._lengths[-1])
            raise TokenRejected(-1, data, self.allowed_tokens()[:16], False)
        self._lengths.append(len(self._chart))
        self.history.append(data)

    def accept_all(self, tokens: Sequence[int]) -> None:
        before = len(self.tokens)
        try:
            for token in tokens:
                self.accept(token)
        except TokenRejected:
            self.rollback(len(self.tokens) - before)
            raise

    def accepted_prefix(self, tokens: Sequence[int]) -> int:
        trial = self.fork()
        for count, token in enumerate(tokens):
            if not trial.can_accept(token):
                return count
            trial.accept(token)
        return len(tokens)

    def rollback(self, count: int) -> None:
        if not 0 <= count <= len(self.tokens):
            raise RollbackError(count, len(self.tokens))
        kept = len(self.tokens) - count
        del self.history[kept:]
        del self._lengths[kept + 1 :]
        self._chart.truncate(self._lengths[-1])
