"""Grammars of lexemes: a text is cut into lexemes first, and the cut alone is parsed.

At each place the lexemes that the grammar allows there compete. The longest match of any of them in
the whole text counts, and of those that end there the ones of the highest priority. So the cut of
a whole text is found from left to right. A prefix is viable if some text goes on from it to an
accepted one; such texts are tried, up to `MAX_REST` more bytes.

All leaves must be lexemes that match no empty text, or tokens that spell nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from tests.reference.earley import Chart, Grammar, Item, Symbol, advance
from tests.reference.regular import Term

MAX_REST = 6
TOKENS = 256  # a token without bytes is the symbol TOKENS + its id; bytes are themselves


@dataclass
class Cut:
    """A place where a lexeme begins, as far as is known without what follows the text."""

    begin: int
    chart: Chart
    lexemes: dict[int, Term]
    """What is left of each lexeme that may begin here, after all of the text."""


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
        return self._is_complete(self.text)

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

    def _cuts(self, text: Sequence[int]) -> Iterator[Cut]:
        """Yield the places where lexemes begin if nothing follows `text`, the first one first."""
        chart, begin = Chart(self.grammar), 0
        while chart.is_viable:
            lexemes, end, winners = self._longest(chart, text, begin)
            yield Cut(begin, chart, lexemes)
            if not winners:
                return
            chart, begin = chart.fork(), end
            chart.append(winners)

    def _longest(
        self, chart: Chart, text: Sequence[int], begin: int
    ) -> tuple[dict[int, Term], int, list[Item]]:
        """Return what is left of each lexeme, the end of the longest match, and what goes on."""
        algebra = self.grammar.arena.algebra
        left: dict[int, Term] = {}
        matches: list[tuple[int, int, Symbol]] = []
        for symbol in filter(_is_node, chart.sets[-1].waiting):
            match self.grammar.arena.node(symbol):
                case ("lexeme", node, priority):
                    term = self.grammar.arena.term(node)
                    assert term is not None
                    assert not term.nullable, "a lexeme must not match the empty text"
                    for index in range(begin, len(text)):
                        is_byte = text[index] < TOKENS
                        term = algebra.derivative(term, text[index]) if is_byte else algebra.never
                        if term.nullable:
                            matches.append((index + 1, priority, symbol))
                    left[symbol] = term
                case ("token", *_) if begin < len(text) and text[begin] >= TOKENS:
                    if self.grammar.token_matches(symbol, text[begin] - TOKENS):
                        matches.append((begin + 1, 0, symbol))
        best = max((match[:2] for match in matches), default=(begin, 0))
        winners = [symbol for end, priority, symbol in matches if (end, priority) == best]
        waiting = chart.sets[-1].waiting
        return left, best[0], [advance(item) for symbol in winners for item in waiting[symbol]]

    def _is_complete(self, text: Sequence[int]) -> bool:
        *_, last = self._cuts(text)
        return last.begin == len(text) and last.chart.is_complete

    def _is_viable(self, text: Sequence[int], rest: int) -> bool:
        key = (rest, *text)
        if key not in self._known:
            self._known[key] = self._is_complete(text) or (
                rest > 0
                and any(self._is_viable([*text, each], rest - 1) for each in self._next(text))
            )
        return self._known[key]

    def _next(self, text: Sequence[int]) -> list[int]:
        """Return symbols of which one stands for each that may follow and not be hopeless."""
        algebra = self.grammar.arena.algebra
        terms: list[Term] = []
        symbols: set[int] = set()
        for cut in self._cuts(text):
            terms += cut.lexemes.values()
            if cut.begin == len(text):
                for symbol in cut.chart.sets[-1].waiting:
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
