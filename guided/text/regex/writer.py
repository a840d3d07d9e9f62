"""Syntax trees without look-around to nodes, and the algebra of nodes that look-around needs."""

from __future__ import annotations

from guided._core import Arena
from guided.text.regex.codepoints import Ranges
from guided.text.regex.syntax import (
    Chars,
    Choice,
    Expression,
    Literal,
    Repeat,
    Sequence,
    repeat,
    sequence,
)
from guided.text.spelling import Spelling

EMPTY_NODE, NEVER_NODE = 0, 1


class Writer:
    """Writes into one arena, in one spelling."""

    def __init__(self, arena: Arena, spelling: Spelling) -> None:
        self.arena = arena
        self.spelling = spelling
        self.any_text = spelling.any_text(arena)
        self._written: dict[Expression, int] = {}

    def write(self, expression: Expression) -> int:
        """Return the node of an expression that does not peek.

        A loop and not a recursion, since patterns may be nested deeper than Python's stack.
        """
        stack = [expression]
        while stack:
            current = stack[-1]
            if current in self._written:
                stack.pop()
                continue
            missing = [part for part in _parts(current) if part not in self._written]
            if missing:
                stack.extend(missing)
            else:
                stack.pop()
                self._written[current] = self._write_one(current)
        return self._written[expression]

    def _write_one(self, expression: Expression) -> int:
        nodes = [self._written[part] for part in _parts(expression)]
        match expression:
            case Chars(ranges=ranges):
                return self.characters(ranges)
            case Literal(text=text):
                return self.spelling.literal(self.arena, text)
            case Sequence():
                return self.arena.sequence(nodes)
            case Choice():
                return self.arena.choice(nodes)
            case Repeat(minimum=minimum, maximum=maximum):
                return self.arena.repeat(nodes[0], minimum, maximum)
            case _:
                raise AssertionError(f"{type(expression).__name__} looks around")

    def characters(self, ranges: Ranges) -> int:
        """Return one character out of a set."""
        if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
            return self.spelling.literal(self.arena, chr(ranges[0][0]))
        return self.spelling.characters(self.arena, ranges) if ranges else NEVER_NODE

    def join(self, first: int, rest: int) -> int:
        """Return one node after the other."""
        return self.arena.sequence([first, rest])

    def meet(self, first: int, second: int) -> int:
        """Return what both match, without a product where one of them is trivial."""
        if second == self.any_text or first in (second, NEVER_NODE):
            return first
        if first == self.any_text or second == NEVER_NODE:
            return second
        if EMPTY_NODE in (first, second):
            other = second if first == EMPTY_NODE else first
            return EMPTY_NODE if self.arena.is_nullable(other) else NEVER_NODE
        return self.arena.both(first, second)

    def without(self, first: int, second: int) -> int:
        """Return what the first matches and the second does not."""
        if second in (first, self.any_text) or first == NEVER_NODE:
            return NEVER_NODE
        if second == NEVER_NODE:
            return first
        if first == EMPTY_NODE:
            return NEVER_NODE if self.arena.is_nullable(second) else EMPTY_NODE
        if second == EMPTY_NODE and not self.arena.is_nullable(first):
            return first
        return self.arena.minus(first, second)

    def beginning(self, ranges: Ranges, *, edge: bool) -> int:
        """Return the texts whose first character is in `ranges`, and if `edge` the empty one."""
        node = self.join(self.characters(ranges), self.any_text)
        return self.arena.choice([EMPTY_NODE, node]) if edge else node


def shorten(expression: Expression, *, front: bool) -> Expression:
    """Return what is as good as a plain expression where any text may follow, or precede.

    What may be left out at that end is left out: `ab+c*` followed by any text is `ab` followed by
    any text. This spares the automaton a choice that does not matter.
    """
    items = expression.items if isinstance(expression, Sequence) else (expression,)
    while items:
        outer = items[0 if front else -1]
        if outer.peeks:
            break
        if not outer.nullable:
            if isinstance(outer, Repeat) and outer.maximum != outer.minimum:
                least = repeat(outer.item, outer.minimum, outer.minimum)
                items = (least, *items[1:]) if front else (*items[:-1], least)
            break
        items = items[1:] if front else items[:-1]
    return sequence(items)


def _parts(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case Sequence(items=items):
            return items
        case Choice(alternatives=alternatives):
            return alternatives
        case Repeat(item=item):
            return (item,)
        case _:
            return ()
