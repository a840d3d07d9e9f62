"""What can be asked of an unsigned number, followed digit by digit.

A state is what a constraint must know of the digits so far, or the verdict, once that is known
whatever follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd
from typing import Any, Final, Protocol

from guided.text.json_schema.numbers.decimals import decimals_of, digits_of

# Each constraint has tuples of its own, none of them empty.
Open = tuple[Any, ...]
State = Open | None
NO: Final = None
YES: Final = ()

# What follows with each of the digits, in order.
States = Sequence[State]


class TooManyStates(Exception):
    """A constraint, or several together, would need more states than an automaton may have."""


class Constraint(Protocol):
    """A question about a number; all states given to it are neither YES nor NO."""

    @property
    def start(self) -> State:
        """The state before the first digit."""

    def digit(self, state: Open) -> States:
        """Return the states after one more digit before the point."""

    def point(self, state: Open) -> State:
        """Return the state after the point."""

    def decimal(self, state: Open) -> States:
        """Return the states after one more decimal."""

    def accepts(self, state: Open) -> bool:
        """Return True if the number may end here."""


class Edge:
    """How does the number compare to another? Digits are compared as long as they are the same.

    States: (digits read, order so far) before the point, (decimals read,) after it, all equal.
    """

    start: State = (0, 0)

    def __init__(self, value: Fraction, below: bool, equal: bool, above: bool) -> None:
        whole, decimals = digits_of(value)
        self._whole, self._decimals = [*map(int, whole)], [*map(int, decimals)]
        self._below, self._above = (YES if fits else NO for fits in (below, above))
        self._fits_below, self._fits_equal = below, equal

    def digit(self, state: Open) -> States:
        """Return the states after one more digit before the point."""
        count, order = state
        length = len(self._whole)
        if count == length:
            return [self._above] * 10
        count += 1
        less, more = (count, -1), self._above if count == length else (count, 1)
        if order:
            return [less if order < 0 else more] * 10
        digit = self._whole[count - 1]
        return [*[less] * digit, (count, 0), *[more] * (9 - digit)]

    def point(self, state: Open) -> State:
        """Return the state after the point."""
        count, order = state
        return self._below if count < len(self._whole) or order < 0 else (0,)

    def decimal(self, state: Open) -> States:
        """Return the states after one more decimal."""
        (count,) = state
        is_over = count == len(self._decimals)
        digit, same = (0, state) if is_over else (self._decimals[count], (count + 1,))
        return [*[self._below] * digit, same, *[self._above] * (9 - digit)]

    def accepts(self, state: Open) -> bool:
        """Return True if the number may end here."""
        if len(state) == 1:
            is_equal = state[0] == len(self._decimals)
        else:
            is_equal = state == (len(self._whole), 0) and not self._decimals
        return self._fits_equal if is_equal else self._fits_below


class Step:
    """Is the number a whole multiple of a step?

    With n more digits p becomes p * 10**n + x, 0 <= x < 10**n. So all that matters of p is the
    least n with which it can become a multiple at all, and its remainder by what 10**n leaves of
    the modulus: 1000 needs to know of the last zeros only.

    States: (remainder,) before the point, (decimals read, remainder) after it.
    """

    start: State = (0,)

    def __init__(self, step: Fraction, most: int) -> None:
        self._scale = scale = decimals_of(step)
        self._modulus = modulus = int(step * 10**scale)
        self._tens = [1]
        while self._tens[-1] < modulus or len(self._tens) <= scale:
            self._tens.append(10 * self._tens[-1])
        # What matters of the modulus when so many digits follow.
        self._left = [modulus // gcd(modulus, ten) for ten in self._tens]
        self._known: dict[tuple[int, int], Open] = {}
        self._is_prime_to_ten = self._left[-1] == modulus
        if self._estimate() > most:
            raise TooManyStates

    def digit(self, state: Open) -> States:
        """Return the states after one more digit before the point."""
        (remainder,) = state
        modulus = self._modulus
        following = [(10 * remainder + digit) % modulus for digit in range(10)]
        if self._is_prime_to_ten:
            return [(remainder,) for remainder in following]
        return [self._whole(remainder) for remainder in following]

    def point(self, state: Open) -> State:
        """Return the state after the point."""
        return self._decimal(0, state[0])

    def decimal(self, state: Open) -> States:
        """Return the states after one more decimal."""
        count, remainder = state
        if count == self._scale:
            return [state, *[NO] * 9]
        return [self._decimal(count + 1, 10 * remainder + digit) for digit in range(10)]

    def accepts(self, state: Open) -> bool:
        """Return True if the number may end here."""
        missing = self._scale if len(state) == 1 else self._scale - state[0]
        return bool(state[-1] * self._tens[missing] % self._modulus == 0)

    def _estimate(self) -> int:
        """Return about how many states there are."""
        return sum(
            min(ten * left // self._modulus, left)
            for ten, left in zip(self._tens, self._left, strict=True)
        )

    def _whole(self, remainder: int) -> Open:
        """Return the state of the first number met that goes on as this one does."""
        modulus, tens = self._modulus, self._tens
        low, high = self._scale, len(tens) - 1
        while low < high:
            middle = (low + high) // 2
            if -remainder * tens[middle] % modulus < tens[middle]:
                high = middle
            else:
                low = middle + 1
        return self._known.setdefault((low, remainder % self._left[low]), (remainder,))

    def _decimal(self, count: int, remainder: int) -> State:
        missing = self._scale - count
        ten = self._tens[missing]
        if -remainder * ten % self._modulus >= ten:
            return NO
        return (count, remainder % self._left[missing])


class Listed:
    """Is the number one of a list? Its digits are walked as a trie.

    States: (place,) before the point, (place, are the digits so far a listed number) after it.
    A place of -1 is outside.
    """

    start: State = (0,)

    def __init__(self, values: Iterable[Fraction]) -> None:
        self._children: list[dict[str, int]] = [{}]
        self._ends = [False]
        for value in values:
            whole, decimals = digits_of(value)
            place = 0
            for symbol in f"{whole}.{decimals}" if decimals else whole:
                next_place = self._children[place].setdefault(symbol, len(self._children))
                if next_place == len(self._children):
                    self._children.append({})
                    self._ends.append(False)
                place = next_place
            self._ends[place] = True

    def digit(self, state: Open) -> States:
        """Return the states after one more digit before the point."""
        children = self._children[state[0]]
        return [(children[digit],) if digit in children else NO for digit in "0123456789"]

    def point(self, state: Open) -> State:
        """Return the state after the point."""
        return self._after(self._children[state[0]].get(".", -1), self._ends[state[0]])

    def decimal(self, state: Open) -> States:
        """Return the states after one more decimal."""
        place, is_listed = state
        children = self._children[place] if place >= 0 else {}
        return [
            self._after(children.get(digit, -1), is_listed and digit == "0")
            for digit in "0123456789"
        ]

    def accepts(self, state: Open) -> bool:
        """Return True if the number may end here."""
        return bool(self._ends[state[0]] if len(state) == 1 else state[1])

    def _after(self, place: int, is_listed: bool) -> State:
        is_listed = is_listed or (place >= 0 and self._ends[place])
        return (place, is_listed) if place >= 0 or is_listed else NO
