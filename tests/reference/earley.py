"""An Earley recogniser for the nodes of a reference arena; non-empty sets are viable prefixes.

What can never be finished is left out of the grammar first, so a prefix can be finished exactly if
its last set holds an item. An item is (symbol, what is left of it, where it began); what is left
is a tuple of symbols, or a term where the symbol is regular. A repeat with its counts is a symbol
of its own, and so is what is left of a record (tests.reference.record). Input is bytes and tokens:
a token is read by its bytes, or by a token node as a whole.
Sources: Earley, "An efficient context-free parsing algorithm", CACM 1970; for symbols that match
the empty text: Aycock and Horspool, "Practical Earley parsing", The Computer Journal 2002.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable

from guided.errors import GrammarError
from tests.reference.arena import Arena
from tests.reference.record import Fill, Progress, Record, RecordedKey
from tests.reference.regular import Term

Repeat = tuple[int, int, int | None]
Symbol = int | Repeat | Progress | RecordedKey | Fill
Item = tuple[Symbol, tuple[Symbol, ...] | Term, int]

START = -1


class Grammar:
    """Which nodes reachable from `start` match something, which match the empty text.

    `tokens` are the ids that token nodes may match; None: all.
    """

    def __init__(self, arena: Arena, start: int, tokens: Collection[int] | None = None) -> None:
        self.arena = arena
        self.start = start
        self.tokens = tokens
        self._records: dict[int, Record] = {}
        self._nodes = self._reachable()
        self.productive = self._least_fixpoint(self._is_productive)
        self.nullable = self._least_fixpoint(self._is_nullable)
        if start not in self.productive:
            raise GrammarError("nothing can match")

    def children(self, node: int) -> list[int]:
        match self.arena.node(node):
            case ("rule", name, None):
                raise GrammarError(f'rule "{name}" is not defined')
            case ("sequence", first, rest):
                return [first, rest]
            case ("choice", alternatives):
                return list(alternatives)
            case ("repeat", child, _, _) | ("rule", _, child) | ("capture", _, child):
                return [child]
            case ("record", layout, _, members, *_):
                parts = [[key, *(node for _, node in nodes)] for _, key, _, _, nodes in members]
                return [*layout, *itertools.chain(*parts)]
            case _:
                return []

    def _reachable(self) -> list[int]:
        found = {self.start: None}
        queue = [self.start]
        while queue:
            node = queue.pop()
            if self.arena.is_regular(node):
                continue
            for child in self.children(node):
                if child not in found:
                    found[child] = None
                    queue.append(child)
        return list(found)

    def _least_fixpoint(self, rule: Callable[[int, set[int]], bool]) -> set[int]:
        holds: set[int] = set()
        size = -1
        while size != len(holds):
            size = len(holds)
            for node in self._nodes:
                if node not in holds and rule(node, holds):
                    holds.add(node)
        return holds

    def _is_productive(self, node: int, productive: set[int]) -> bool:
        term = self.arena.term(node)
        if term is not None:
            return not self.arena.algebra.is_void(term)
        match self.arena.node(node):
            case ("choice", alternatives):
                return any(child in productive for child in alternatives)
            case ("repeat", child, minimum, _):
                return minimum == 0 or child in productive
            case ("lexeme", child, _):
                return not self.arena.is_void(child)
            case ("token", ids, negated) if self.tokens is not None:
                return any((token in ids) != negated for token in self.tokens)
            case ("record", *_):
                return Record(self.arena, node, productive.__contains__).is_whole()
            case _:
                return all(child in productive for child in self.children(node))

    def _is_nullable(self, node: int, nullable: set[int]) -> bool:
        term = self.arena.term(node)
        if term is not None:
            return term.nullable
        match self.arena.node(node):
            case ("choice", alternatives):
                return any(child in nullable for child in alternatives)
            case ("repeat", child, minimum, _):
                return minimum == 0 or child in nullable
            case ("token" | "lexeme" | "record", *_):
                return False
            case _:
                return all(child in nullable for child in self.children(node))

    def is_nullable(self, symbol: Symbol) -> bool:
        if isinstance(symbol, int):
            return symbol in self.nullable
        if not isinstance(symbol, tuple):
            return False  # what ends a record is never empty
        child, minimum, _ = symbol
        return minimum == 0 or child in self.nullable

    def record(self, node: int) -> Record:
        if node not in self._records:
            self._records[node] = Record(self.arena, node, self.productive.__contains__)
        return self._records[node]

    def term(self, symbol: Symbol) -> Term | None:
        """Return the regular expression of a symbol, None if it is not regular."""
        if isinstance(symbol, RecordedKey):
            return self.record(symbol.progress.node).key_term(symbol)
        return self.arena.term(symbol) if isinstance(symbol, int) else None

    def productions(self, symbol: Symbol) -> list[tuple[Symbol, ...]]:
        """Return the ways to write a symbol that is not regular, unproductive ones left out."""
        match symbol:
            case int():
                return self._bodies(symbol)
            case tuple():
                return list(self._rounds(*symbol))
            case Progress():
                return list(self.record(symbol.node).bodies(symbol))
            case Fill(progress, member, value):
                return list(self.record(progress.node).fillings(progress, member, value))
            case RecordedKey():
                raise AssertionError("a key is regular")

    def _bodies(self, symbol: int) -> list[tuple[Symbol, ...]]:
        bodies: list[tuple[int, ...]]
        match self.arena.node(symbol):
            case ("sequence", first, rest):
                bodies = [(first, rest)]
            case ("choice", alternatives):
                bodies = [(child,) for child in alternatives]
            case ("repeat", child, minimum, maximum):
                return list(self._rounds(child, minimum, maximum))
            case ("rule", _, child) | ("capture", _, child):
                bodies = [(child,)]
            case ("record", layout, *_):
                return [(layout[0], self.record(symbol).start)]
            case _:
                return []
        return [(*body,) for body in bodies if self.productive.issuperset(body)]

    def _rounds(
        self, child: int, minimum: int, maximum: int | None
    ) -> Iterable[tuple[Symbol, ...]]:
        if minimum == 0:
            yield ()
        if maximum != 0 and child in self.productive:
            yield child, (child, max(0, minimum - 1), None if maximum is None else maximum - 1)

    @property
    def has_lexemes(self) -> bool:
        return any(self.arena.node(node)[0] == "lexeme" for node in self._nodes)

    def token_matches(self, symbol: Symbol, token: int) -> bool:
        if not isinstance(symbol, int) or (self.tokens is not None and token not in self.tokens):
            return False
        match self.arena.node(symbol):
            case ("token", ids, negated):
                return bool((token in ids) != negated)
            case _:
                return False


class Set:
    """The items at one place of the input.

    `reading` are those that read bytes; `waiting` those that wait for a symbol that begins here;
    `byte` is the last one before this place, if it is not a token without bytes.
    """

    __slots__ = ("byte", "items", "reading", "waiting")

    def __init__(self, byte: int | None) -> None:
        self.byte = byte
        self.items: set[Item] = set()
        self.reading: list[tuple[Symbol, Term, int]] = []
        self.waiting: defaultdict[Symbol, list[Item]] = defaultdict(list)


class Chart:
    """The sets of an input that grows and shrinks at its end."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.sets: list[Set] = []
        self.append([(START, (grammar.start,), 0)])

    def __len__(self) -> int:
        """Return the number of bytes and of tokens without bytes that were read."""
        return len(self.sets) - 1

    def fork(self) -> Chart:
        copy = Chart.__new__(Chart)
        copy.grammar = self.grammar
        copy.sets = list(self.sets)
        return copy

    @property
    def is_viable(self) -> bool:
        return bool(self.sets[-1].items)

    @property
    def is_complete(self) -> bool:
        return (START, (), 0) in self.sets[-1].items

    def push_byte(self, byte: int) -> None:
        self.append(self._scan_byte(byte), byte)

    def push_bytes(self, data: bytes) -> None:
        for byte in data:
            self.push_byte(byte)

    def push_token(self, token: int, spelling: bytes | None) -> None:
        """Read a token, by what it spells or by token nodes."""
        whole = self._scan_token(token)
        if not spelling:
            self.append(whole)
            return
        self.push_bytes(spelling[:-1])
        self.append([*self._scan_byte(spelling[-1]), *whole], spelling[-1])

    def truncate(self, length: int) -> None:
        del self.sets[length + 1 :]

    def can_push_byte(self, byte: int) -> bool:
        """Return True if the input is a viable prefix with `byte` at its end, too."""
        return bool(self._scan_byte(byte))

    def can_push_token(self, token: int, spelling: bytes | None) -> bool:
        if self._scan_token(token):
            return True
        if not spelling:
            return False
        length = len(self)
        self.push_bytes(spelling[:-1])
        viable = self.can_push_byte(spelling[-1])
        self.truncate(length)
        return viable

    def _scan_byte(self, byte: int) -> list[Item]:
        algebra = self.grammar.arena.algebra
        scanned: list[Item] = []
        for symbol, term, origin in self.sets[-1].reading:
            derivative = algebra.derivative(term, byte)
            if not algebra.is_void(derivative):
                scanned.append((symbol, derivative, origin))
        return scanned

    def _scan_token(self, token: int) -> list[Item]:
        scanned: list[Item] = []
        for symbol, waiting in self.sets[-1].waiting.items():
            if self.grammar.token_matches(symbol, token):
                scanned.extend(map(advance, waiting))
        return scanned

    def append(self, seeds: Iterable[Item], byte: int | None = None) -> None:
        """Add the set of these items and of all that follow from them."""
        here = len(self.sets)
        current = Set(byte)
        self.sets.append(current)
        queue = list(seeds)
        while queue:
            item = queue.pop()
            if item in current.items:
                continue
            current.items.add(item)
            symbol, left, origin = item
            if isinstance(left, Term):
                current.reading.append((symbol, left, origin))
                ended = left.nullable
            else:
                ended = not left
            if ended:
                waiting = self.sets[origin].waiting.get(symbol, ())
                text = self._text(origin) if isinstance(symbol, RecordedKey) else b""
                queue.extend(advance(each, text) for each in waiting)
            elif not isinstance(left, Term):
                queue.extend(self._predict(item, left[0], current, here))

    def _text(self, begin: int) -> bytes:
        """Return the bytes from a place up to here."""
        return bytes(each.byte for each in self.sets[begin + 1 :] if each.byte is not None)

    def _predict(self, item: Item, symbol: Symbol, current: Set, here: int) -> Iterable[Item]:
        first_time = symbol not in current.waiting
        current.waiting[symbol].append(item)
        # A symbol that begins and ends here may have been completed before this item came to wait.
        if self.grammar.is_nullable(symbol):
            yield advance(item)
        if first_time:
            term = self.grammar.term(symbol)
            if term is not None:
                yield symbol, term, here
            else:
                for body in self.grammar.productions(symbol):
                    yield symbol, body, here


def advance(item: Item, text: bytes = b"") -> Item:
    """Return the item behind its next symbol; `text` is what a recorded key was read from."""
    symbol, left, origin = item
    assert isinstance(left, tuple)
    if isinstance(left[0], RecordedKey):
        fill = left[1]
        assert isinstance(fill, Fill)
        return symbol, (fill.of(text), *left[2:]), origin
    return symbol, left[1:], origin
