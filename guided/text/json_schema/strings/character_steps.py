"""A regular node as an automaton over characters, and that in the spellings of a JSON string.

Most nodes are spelled part by part. An automaton over bytes, as lazy patterns, stop texts and
quotations have it, must be taken apart into characters first, and so must texts that share the
first bytes of a character.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from guided._core import Arena, Automaton, Matcher
from guided.errors import GrammarError, LimitError
from guided.text.json_schema.strings.byte_walk import bytes_vocabulary

MAX_STATES = 20_000

# Code points, or what is left of them, from one to another, and the state that they lead to.
Step = tuple[int, int, int]
Steps = tuple[Step, ...]

ByteState = tuple[bool, list[tuple[int, int, int]]]


class CharacterState(NamedTuple):
    """Whether a text may end here, and where its characters lead."""

    ends: bool
    steps: Steps


def character_automaton(arena: Arena, node: int) -> list[CharacterState]:
    """Return the states of the texts of a regular node that are UTF-8; the first is the start.

    Raises:
        LimitError: there are more than 20,000.
    """
    own = arena.clone()
    try:
        automaton = Automaton(own, own.both(own.any_text(), node), bytes_vocabulary())
    except GrammarError:  # there is no such text
        return [CharacterState(False, ())]
    walk = _CharacterWalk(Matcher(automaton))
    return list(walk.states())


class _CharacterWalk:
    """Walks an automaton over bytes character by character."""

    def __init__(self, start: Matcher) -> None:
        self._numbers = {start.state(): 0}
        self._waiting = [start]
        # What bytes that go on with a character may come to: many places lead on alike.
        self._tails: dict[tuple[int, int], Steps] = {}

    def states(self) -> Iterator[CharacterState]:
        """Give the states, those first that are met first."""
        for matcher in self._waiting:
            found: list[Step] = []
            for byte in matcher.allowed_bytes():
                after = Matcher(matcher)
                after.accept_bytes(bytes((byte,)))
                if byte < 0x80:
                    _add(found, (byte, byte, self._number(after)))
                    continue
                more = 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
                base = (byte & (0x3F >> more)) << (6 * more)
                for low, high, target in self._rest(after, more):
                    _add(found, (base + low, base + high, target))
            yield CharacterState(matcher.is_complete, tuple(found))

    def _rest(self, matcher: Matcher, more: int) -> Steps:
        """Return what `more` bytes may come to, as numbers from 0."""
        key = (matcher.state(), more)
        known = self._tails.get(key)
        if known is None:
            found: list[Step] = []
            for byte in matcher.allowed_bytes():
                after = Matcher(matcher)
                after.accept_bytes(bytes((byte,)))
                base = (byte & 0x3F) << (6 * (more - 1))
                if more == 1:
                    _add(found, (base, base, self._number(after)))
                    continue
                for low, high, target in self._rest(after, more - 1):
                    _add(found, (base + low, base + high, target))
            known = self._tails[key] = tuple(found)
        return known

    def _number(self, matcher: Matcher) -> int:
        """Return the number of a state between two characters."""
        number = self._numbers.get(matcher.state())
        if number is None:
            if len(self._numbers) >= MAX_STATES:
                raise LimitError(
                    "a part of a grammar in a JSON string has too many states",
                    limit="states",
                    value=MAX_STATES,
                )
            number = self._numbers[matcher.state()] = len(self._numbers)
            self._waiting.append(matcher)
        return number


def _add(steps: list[Step], step: Step) -> None:
    """Add a step that comes after others; one that goes on with the last is joined to it."""
    if steps and steps[-1][1] == step[0] - 1 and steps[-1][2] == step[2]:
        steps[-1] = (steps[-1][0], *step[1:])
    else:
        steps.append(step)


class SpelledAutomaton:
    """Writes an automaton over characters as one over the bytes of a JSON string.

    Args:
        states: the automaton.
        plain: the code points that may stand for themselves.
        short: by code point, the letters after a backslash that stand for it.
        long: the code points that may be written as `\\uXXXX`, beyond U+FFFF as two of these.
    """

    def __init__(
        self,
        states: list[CharacterState],
        plain: tuple[tuple[int, int], ...],
        short: Mapping[int, str],
        long: tuple[tuple[int, int], ...],
    ) -> None:
        self._short = short
        self._plain = plain
        self._long = long
        # The states of the automaton keep their numbers; those within a character come after.
        self._edges: list[list[tuple[int, int, int]]] = [[] for _ in states]
        self._ends = [state.ends for state in states]
        self._known: dict[object, int] = {}
        for number, state in enumerate(states):
            self._edges[number] = self._begin(state.steps)

    def states(self) -> list[ByteState]:
        """Return the states as `Arena.dfa` takes them."""
        ends = self._ends + [False] * (len(self._edges) - len(self._ends))
        return [(end, sorted(edges)) for end, edges in zip(ends, self._edges, strict=True)]

    def _begin(self, steps: Steps) -> list[tuple[int, int, int]]:
        edges = self._as_utf8(_within(steps, self._plain))
        escapes = [
            (ord(letter), ord(letter), target)
            for low, high, target in steps
            for code, letters in self._short.items()
            if low <= code <= high
            for letter in letters
        ]
        if long := _within(steps, self._long):
            escapes.append((ord("u"), ord("u"), self._digits(self._halves(long), 4)))
        if escapes:
            edges.append((0x5C, 0x5C, self._state(escapes)))
        return edges

    def _as_utf8(self, steps: Steps) -> list[tuple[int, int, int]]:
        edges = list(_within(steps, ((0, 0x7F),)))
        for more, lead, span in ((1, 0xC0, (0x80, 0x7FF)), (2, 0xE0, (0x800, 0xFFFF)),
                                 (3, 0xF0, (0x10000, 0x10FFFF))):  # fmt: skip
            for first, last, inner in _blocks(_within(steps, (span,)), 64**more):
                edges.append((lead | first, lead | last, self._tail(inner, more)))
        return edges

    def _tail(self, steps: Steps, more: int) -> int:
        """Return the state before the last `more` bytes of a character."""
        if more == 0:
            return steps[0][2]
        key = ("tail", more, steps)
        if key not in self._known:
            edges = [
                (0x80 | first, 0x80 | last, self._tail(inner, more - 1))
                for first, last, inner in _blocks(steps, 64 ** (more - 1))
            ]
            self._known[key] = self._state(edges)
        return self._known[key]

    def _halves(self, steps: Steps) -> Steps:
        """Return steps by numbers of 16 bits: of pairs the first half, and where that leads."""
        near = _within(steps, ((0, 0xFFFF),))
        far = tuple(
            (low - 0x10000, high - 0x10000, target)
            for low, high, target in _within(steps, ((0x10000, 0x10FFFF),))
        )
        first_halves = [
            (0xD800 + first, 0xD800 + last, self._second_half(inner))
            for first, last, inner in _blocks(far, 0x400)
        ]
        return tuple(sorted([*near, *first_halves]))

    def _second_half(self, steps: Steps) -> int:
        key = ("half", steps)
        if key not in self._known:
            digits = tuple((0xDC00 + low, 0xDC00 + high, target) for low, high, target in steps)
            letter = self._state([(ord("u"), ord("u"), self._digits(digits, 4))])
            self._known[key] = self._state([(0x5C, 0x5C, letter)])
        return self._known[key]

    def _digits(self, steps: Steps, more: int) -> int:
        """Return the state before `more` hexadecimal digits, in either case."""
        if more == 0:
            return steps[0][2]
        key = ("digits", more, steps)
        if key not in self._known:
            edges = []
            for first, last, inner in _blocks(steps, 16 ** (more - 1)):
                target = self._digits(inner, more - 1)
                for digits in ("0123456789", "abcdef", "ABCDEF"):
                    start = 0 if digits[0] == "0" else 10
                    low, high = max(first, start), min(last, start + len(digits) - 1)
                    if low <= high:
                        edges.append((ord(digits[low - start]), ord(digits[high - start]), target))
            self._known[key] = self._state(edges)
        return self._known[key]

    def _state(self, edges: list[tuple[int, int, int]]) -> int:
        self._edges.append(edges)
        return len(self._edges) - 1


def _within(steps: Steps, spans: tuple[tuple[int, int], ...]) -> Steps:
    """Return the parts of steps that are in some spans."""
    return tuple(
        (max(low, first), min(high, last), target)
        for low, high, target in steps
        for first, last in spans
        if low <= last and first <= high
    )


def _blocks(steps: Steps, size: int) -> Iterator[tuple[int, int, Steps]]:
    """Cut steps into blocks of numbers: from which to which block, and the steps within each.

    Blocks in a row that lie within one step are given as one.
    """
    cut: dict[int, list[Step]] = {}
    for low, high, target in steps:
        first, last = low // size, high // size
        whole_first = first if low == first * size else first + 1
        whole_last = last if high == last * size + size - 1 else last - 1
        if whole_first <= whole_last:
            yield whole_first, whole_last, ((0, size - 1, target),)
        for block in {first, last}:
            if not whole_first <= block <= whole_last:
                base = block * size
                inner = (max(low - base, 0), min(high - base, size - 1), target)
                cut.setdefault(block, []).append(inner)
    for block, inner_steps in cut.items():
        yield block, block, tuple(sorted(inner_steps))
