"""The tree of a composition as nodes of one arena."""

from __future__ import annotations

from guided._core import Arena
from guided.errors import UnsupportedError
from guided.text.composition.parts import (
    Capture,
    Choice,
    Leaf,
    Part,
    Repeat,
    Sequence,
    Token,
    Unordered,
    Until,
    Verbatim,
)
from guided.text.lark.verbatim import write_spans
from guided.text.tags import LateNodes, transplant
from guided.text.tags.occurrences import Occurrences
from guided.text.tags.transplant import whole_text

PAGE = "docs/composition.md"
EMPTY = 0


def write_part(part: Part) -> Leaf:
    """Write a part into an arena of its own; a leaf has one already.

    Raises:
        UnsupportedError: what stands before a stop text is not regular.
        LimitError: it comes to too many nodes.
    """
    if isinstance(part, Leaf):
        return part
    writer = _Writer()
    start = writer.node(part)
    return Leaf(part, writer.arena, start, writer.late)


def refuse_whole_texts(leaf: Leaf) -> None:
    """Refuse a grammar that can only be that of a whole text.

    Raises:
        UnsupportedError: it is one of Lark's LALR parser and its lexers.
    """
    if leaf.arena.node(leaf.start) == ("lalr",):
        raise whole_text()


class _Writer:
    """Writes the parts of one tree, equal ones once."""

    def __init__(self) -> None:
        self.arena = Arena()
        self.late: LateNodes = {}
        self._known: dict[Part, int] = {}

    def node(self, part: Part) -> int:
        known = self._known.get(part)
        if known is None:
            known = self._known[part] = self._write(part)
        return known

    def _write(self, part: Part) -> int:
        arena = self.arena
        match part:
            case Leaf():
                node, late = transplant(part.arena, part.start, arena, part.late)
                self.late |= late
                return node
            case Token(named, negated):
                rule = arena.rule(str(named))
                self.late[rule] = (named, negated)
                return rule
            case Verbatim(text, unit):
                return write_spans(arena, text, unit)
            case Until(stops, inner):
                return self._until(stops, inner)
            case Sequence(parts):
                return arena.sequence([self.node(each) for each in parts])
            case Choice(parts):
                return arena.choice([self.node(each) for each in parts])
            case Capture(_, inner):
                return self.node(inner)
            case Repeat(inner, minimum, maximum, separator):
                return self._repeat(self.node(inner), minimum, maximum, separator)
            case Unordered(parts, separator):
                return self._unordered(part)
        raise AssertionError(part)

    def _until(self, stops: tuple[str, ...], inner: Part | None) -> int:
        arena = self.arena
        occurrences = Occurrences(arena, stops)
        if inner is None:
            return arena.choice([occurrences.first(stop) for stop in stops])
        node = self.node(inner)
        if not arena.is_operand(node):
            raise UnsupportedError(
                f"what stands before the stop text {stops[0]!r} is not regular: it has rules,"
                " tokens or host names",
                keyword="until",
                page=PAGE,
                mend="give a pattern, or choices and repetitions of patterns",
            )
        # An occurrence may begin in the part and end in what follows: of the two together the first
        # one is to be at the end.
        return arena.choice(
            [
                arena.both(arena.sequence([node, arena.literal(stop)]), occurrences.first(stop))
                for stop in stops
            ]
        )

    def _repeat(self, node: int, minimum: int, maximum: int | None, separator: Part | None) -> int:
        arena = self.arena
        if separator is None:
            return arena.repeat(node, minimum, maximum)
        if maximum == 0:
            return EMPTY
        between = arena.sequence([self.node(separator), node])
        most = None if maximum is None else maximum - 1
        some = arena.sequence([node, arena.repeat(between, max(0, minimum - 1), most)])
        return some if minimum else arena.choice([EMPTY, some])

    def _unordered(self, part: Unordered) -> int:
        """Write a rule for each set of parts that may be left: it chooses one, and leaves less."""
        arena = self.arena
        nodes = sorted(self.node(each) for each in part.parts)
        between = EMPTY if part.separator is None else self.node(part.separator)
        rules: dict[tuple[int, ...], int] = {(node,): node for node in nodes} | {(): EMPTY}
        waiting: list[tuple[int, ...]] = []

        def rest(left: tuple[int, ...]) -> int:
            if left not in rules:
                rules[left] = arena.rule(f"unordered, {len(left)} left")
                waiting.append(left)
            return rules[left]

        start = rest(tuple(nodes))
        while waiting:
            left = waiting.pop()
            ways = []
            for place, first in enumerate(left):
                if place and left[place - 1] == first:
                    continue
                after = rest(left[:place] + left[place + 1 :])
                ways.append(arena.sequence([first, between, after]))
            arena.define(rules[left], arena.choice(ways))
        return start
