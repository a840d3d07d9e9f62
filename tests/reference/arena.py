"""A plain Python arena with the builder methods of `guided._core.Arena`.

It keeps a description of each node, in the form that `node()` gives, and for the regular ones the
term of `tests.reference.regular`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from tests.reference.regular import Algebra, Term, join_terms, normal_ranges

EMPTY, NEVER = 0, 1


class Arena:
    """Grammar nodes; see the stub of the core for what each method means."""

    def __init__(self, max_nodes: int = 2_000_000) -> None:
        self.algebra = Algebra()
        self._nodes: list[tuple[Any, ...]] = []
        self._terms: list[Term | None] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._origins: dict[int, str] = {}
        self._add(("empty",), self.algebra.empty)
        self._add(("never",), self.algebra.never)

    def clone(self) -> Arena:
        copy = Arena()
        copy.algebra = self.algebra
        copy._nodes = list(self._nodes)
        copy._terms = list(self._terms)
        copy._numbers = dict(self._numbers)
        copy._origins = dict(self._origins)
        return copy

    def __len__(self) -> int:
        return len(self._nodes)

    def _add(self, description: tuple[Any, ...], term: Term | None) -> int:
        key = tuple(tuple(part) if isinstance(part, list) else part for part in description)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._nodes)
            self._nodes.append(description)
            self._terms.append(term)
        return number

    def _check(self, *nodes: int) -> None:
        for node in nodes:
            if not 0 <= node < len(self._nodes):
                raise ValueError(f"{node} is not a node of this arena")

    def literal(self, data: bytes | str) -> int:
        data = data.encode() if isinstance(data, str) else bytes(data)
        return self._add(("literal", data), self.algebra.literal(data)) if data else EMPTY

    def char_class(self, ranges: Sequence[tuple[int, int]]) -> int:
        for low, high in ranges:
            if not 0 <= low <= high <= 0x10FFFF:
                raise ValueError(f"({low}, {high}) is not a range of code points")
        normal = list(normal_ranges(ranges))
        return self._add(("class", normal), self.algebra.char_class(normal)) if normal else NEVER

    def dfa(self, states: Sequence[tuple[bool, Sequence[tuple[int, int, int]]]]) -> int:
        for _, edges in states:
            bytes_of = [byte for low, high, _ in edges for byte in range(low, high + 1)]
            if len(set(bytes_of)) < len(bytes_of):
                raise ValueError("edges of a state must be disjoint")
        frozen = tuple((accepting, tuple(edges)) for accepting, edges in states)
        return self._add(("dfa", frozen), self.algebra.dfa(frozen))

    def sequence(self, nodes: Sequence[int]) -> int:
        self._check(*nodes)
        if NEVER in nodes:
            return NEVER
        rest = EMPTY
        for node in reversed(nodes):
            if node == EMPTY:
                continue
            if rest == EMPTY:
                rest = node
            else:
                terms = self._regular_terms(node, rest)
                term = None if terms is None else join_terms(self.algebra, terms)
                rest = self._add(("sequence", node, rest), term)
        return rest

    def choice(self, nodes: Sequence[int]) -> int:
        self._check(*nodes)
        alternatives = [node for node in dict.fromkeys(nodes) if node != NEVER]
        if len(alternatives) < 2:
            return alternatives[0] if alternatives else NEVER
        terms = self._regular_terms(*alternatives)
        term = None if terms is None else self.algebra.choice(terms)
        return self._add(("choice", alternatives), term)

    def repeat(self, node: int, minimum: int = 0, maximum: int | None = None) -> int:
        self._check(node)
        if minimum < 0 or (maximum is not None and maximum < minimum):
            raise ValueError(f"cannot repeat from {minimum} to {maximum} times")
        if maximum == 0 or node == EMPTY or (node == NEVER and minimum == 0):
            return EMPTY
        if node == NEVER or (minimum, maximum) == (1, 1):
            return node
        term = self._terms[node]
        if term is not None:
            term = self.algebra.repeat(term, minimum, maximum)
        return self._add(("repeat", node, minimum, maximum), term)

    def rule(self, name: str) -> int:
        self._nodes.append(("rule", name, None))
        self._terms.append(None)
        return len(self._nodes) - 1

    def define(self, rule: int, body: int) -> None:
        self._check(rule, body)
        kind, name, old = self._nodes[rule]
        if kind != "rule" or old is not None:
            raise ValueError(f"{rule} is not a rule without a body")
        self._nodes[rule] = ("rule", name, body)

    def both(self, a: int, b: int) -> int:
        first, second = self._operands(a, b)
        return self._add(("both", a, b), self.algebra.both(first, second))

    def minus(self, a: int, b: int) -> int:
        first, second = self._operands(a, b)
        return self._add(("minus", a, b), self.algebra.minus(first, second))

    def negation(self, a: int) -> int:
        return self.minus(self.any_text(), a)

    def any_text(self) -> int:
        return self.repeat(self.char_class([(0, 0x10FFFF)]))

    def token(self, ids: Sequence[int], negated: bool = False) -> int:
        if not ids and not negated:
            return NEVER
        return self._add(("token", sorted(set(ids)), negated), None)

    def lexeme(self, body: int, longer: int) -> int:
        self._operands(body, longer)
        longer = self.choice([body, longer])
        return NEVER if body == NEVER else self._add(("lexeme", body, longer), None)

    def capture(self, name: str, node: int) -> int:
        self._check(node)
        return self._add(("capture", name, node), self._terms[node])

    def part(self, node: int) -> int:
        """Matching is the same without it."""
        self._check(node)
        return node

    def record(
        self,
        layout: tuple[int, int, int, int, int],
        slots: Sequence[tuple[bool, bool, Sequence[int]]],
        members: Sequence[tuple[int, int, str | None, bool, Sequence[tuple[int, int]]]],
        order: Literal["each", "later", "any"],
        minimum: int = 0,
        maximum: int | None = None,
        counts: Sequence[tuple[int, int | None]] = (),
        excluded: Sequence[str] = (),
    ) -> int:
        self._check(*layout)
        for _, key, _, _, variants in members:
            self._check(key, *(node for _, node in variants))
            self._operands(key)
        slots = tuple((required, many, tuple(owes)) for required, many, owes in slots)
        if order == "each" and any(owes for _, _, owes in slots):
            raise ValueError("a slot owes no slot that may come in some order")
        members = tuple((*member[:4], tuple(member[4])) for member in members)
        limits = (order, minimum, maximum, tuple(counts), tuple(excluded))
        return self._add(("record", tuple(layout), slots, members, *limits), None)

    def set_origin(self, node: int, place: str) -> None:
        self._check(node)
        self._origins.setdefault(node, place)

    def origin(self, node: int) -> str | None:
        return self._origins.get(node)

    def term(self, node: int) -> Term | None:
        """Return the regular expression of the node, None if it is not regular."""
        self._check(node)
        return self._terms[node]

    def _regular_terms(self, *nodes: int) -> list[Term] | None:
        terms = [term for node in nodes if (term := self._terms[node]) is not None]
        return terms if len(terms) == len(nodes) else None

    def _operands(self, *nodes: int) -> list[Term]:
        self._check(*nodes)
        terms = self._regular_terms(*nodes)
        if terms is None:
            raise ValueError("the operands must be regular: no rule, token or lexeme in them")
        return terms

    def is_regular(self, node: int) -> bool:
        return self.term(node) is not None

    def is_nullable(self, node: int) -> bool:
        return self._operands(node)[0].nullable

    def is_void(self, node: int) -> bool:
        return self.algebra.is_void(self._operands(node)[0])

    def matches(self, node: int, data: bytes | str) -> bool:
        data = data.encode() if isinstance(data, str) else data
        return self.algebra.matches(self._operands(node)[0], data)

    def shortest(self, node: int) -> bytes | None:
        return self.algebra.shortest(self._operands(node)[0])

    def node(self, node: int) -> tuple[Any, ...]:
        self._check(node)
        return self._nodes[node]
