"""Which rules of a GBNF grammar a text is in the middle of, where it ends.

Rules are read as automata over characters, and run by Earley's algorithm: what is asked for is not
whether the text fits, which the engine tells, but through which rules it came there.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from guided.text.checks.outline import (
    Characters,
    Choice,
    Opaque,
    Outline,
    Part,
    Pattern,
    Ranges,
    Reference,
    Repeat,
    Sequence,
    Text,
)

MAX_STATES = 20_000
MAX_ITEMS = 200_000
MAX_WAYS = 4


class _TooLargeError(Exception):
    """The grammar or the text is too large to be told in a moment."""


@dataclass(slots=True)
class _State:
    """A place within a rule, and what leads on from there.

    Attributes:
        rule: its number; a state that has no way on and is the last one of it ends the rule.
    """

    rule: int
    is_end: bool = False
    skips: list[int] = field(default_factory=list)
    characters: list[tuple[Ranges, int]] = field(default_factory=list)
    calls: list[tuple[int, int]] = field(default_factory=list)


_Item = tuple[int, int]  # a state, and where its rule began


def open_rules(outline: Outline, text: str) -> list[list[str]]:
    """Return the ways from the start to where a text ends, each as the rules it goes through.

    Of each innermost rule one way is told, a shortest one, and of no more than `MAX_WAYS` rules.
    Nothing, where the grammar holds tokens or patterns, or is too large.

    Source: Earley, "An efficient context-free parsing algorithm", CACM 1970; nullable rules as in
    Aycock and Horspool, "Practical Earley parsing", 2002.
    """
    try:
        machine = _Machine(outline)
        sets = machine.run(text)
    except (_TooLargeError, RecursionError):
        return []
    return [] if sets is None else machine.ways(sets)


class _Machine:
    """The rules of an outline as automata, which refer to each other by number."""

    def __init__(self, outline: Outline) -> None:
        self.names = list(outline.rules)
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self.states: list[_State] = []
        self.starts: list[int] = []
        for number, rule in enumerate(outline.rules.values()):
            start, end = self._new(number), self._new(number)
            self.states[end].is_end = True
            self.starts.append(start)
            self._build(rule.body, start, end, number)
        self.root = self.numbers[outline.start]

    def run(self, text: str) -> list[dict[_Item, None]] | None:
        """Return the items after each character; None if the text does not fit."""
        sets: list[dict[_Item, None]] = [{(self.starts[self.root], 0): None}]
        self._waiting: list[dict[int, list[_Item]]] = []
        count = 0
        for index in range(len(text) + 1):
            following: dict[_Item, None] = {}
            self._close(sets, index)
            count += len(sets[index])
            if count > MAX_ITEMS:
                raise _TooLargeError
            if index == len(text):
                break
            code_point = ord(text[index])
            for state, origin in sets[index]:
                for ranges, target in self.states[state].characters:
                    if any(first <= code_point <= last for first, last in ranges):
                        following[target, origin] = None
            if not following:
                return None
            sets.append(following)
        return sets

    def ways(self, sets: list[dict[_Item, None]]) -> list[list[str]]:
        """Return a shortest way from the start to each rule that waits for a character."""
        last = len(sets) - 1
        ways: dict[int, list[str]] = {}
        # Upwards from each item; those that are met twice have been gone through.
        for item in sets[last]:
            rule = self.states[item[0]].rule
            if not self.states[item[0]].characters or rule in ways or len(ways) == MAX_WAYS:
                continue
            way = self._way(item)
            if way is not None:
                ways[rule] = [self.names[each] for each in way]
        return list(ways.values())

    def _way(self, item: _Item) -> list[int] | None:
        before: dict[tuple[int, int], tuple[int, int] | None] = {}
        first = (self.states[item[0]].rule, item[1])
        before[first] = None
        waiting = [first]
        for place in waiting:
            rule, origin = place
            if rule == self.root and origin == 0:
                way = []
                current: tuple[int, int] | None = place
                while current is not None:
                    way.append(current[0])
                    current = before[current]
                return way
            for state, begun in self._waiting[origin].get(rule, ()):
                above = (self.states[state].rule, begun)
                if above not in before:
                    before[above] = place
                    waiting.append(above)
        return None

    def _close(self, sets: list[dict[_Item, None]], index: int) -> None:
        """Add what follows from the items of a set without another character."""
        items = sets[index]
        callers: dict[int, list[_Item]] = defaultdict(list)
        self._waiting.append(callers)
        ended: set[int] = set()  # rules that end where they begin
        queue = list(items)

        def add(item: _Item) -> None:
            if item not in items:
                items[item] = None
                queue.append(item)

        for state, origin in queue:
            here = self.states[state]
            for target in here.skips:
                add((target, origin))
            for rule, target in here.calls:
                callers[rule].append((state, origin))
                add((self.starts[rule], index))
                if rule in ended:
                    add((target, origin))
            if here.is_end:
                if origin == index:
                    ended.add(here.rule)
                for caller, begun in list(self._waiting[origin].get(here.rule, ())):
                    for rule, target in self.states[caller].calls:
                        if rule == here.rule:
                            add((target, begun))

    def _new(self, rule: int) -> int:
        if len(self.states) >= MAX_STATES:
            raise _TooLargeError
        self.states.append(_State(rule))
        return len(self.states) - 1

    def _build(self, part: Part, start: int, end: int, rule: int) -> None:
        """Let a part lead from one state to another."""
        if isinstance(part, Text):
            for letter in part.text:
                following = self._new(rule)
                code_point = ord(letter)
                self.states[start].characters.append((((code_point, code_point),), following))
                start = following
            self.states[start].skips.append(end)
        elif isinstance(part, Characters):
            self.states[start].characters.append((part.ranges, end))
        elif isinstance(part, Reference):
            if part.name not in self.numbers:
                raise _TooLargeError
            self.states[start].calls.append((self.numbers[part.name], end))
        elif isinstance(part, Choice):
            for each in part.parts:
                self._build(each, start, end, rule)
        elif isinstance(part, Sequence):
            for each in part.parts:
                following = self._new(rule)
                self._build(each, start, following, rule)
                start = following
            self.states[start].skips.append(end)
        elif isinstance(part, Repeat):
            self._build_repeat(part, start, end, rule)
        elif isinstance(part, Opaque | Pattern):
            raise _TooLargeError

    def _build_repeat(self, part: Repeat, start: int, end: int, rule: int) -> None:
        for _ in range(part.minimum):
            following = self._new(rule)
            self._build(part.part, start, following, rule)
            start = following
        for _ in range((part.maximum or 0) - part.minimum):
            self.states[start].skips.append(end)
            following = self._new(rule)
            self._build(part.part, start, following, rule)
            start = following
        if part.maximum is None:
            loop = self._new(rule)
            self.states[start].skips.append(loop)
            self._build(part.part, loop, loop, rule)
            start = loop
        self.states[start].skips.append(end)
