"""LALR(1) tables, with conflicts resolved as lark resolves them.

lark has an analysis of its own. This one gives the same tables several times as fast, as it works
on numbers and on sets that are bits, ends on grammars that are made to take long, and says which
rules are in conflict.

Source: DeRemer and Pennello, "Efficient computation of LALR(1) look-ahead sets", TOPLAS 1982.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from guided.errors import LimitError

MAX_STATES = 50_000
MAX_STEPS = 20_000_000

END = "$END"


@dataclass(frozen=True, slots=True)
class Production:
    """One alternative of a rule: `origin` may be written as `expansion`, names of symbols."""

    origin: str
    expansion: tuple[str, ...]
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two ways to go on at the same place before `terminal`.

    Attributes:
        terminal: what is next; `$END` at the end of the text.
        productions: those that could end here, by number. With a single one, the other way is to
            read on.
    """

    terminal: str
    productions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Automaton:
    """A parser: for each state, by symbol, (False, state to go to) or (True, production to end).

    Attributes:
        states: the actions.
        accept: the state in which a text may end; the first is state 0.
        reductions: terminals that two productions of equal priority could end before.
        shifts: terminals before which a production could end, and that are read instead.
    """

    states: list[dict[str, tuple[bool, int]]]
    accept: int
    reductions: list[Conflict]
    shifts: list[Conflict]


def make_automaton(productions: Sequence[Production], start: str) -> Automaton:
    """Make the parser of a grammar.

    Args:
        productions: the grammar; what has none is a terminal.
        start: the rule that a text is made of.

    Raises:
        LimitError: it has more than 50,000 states, or finding out takes too long.
    """
    return _Builder(productions, start).build()


class _Builder:
    """The way: states -> which follow -> what follows each -> actions.

    An item, a production with a place in it, is the number of the production's first place plus
    the place. State 0 expects the start; its item is the last of all.
    """

    def __init__(self, productions: Sequence[Production], start: str) -> None:
        self.productions = [*productions, Production("$root", (start,))]
        self.by_origin: dict[str, list[int]] = {}
        for number, each in enumerate(self.productions):
            self.by_origin.setdefault(each.origin, []).append(number)
        self.start = start
        self.first: list[int] = []
        self.next: list[str | None] = []
        self.production: list[int] = []
        for number, each in enumerate(self.productions):
            self.first.append(len(self.next))
            self.next += [*each.expansion, None]
            self.production += [number] * (len(each.expansion) + 1)
        terminals = [END, *(name for name in self.next if name and name not in self.by_origin)]
        self.bits = {name: 1 << n for n, name in enumerate(dict.fromkeys(terminals))}
        self.names = list(self.bits)
        self.nullable = self._find_nullable()
        self.kernels: list[tuple[int, ...]] = []
        self.goto: list[dict[str, int]] = []
        self.steps = 0

    def build(self) -> Automaton:
        self._find_states()
        transitions = [
            (state, name)
            for state, row in enumerate(self.goto)
            for name in row
            if name in self.by_origin
        ]
        self.numbers = {transition: n for n, transition in enumerate(transitions)}
        read = _united(self._reads(transitions), self._directly_read(transitions))
        includes, lookback = self._relate(transitions)
        follow = _united(includes, read)
        ahead: list[dict[int, int]] = [{} for _ in self.goto]
        for (state, number), origins in lookback.items():
            bits = 0
            for origin in origins:
                bits |= follow[origin]
            ahead[state][number] = bits
        return self._decide(ahead)

    def _find_nullable(self) -> set[str]:
        nullable: set[str] = set()
        waiting: dict[str, list[int]] = {}
        missing = [len(each.expansion) for each in self.productions]
        for number, each in enumerate(self.productions):
            for name in each.expansion:
                waiting.setdefault(name, []).append(number)
        ready = [each.origin for each in self.productions if not each.expansion]
        while ready:
            name = ready.pop()
            if name in nullable:
                continue
            nullable.add(name)
            for number in waiting.get(name, []):
                missing[number] -= 1
                if not missing[number]:
                    ready.append(self.productions[number].origin)
        return nullable

    # ---- states ----

    def _find_states(self) -> None:
        """Find the states and where each symbol leads from them."""
        known: dict[tuple[int, ...], int] = {(self.first[-1],): 0}
        self.kernels = list(known)
        begun: dict[frozenset[str], dict[str, list[int]]] = {}
        for kernel in self.kernels:
            by_symbol: dict[str, list[int]] = {}
            for item in kernel:
                if (name := self.next[item]) is not None:
                    by_symbol.setdefault(name, []).append(item + 1)
            expected = frozenset(name for name in by_symbol if name in self.by_origin)
            if expected:
                opened = begun.get(expected)
                if opened is None:
                    opened = begun[expected] = self._open(expected)
                for name, items in opened.items():
                    own = by_symbol.get(name)
                    by_symbol[name] = items if own is None else own + items
            row = {}
            for name, items in by_symbol.items():
                key = tuple(sorted(set(items)))
                self._count(len(key))
                if key not in known:
                    known[key] = len(self.kernels)
                    self.kernels.append(key)
                row[name] = known[key]
            self.goto.append(row)
            if len(self.kernels) > MAX_STATES:
                raise _too_large("states", MAX_STATES)

    def _open(self, names: frozenset[str]) -> dict[str, list[int]]:
        """Return the items behind the first symbol of all that may begin where `names` may."""
        found: dict[str, list[int]] = {}
        seen = set(names)
        waiting = list(names)
        while waiting:
            for number in self.by_origin[waiting.pop()]:
                item = self.first[number]
                if (name := self.next[item]) is None:
                    continue
                found.setdefault(name, []).append(item + 1)
                if name in self.by_origin and name not in seen:
                    seen.add(name)
                    waiting.append(name)
            self._count(len(found))
        return found

    def _count(self, steps: int) -> None:
        self.steps += steps + 1
        if self.steps > MAX_STEPS:
            raise _too_large("steps", MAX_STEPS)

    # ---- what follows ----

    def _directly_read(self, transitions: list[tuple[int, str]]) -> list[int]:
        """Return for each transition the terminals that can be read right after it."""
        shifted = [sum(self.bits[name] for name in row if name in self.bits) for row in self.goto]
        sets = [shifted[self.goto[state][name]] for state, name in transitions]
        sets[self.numbers[0, self.start]] |= self.bits[END]
        return sets

    def _reads(self, transitions: list[tuple[int, str]]) -> list[list[int]]:
        """Return for each transition those by a rule that may be empty, right after it."""
        nullable = [
            [self.numbers[state, name] for name in row if name in self.nullable]
            for state, row in enumerate(self.goto)
        ]
        return [nullable[self.goto[state][name]] for state, name in transitions]

    def _relate(
        self, transitions: list[tuple[int, str]]
    ) -> tuple[list[list[int]], dict[tuple[int, int], list[int]]]:
        """Return which transitions include what follows others, and where productions began."""
        includes: list[list[int]] = [[] for _ in transitions]
        lookback: dict[tuple[int, int], list[int]] = {}
        for at, (state, origin) in enumerate(transitions):
            for number in self.by_origin[origin]:
                end = self._include(includes, at, state, number, 0)
                lookback.setdefault((end, number), []).append(at)
            # lark goes on from the middle of productions as well, which can add terminals before
            # which a rule ends; they count, as its scanners know the terminals of a state by them.
            for item in self.kernels[state]:
                number = self.production[item]
                if self.productions[number].origin == origin:
                    self._include(includes, at, state, number, item - self.first[number])
        return includes, lookback

    def _include(
        self, includes: list[list[int]], at: int, state: int, number: int, place: int
    ) -> int:
        """Let transition `at` be included by those along a production; return where that ends."""
        expansion = self.productions[number].expansion
        self._count(len(expansion))
        last = len(expansion)  # from here on all may be empty
        while last and expansion[last - 1] in self.nullable:
            last -= 1
        for here in range(place, len(expansion)):
            name = expansion[here]
            if here + 1 >= last and name in self.by_origin:
                includes[self.numbers[state, name]].append(at)
            state = self.goto[state][name]
        return state

    # ---- actions ----

    def _decide(self, ahead: list[dict[int, int]]) -> Automaton:
        states: list[dict[str, tuple[bool, int]]] = []
        reductions: list[Conflict] = []
        shifts: list[Conflict] = []
        for row, ending in zip(self.goto, ahead, strict=True):
            actions = {name: (False, target) for name, target in row.items()}
            ends: dict[str, list[int]] = {}
            for number, bits in sorted(ending.items()):
                for name in self._members(bits):
                    ends.setdefault(name, []).append(number)
            for name, numbers in ends.items():
                best = self._best(numbers)
                if best is None:
                    reductions.append(Conflict(name, tuple(numbers)))
                elif name in row:
                    shifts.append(Conflict(name, (best,)))
                else:
                    actions[name] = (True, best)
            states.append(actions)
        return Automaton(states, self.goto[0][self.start], reductions, shifts)

    def _best(self, numbers: list[int]) -> int | None:
        """Return the production of the highest priority, None if there are two of it."""
        ordered = sorted(numbers, key=lambda number: -self.productions[number].priority)
        priorities = [self.productions[number].priority for number in ordered[:2]]
        return None if len(priorities) == 2 and priorities[0] == priorities[1] else ordered[0]

    def _members(self, bits: int) -> list[str]:
        found = []
        while bits:
            low = bits & -bits
            found.append(self.names[low.bit_length() - 1])
            bits ^= low
        return found


def _too_large(limit: str, value: int) -> LimitError:
    return LimitError("the rules make too large an LALR table", limit=limit, value=value)


def _united(edges: list[list[int]], sets: list[int]) -> list[int]:
    """Return for each node its set united with those of all nodes that its edges lead to.

    Nodes on a cycle have one set: this is Tarjan's search for them, without recursion.
    """
    result = list(sets)
    depth = [0] * len(sets)
    stack: list[int] = []
    done = len(sets) + 1
    for root in range(len(sets)):
        if depth[root]:
            continue
        path: list[tuple[int, int, int]] = []
        _enter(root, depth, stack, path)
        while path:
            node, own, at = path.pop()
            if at < len(edges[node]):
                path.append((node, own, at + 1))
                target = edges[node][at]
                if not depth[target]:
                    _enter(target, depth, stack, path)
                else:
                    depth[node] = min(depth[node], depth[target])
                    result[node] |= result[target]
                continue
            if depth[node] == own:
                while True:
                    member = stack.pop()
                    depth[member] = done
                    result[member] = result[node]
                    if member == node:
                        break
            if path:
                above = path[-1][0]
                depth[above] = min(depth[above], depth[node])
                result[above] |= result[node]
    return result


def _enter(node: int, depth: list[int], stack: list[int], path: list[tuple[int, int, int]]) -> None:
    stack.append(node)
    depth[node] = len(stack)
    path.append((node, len(stack), 0))
