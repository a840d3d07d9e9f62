"""Regular expressions over bytes by derivatives, with intersection and difference.

A term is a regular expression; its derivative by a byte is the term for what may follow that byte.
A text matches when the derivative by all its bytes is nullable; a term is void when no derivative
of it is nullable.
Source: Brzozowski, "Derivatives of regular expressions", JACM 1964; the classes of bytes that need
not be told apart: Owens, Reppy and Turon, "Regular-expression derivatives re-examined", JFP 2009.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from guided.errors import LimitError

Ranges = tuple[tuple[int, int], ...]
Edges = tuple[tuple[int, int, int], ...]

MAX_DERIVATIVES = 100_000
SURROGATES = (0xD800, 0xDFFF)


class Term:
    """A regular expression; equal terms of one algebra are one object."""

    __slots__ = ("arguments", "cuts", "derivatives", "kind", "nullable", "number", "plain", "void")

    def __init__(self, number: int, kind: str, arguments: tuple[Any, ...]) -> None:
        self.number = number
        self.kind = kind
        self.arguments = arguments
        self.nullable = _is_nullable(kind, arguments)
        self.plain = _is_plain(kind, arguments)
        self.derivatives: dict[int, Term] = {}
        self.cuts: frozenset[int] | None = None
        self.void: bool | None = None

    def __repr__(self) -> str:
        return f"{self.kind}{self.arguments!r}"


def _is_nullable(kind: str, arguments: tuple[Any, ...]) -> bool:
    match kind:
        case "empty":
            return True
        case "sequence":
            return bool(arguments[0].nullable and arguments[1].nullable)
        case "choice":
            return any(term.nullable for term in arguments[0])
        case "repeat":
            return bool(arguments[1] == 0 or arguments[0].nullable)
        case "dfa":
            states, state = arguments
            return bool(states[state][0])
        case "both":
            return bool(arguments[0].nullable and arguments[1].nullable)
        case "minus":
            return bool(arguments[0].nullable and not arguments[1].nullable)
        case _:
            return False


def _is_plain(kind: str, arguments: tuple[Any, ...]) -> bool:
    """Return True if no part of the term can be void but `never` itself."""
    match kind:
        case "sequence":
            return bool(arguments[0].plain and arguments[1].plain)
        case "choice":
            return all(term.plain for term in arguments[0])
        case "repeat":
            return bool(arguments[0].plain)
        case _:
            return kind not in ("both", "minus", "dfa")


def span_of_lead(lead: int) -> tuple[int, int, int, int]:
    """Return what the first byte of a character says.

    That is: how many bytes follow, the value of its own bits before those, and the least and the
    greatest code point that may be written so. The greatest is less than the least if none may.
    """
    if lead < 0x80:
        return 0, lead, 0, 0x7F
    if 0xC0 <= lead < 0xE0:
        return 1, (lead & 0x1F) << 6, 0x80, 0x7FF
    if 0xE0 <= lead < 0xF0:
        return 2, (lead & 0x0F) << 12, 0x800, 0xFFFF
    if 0xF0 <= lead < 0xF8:
        return 3, (lead & 0x07) << 18, 0x10000, 0x10FFFF
    return 0, 0, 1, 0


def normal_ranges(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Sort and join ranges of code points and drop the surrogates."""
    parts = []
    for low, high in ranges:
        parts.append((low, min(high, SURROGATES[0] - 1)))
        parts.append((max(low, SURROGATES[1] + 1), high))
    joined: list[tuple[int, int]] = []
    for low, high in sorted(part for part in parts if part[0] <= part[1]):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple(joined)


class Algebra:
    """Builds terms and differentiates them."""

    def __init__(self) -> None:
        self._terms: dict[tuple[Any, ...], Term] = {}
        self.empty = self._term("empty")
        self.never = self._term("never")
        self.never.void = True
        self.any_text = self.repeat(self.char_class([(0, 0x10FFFF)]), 0, None)

    def _term(self, kind: str, *arguments: Any) -> Term:
        key = (kind, *arguments)
        term = self._terms.get(key)
        if term is None:
            term = self._terms[key] = Term(len(self._terms), kind, arguments)
        return term

    def literal(self, data: bytes) -> Term:
        return self._term("literal", data) if data else self.empty

    def char_class(self, ranges: Iterable[tuple[int, int]]) -> Term:
        normal = normal_ranges(ranges)
        return self._term("class", normal) if normal else self.never

    def dfa(self, states: tuple[tuple[bool, Edges], ...], state: int = 0) -> Term:
        """Match what the automaton accepts from one of its states on."""
        return self._term("dfa", states, state)

    def _tail(self, count: int, ranges: Ranges, base: int) -> Term:
        """Match `count` more bytes of UTF-8, whose bits give a number in `ranges` less `base`."""
        last = base + (1 << 6 * count) - 1
        inside = [(max(low, base), min(high, last)) for low, high in ranges]
        left = tuple((low - base, high - base) for low, high in inside if low <= high)
        if not left:
            return self.never
        return self._term("tail", count, left) if count else self.empty

    def sequence(self, first: Term, rest: Term) -> Term:
        if self.never in (first, rest):
            return self.never
        if first is self.empty:
            return rest
        if rest is self.empty:
            return first
        parts = []  # nested to the right, so that equal sequences are equal terms
        while first.kind == "sequence":
            parts.append(first.arguments[0])
            first = first.arguments[1]
        rest = self._term("sequence", first, rest)
        for part in reversed(parts):
            rest = self._term("sequence", part, rest)
        return rest

    def choice(self, terms: Iterable[Term]) -> Term:
        alternatives: set[Term] = set()
        for term in terms:
            alternatives |= term.arguments[0] if term.kind == "choice" else {term}
        alternatives.discard(self.never)
        if len(alternatives) < 2:
            return next(iter(alternatives), self.never)
        return self._term("choice", frozenset(alternatives))

    def repeat(self, term: Term, minimum: int, maximum: int | None) -> Term:
        if maximum == 0 or term is self.empty:
            return self.empty
        if term is self.never:
            return self.empty if minimum == 0 else self.never
        if (minimum, maximum) == (1, 1):
            return term
        return self._term("repeat", term, minimum, maximum)

    def both(self, a: Term, b: Term) -> Term:
        if self.never in (a, b):
            return self.never
        if a is b:
            return a
        first, second = sorted((a, b), key=lambda term: term.number)
        return self._term("both", first, second)

    def minus(self, a: Term, b: Term) -> Term:
        if a is b or a is self.never:
            return self.never
        return a if b is self.never else self._term("minus", a, b)

    def derivative(self, term: Term, byte: int) -> Term:
        """Return the term for what may follow `byte` in a text of `term`."""
        known = term.derivatives.get(byte)
        if known is None:
            known = term.derivatives[byte] = self._derivative(term, byte)
        return known

    def _derivative(self, term: Term, byte: int) -> Term:
        match term.kind, term.arguments:
            case "literal", (data,):
                return self.literal(data[1:]) if data[0] == byte else self.never
            case "class", (ranges,):
                count, base, least, greatest = span_of_lead(byte)
                legal = tuple((max(low, least), min(high, greatest)) for low, high in ranges)
                return self._tail(count, legal, base)
            case "tail", (count, ranges):
                if not 0x80 <= byte < 0xC0:
                    return self.never
                return self._tail(count - 1, ranges, (byte & 0x3F) << 6 * (count - 1))
            case "dfa", (states, state):
                for low, high, following in states[state][1]:
                    if low <= byte <= high:
                        return self.dfa(states, following)
                return self.never
            case "sequence", (first, rest):
                staying = self.sequence(self.derivative(first, byte), rest)
                if not first.nullable:
                    return staying
                return self.choice([staying, self.derivative(rest, byte)])
            case "choice", (alternatives,):
                return self.choice(self.derivative(each, byte) for each in alternatives)
            case "repeat", (unit, minimum, maximum):
                # Of a nullable unit the empty rounds can all be moved to the end.
                minimum = 0 if unit.nullable else max(0, minimum - 1)
                left = self.repeat(unit, minimum, None if maximum is None else maximum - 1)
                return self.sequence(self.derivative(unit, byte), left)
            case "both", (a, b):
                return self.both(self.derivative(a, byte), self.derivative(b, byte))
            case "minus", (a, b):
                return self.minus(self.derivative(a, byte), self.derivative(b, byte))
            case _:
                return self.never

    def after(self, term: Term, data: bytes) -> Term:
        for byte in data:
            term = self.derivative(term, byte)
        return term

    def matches(self, term: Term, data: bytes) -> bool:
        return self.after(term, data).nullable

    def first_bytes(self, term: Term) -> list[int]:
        """Return some bytes; any byte has the same derivative as the last of these up to it."""
        return sorted(self._cuts(term) | {0})

    def _cuts(self, term: Term) -> frozenset[int]:
        if term.cuts is None:
            term.cuts = self._find_cuts(term)
        return term.cuts

    def _find_cuts(self, term: Term) -> frozenset[int]:
        match term.kind, term.arguments:
            case "literal", (data,):
                return frozenset({data[0], data[0] + 1} - {256})
            case (("class" | "tail" | "dfa"), _):
                after = [self.derivative(term, byte) for byte in range(256)]
                return frozenset(b for b in range(1, 256) if after[b] is not after[b - 1])
            case "sequence", (first, rest):
                return self._cuts(first) | (self._cuts(rest) if first.nullable else frozenset())
            case "choice", (alternatives,):
                return frozenset[int]().union(*(self._cuts(each) for each in alternatives))
            case "repeat", (unit, _, _):
                return self._cuts(unit)
            case (("both" | "minus"), (a, b)):
                return self._cuts(a) | self._cuts(b)
            case _:
                return frozenset()

    def is_void(self, term: Term) -> bool:
        """Return True if no text matches.

        Raises:
            LimitError: more than `MAX_DERIVATIVES` derivatives would have to be looked at.
        """
        if term.void is None:
            term.void = term is self.never if term.plain else self._find_void(term)
        return term.void

    def _find_void(self, term: Term) -> bool:
        match term.kind, term.arguments:
            case "sequence", (first, rest):
                return self.is_void(first) or self.is_void(rest)
            case "choice", (alternatives,):
                return all(self.is_void(each) for each in alternatives)
            case "repeat", (unit, minimum, _):
                return bool(minimum > 0) and self.is_void(unit)
            case (("both" | "minus" | "dfa"), _):
                return self.shortest(term) is None
            case _:
                return False

    def shortest(self, term: Term) -> bytes | None:
        """Return a shortest text that matches, None if there is none; looks breadth first."""
        if term.nullable:
            return b""
        seen = {term}
        level = [(term, b"")]
        while level:
            following = []
            for current, text in level:
                for byte in self.first_bytes(current):
                    successor = self.derivative(current, byte)
                    if successor.nullable:
                        return text + bytes([byte])
                    if successor is not self.never and successor not in seen:
                        seen.add(successor)
                        following.append((successor, text + bytes([byte])))
            if len(seen) > MAX_DERIVATIVES:
                raise LimitError("the product is too large", limit="derivatives", value=len(seen))
            level = following
        return None


def join_terms(algebra: Algebra, terms: Sequence[Term]) -> Term:
    """Return the sequence of any number of terms."""
    joined = algebra.empty
    for term in reversed(terms):
        joined = algebra.sequence(term, joined)
    return joined
