"""Grammars of lexemes: what a lexeme matches must not go on to a longer match.

A text is accepted if it can be cut into lexemes, each of which matches its piece while no text from
the same start that is longer, as far as the whole text goes, matches what must not be longer. A
prefix is viable if some text goes on from it to an accepted one; such texts are tried, up to
`MAX_REST` more bytes.

All leaves must be lexemes that match no empty text, or tokens that spell nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeGuard

from tests.reference.earley import Chart, Grammar, Item, Symbol, advance
from tests.reference.regular import Term

MAX_REST = 6
TOKENS = 256  # a token without bytes is the symbol TOKENS + its id; bytes are themselves


class LexingChart:
    """A text that grows and shrinks at its end; offers what `Chart` does."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.text: list[int] = []
        self._known: dict[tuple[int, ...], bool] = {}

    def __len__(self) -> int:
        return len(self.text)

    def fork(self) -> LexingChart:
        copy = LexingChart(self.grammar)
        copy.text = list(self.text)
        copy._known = self._known
        return copy

    @property
    def is_complete(self) -> bool:
        return self._chart(self.text).is_complete

    @property
    def is_viable(self) -> bool:
        return self._is_viable(self.text, MAX_REST)

    def push_byte(self, byte: int) -> None:
        self.text.append(byte)

    def push_bytes(self, data: bytes) -> None:
        self.text.extend(data)

    def push_token(self, token: int, spelling: bytes | None) -> None:
        self.text.extend(spelling or [TOKENS + token])

    def truncate(self, length: int) -> None:
        del self.text[length:]

    def can_push_byte(self, byte: int) -> bool:
        return self._is_viable([*self.text, byte], MAX_REST)

    def can_push_token(self, token: int, spelling: bytes | None) -> bool:
        return self._is_viable([*self.text, *(spelling or [TOKENS + token])], MAX_REST)

    def _chart(self, text: Sequence[int]) -> Chart:
        """Return the sets at all places of a text that nothing follows."""
        chart = Chart(self.grammar)
        for end in range(1, len(text) + 1):
            chart.append(list(self._ending(chart, text, end)))
        return chart

    def _ending(self, chart: Chart, text: Sequence[int], end: int) -> Iterator[Item]:
        """Yield what goes on behind the lexemes and tokens that end at a place."""
        for begin in range(end):
            for symbol, items in chart.sets[begin].waiting.items():
                if self._is_read(symbol, text, begin, end):
                    yield from map(advance, items)

    def _is_read(self, symbol: Symbol, text: Sequence[int], begin: int, end: int) -> bool:
        match self.grammar.arena.node(symbol) if _is_node(symbol) else ():
            case ("lexeme", body, longer):
                ends = range(end + 1, len(text) + 1)
                return self._left(body, text[begin:end]).nullable and not any(
                    self._left(longer, text[begin:further]).nullable for further in ends
                )
            case ("token", *_):
                is_token = end == begin + 1 and text[begin] >= TOKENS
                return is_token and self.grammar.token_matches(symbol, text[begin] - TOKENS)
            case _:
                return False

    def _left(self, node: int, text: Sequence[int]) -> Term:
        algebra = self.grammar.arena.algebra
        term = self.grammar.arena.term(node)
        assert term is not None
        assert not term.nullable, "a lexeme must not match the empty text"
        for each in text:
            term = algebra.derivative(term, each) if each < TOKENS else algebra.never
        return term

    def _is_viable(self, text: Sequence[int], rest: int) -> bool:
        key = (rest, *text)
        if key not in self._known:
            chart = self._chart(text)
            self._known[key] = chart.is_complete or (
                rest > 0
                and any(
                    self._is_viable([*text, each], rest - 1) for each in self._next(chart, text)
                )
            )
        return self._known[key]

    def _next(self, chart: Chart, text: Sequence[int]) -> list[int]:
        """Return symbols of which one stands for each that may follow and not be hopeless."""
        algebra = self.grammar.arena.algebra
        terms: list[Term] = []
        symbols: set[int] = set()
        for begin, each in enumerate(chart.sets):
            for symbol in filter(_is_node, each.waiting):
                match self.grammar.arena.node(symbol):
                    case ("lexeme", body, longer):
                        terms += [self._left(node, text[begin:]) for node in (body, longer)]
                    case _ if begin == len(text):
                        symbols |= {TOKENS + token for token in self._tokens(symbol)}
        for byte in algebra.first_bytes(algebra.choice(terms)):
            if any(not algebra.is_void(algebra.derivative(term, byte)) for term in terms):
                symbols.add(byte)
        return sorted(symbols)

    def _tokens(self, symbol: Symbol) -> set[int]:
        match self.grammar.arena.node(symbol) if _is_node(symbol) else ():
            case ("token", ids, False):
                return set(ids)
            case ("token", ids, True):
                return {min(set(range(len(ids) + 1)) - set(ids))}
            case _:
                return set()


def _is_node(symbol: Symbol) -> TypeGuard[int]:
    return isinstance(symbol, int)
