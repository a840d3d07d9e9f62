"""Automata over the digits of a number that tell if it is in a set.

They read a number without sign and exponent: digits, then perhaps a point and decimals. Each
constraint of the set follows the digits by itself, and the automaton is in the states of all of
them, and of those of the sets that are excluded. Zeros at the end of the decimals change nothing,
so what is excluded is so in every spelling.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from guided.text.json_schema.numbers.constraints import (
    NO,
    YES,
    Constraint,
    Edge,
    Listed,
    Open,
    State,
    States,
    Step,
    TooManyStates,
)
from guided.text.json_schema.numbers.sets import NumberSet

# For each state, the start first: does it accept, and (first byte, last byte, next state).
Table = tuple[tuple[bool, tuple[tuple[int, int, int], ...]], ...]

# An automaton of so many states takes a second to build.
MAX_STATES = 30_000


class Automaton(NamedTuple):
    """An automaton in which every state can still accept.

    Attributes:
        table: its states, none if it accepts nothing.
        has_positive: it accepts a number above 0.
    """

    table: Table
    has_positive: bool


@lru_cache(maxsize=32)
def unsigned_automaton(numbers: NumberSet, most_decimals: int | None) -> Automaton:
    """Return the automaton of the numbers in a set that are not negative.

    Args:
        numbers: the set.
        most_decimals: longer spellings are left out; at least 1. None: any.

    Raises:
        TooManyStates: it would be too large.
    """
    return _Walk(_member(numbers), most_decimals).automaton()


def _member(numbers: NumberSet) -> Constraint:
    """Return the constraint of being in a set."""
    wanted: list[Constraint] = []
    low, high = numbers.low, numbers.high
    if low is not None and (low.value > 0 or (low.value == 0 and low.is_open)):
        wanted.append(Edge(low.value, False, not low.is_open, True))
    if high is not None and high.value < 0:
        wanted.append(Listed(()))
    elif high is not None:
        wanted.append(Edge(high.value, True, not high.is_open, False))
    if numbers.step is not None:
        wanted.append(Step(numbers.step, MAX_STATES))
    if numbers.values is not None:
        wanted.append(Listed(value for value in numbers.values if value >= 0))
    if len(wanted) == 1 and not numbers.excluded:
        return wanted[0]
    return _Several(wanted, [_member(other) for other in numbers.excluded])


class _Several:
    """Do all of some constraints hold, and none of others? A state holds the states of each."""

    def __init__(self, wanted: list[Constraint], excluded: list[Constraint]) -> None:
        self._parts = wanted + excluded
        # The verdict of a part that decides on the whole.
        self._fatal = [NO] * len(wanted) + [YES] * len(excluded)
        self.start = self._join(tuple(part.start for part in self._parts))

    def digit(self, state: Open) -> States:
        """Return the states after one more digit before the point."""
        columns = [
            part.digit(known) if known else [known] * 10
            for part, known in zip(self._parts, state, strict=True)
        ]
        return list(map(self._join, zip(*columns, strict=True)))

    def point(self, state: Open) -> State:
        """Return the state after the point."""
        parts = zip(self._parts, state, strict=True)
        return self._join(tuple(part.point(known) if known else known for part, known in parts))

    def decimal(self, state: Open) -> States:
        """Return the states after one more decimal."""
        columns = [
            part.decimal(known) if known else [known] * 10
            for part, known in zip(self._parts, state, strict=True)
        ]
        return list(map(self._join, zip(*columns, strict=True)))

    def accepts(self, state: Open) -> bool:
        """Return True if the number may end here."""
        return all(
            (part.accepts(known) if known else known is YES) is (fatal is NO)
            for part, known, fatal in zip(self._parts, state, self._fatal, strict=True)
        )

    def _join(self, states: Open) -> State:
        for state, fatal in zip(states, self._fatal, strict=True):
            if state is fatal:
                return NO
        return states if any(states) else YES


class _Phase(NamedTuple):
    """How much of the number there is: `decimals` is -1 before the point; `is_zero`: a lone 0."""

    has_digit: bool = False
    is_zero: bool = False
    is_positive: bool = False
    decimals: int = -1


class _Walk:
    """Goes from the start to all that can follow."""

    def __init__(self, member: Constraint, most_decimals: int | None) -> None:
        self._member = member
        # Without a bound, one decimal is as good as many.
        self._most = most_decimals or 1
        self._is_bounded = most_decimals is not None
        self._numbers: dict[tuple[_Phase, State], int] = {}
        self._states: list[tuple[_Phase, State]] = []
        self._edges: list[list[tuple[int, int, int]]] = []

    def automaton(self) -> Automaton:
        """Return the automaton, without the states that cannot accept.

        Raises:
            TooManyStates: it would have more than MAX_STATES.
        """
        if self._member.start is NO:
            return Automaton((), False)
        self._number(_Phase(), self._member.start)
        for phase, state in self._states:
            if len(self._states) > MAX_STATES:
                raise TooManyStates
            self._edges.append(self._follow(phase, state))
        accepting = [self._accepts(phase, state) for phase, state in self._states]
        alive = self._alive(accepting)
        if not alive[0]:
            return Automaton((), False)
        pairs = zip(accepting, self._states, strict=True)
        has_positive = any(accepts and phase.is_positive for accepts, (phase, _) in pairs)
        return Automaton(self._table(accepting, alive), has_positive)

    def _number(self, phase: _Phase, state: State) -> int:
        number = self._numbers.setdefault((phase, state), len(self._states))
        if number == len(self._states):
            self._states.append((phase, state))
        return number

    def _follow(self, phase: _Phase, state: State) -> list[tuple[int, int, int]]:
        """Return the edges to what follows, as in a table; they run upwards."""
        edges: list[tuple[int, int, int]] = []
        if phase.decimals < 0 and phase.has_digit:
            after = self._member.point(state) if state else state
            if after is not NO:
                target = self._number(_Phase(True, False, phase.is_positive, 0), after)
                edges.append((ord("."), ord("."), target))
        if phase.is_zero or (self._is_bounded and phase.decimals == self._most):
            return edges
        step: Callable[[Open], States]
        if phase.decimals < 0:
            step = self._member.digit
            zero = _Phase(True, not phase.has_digit, phase.is_positive)
            other = _Phase(True, False, True)
        else:
            step = self._member.decimal
            decimals = min(phase.decimals + 1, self._most)
            zero = _Phase(True, False, phase.is_positive, decimals)
            other = _Phase(True, False, True, decimals)
        follows = step(state) if state else [state] * 10
        byte = ord("0")
        for after in follows:
            if after is not NO:
                target = self._number(zero if byte == ord("0") else other, after)
                if edges and edges[-1][1] == byte - 1 and edges[-1][2] == target:
                    edges[-1] = (edges[-1][0], byte, target)
                else:
                    edges.append((byte, byte, target))
            byte += 1
        return edges

    def _accepts(self, phase: _Phase, state: State) -> bool:
        if not phase.has_digit or phase.decimals == 0:
            return False
        return self._member.accepts(state) if state else state is YES

    def _alive(self, accepting: list[bool]) -> list[bool]:
        """Tell from which states one can be reached that accepts."""
        before: list[list[int]] = [[] for _ in accepting]
        for number, edges in enumerate(self._edges):
            for _, _, target in edges:
                before[target].append(number)
        alive = list(accepting)
        queue = [number for number, accepts in enumerate(accepting) if accepts]
        while queue:
            for number in before[queue.pop()]:
                if not alive[number]:
                    alive[number] = True
                    queue.append(number)
        return alive

    def _table(self, accepting: list[bool], alive: list[bool]) -> Table:
        renumbered = [0] * len(alive)
        count = 0
        for number, is_alive in enumerate(alive):
            renumbered[number] = count
            count += is_alive
        return tuple(
            (
                accepting[number],
                tuple((a, b, renumbered[t]) for a, b, t in self._edges[number] if alive[t]),
            )
            for number, is_alive in enumerate(alive)
            if is_alive
        )
