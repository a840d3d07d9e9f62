"""One step of a pattern by one character: what may come next, and what is owed to the text ahead.

A continuation is what is left of a pattern, a tuple of expressions. To expand it is to find the
characters that it can begin with and the continuations after them, without reading any (partial
derivatives: Antimirov, TCS 1996). Look-aheads met on the way become obligations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from guided.errors import LimitError
from guided.text.regex.codepoints import ANY, Ranges, intersect, subtract
from guided.text.regex.syntax import (
    Atomic,
    Chars,
    Choice,
    Expression,
    Literal,
    Look,
    Neighbour,
    Repeat,
    Sequence,
    literal,
    repeat,
)
from guided.text.regex.windows import ANYTHING_BEFORE, Ending, Window, endings

MAX_EXPANSIONS = 2_000
MAX_OBLIGATIONS = 64
MAX_HISTORIES = 64

START = -1

Continuation = tuple[Expression, ...]
History = tuple[int, ...]


class Refusal(Exception):
    """A construct that the automaton of a repetition cannot hold."""

    def __init__(self, what: str, index: int) -> None:
        super().__init__(what)
        self.what = what
        self.index = index


@dataclass(frozen=True, slots=True)
class Obligation:
    """The text ahead must (or must not) begin with `rest`."""

    must: bool
    rest: Continuation


@dataclass(frozen=True, slots=True)
class Consume:
    """One character out of `ranges`, then `rest`; `owed` counts from before that character."""

    ranges: Ranges
    owed: frozenset[Obligation]
    rest: Continuation


@dataclass(frozen=True, slots=True)
class Accept:
    """Nothing is left; the next character must be in `ranges`, or if `edge` there may be none."""

    ranges: Ranges
    owed: frozenset[Obligation]
    edge: bool


@dataclass(frozen=True, slots=True)
class _Point:
    """A place in the middle of an expansion."""

    rest: Continuation
    ranges: Ranges = ANY
    edge: bool = True
    owed: frozenset[Obligation] = frozenset()
    entered: frozenset[Expression] = frozenset()
    """The repetitions of which a round has begun here: another empty one changes nothing."""


class Expander:
    """Expands the continuations of one expression.

    Attributes:
        kinds: the kinds of characters that the conditions on what precedes tell apart.
        memory: how many characters back those conditions look.

    A *history* is the kinds of the last `memory` characters; it is shorter only where the text has
    not more of them, and then begins with `START`.
    """

    def __init__(self, expression: Expression) -> None:
        self._behind = _conditions_before(expression)
        sets = [
            sets for found in self._behind.values() for each in found for sets in each.window.sets
        ]
        self.kinds = split_by(ANY, sets)
        widths = [each.window.width for found in self._behind.values() for each in found]
        self.memory = max(widths, default=0)
        self._tails: dict[tuple[Expression, int], Expression] = {}
        self._rounds: dict[tuple[Expression, int, int | None], Expression] = {}
        self._expanded: dict[tuple[Continuation, History], list[Consume | Accept]] = {}

    def histories(self) -> dict[Window, History]:
        """Return what can have been before the repetition, each as a window and as a history."""
        if not self.memory:
            return {ANYTHING_BEFORE: ()}
        found: dict[Window, History] = {}
        level: list[History] = [()]
        for _ in range(self.memory):
            for history in level:
                found[Window(True, self._sets(history))] = (START, *history)
            level = [(kind, *history) for kind in range(len(self.kinds)) for history in level]
            if len(level) > MAX_HISTORIES:
                raise Refusal("a look-behind at so many characters", 0)
        found.update((Window(False, self._sets(history)), history) for history in level)
        return found

    def _sets(self, history: History) -> tuple[Ranges, ...]:
        return tuple(self.kinds[kind] for kind in history if kind != START)

    def remember(self, history: History, part: Ranges) -> History:
        """Return the history after one more character out of a set, all of one kind."""
        if not self.memory:
            return ()
        kind = next(kind for kind, members in enumerate(self.kinds) if intersect(members, part))
        return (*history, kind)[-self.memory :]

    def expand(self, continuation: Continuation, history: History) -> list[Consume | Accept]:
        """Return the ways in which a continuation can go on after this history."""
        key = (continuation, history)
        if key not in self._expanded:
            self._expanded[key] = list(self._expand(continuation, history))
        return self._expanded[key]

    def _expand(self, continuation: Continuation, history: History) -> Iterator[Consume | Accept]:
        waiting = [_Point(continuation)]
        seen = set(waiting)
        while waiting:
            point = waiting.pop()
            if not point.rest:
                yield Accept(point.ranges, point.owed, point.edge)
                continue
            head, tail = point.rest[0], point.rest[1:]
            if isinstance(head, Chars | Literal):
                first, left = self._first(head)
                if allowed := intersect(first, point.ranges):
                    yield Consume(allowed, point.owed, left + tail)
                continue
            for following in self._follow(point, head, tail, history):
                if following not in seen:
                    seen.add(following)
                    waiting.append(following)
            if len(seen) > MAX_EXPANSIONS:
                raise LimitError(
                    "a repetition that looks around is too large",
                    limit="expansions",
                    value=MAX_EXPANSIONS,
                )

    def _first(self, head: Chars | Literal) -> tuple[Ranges, Continuation]:
        """Return the first character of an expression and what is left of it."""
        if isinstance(head, Chars):
            return head.ranges, ()
        code = ord(head.text[0])
        key = (head, 1)
        if key not in self._tails:
            self._tails[key] = literal(head.text[1:])
        return ((code, code),), (self._tails[key],)

    def _follow(
        self, point: _Point, head: Expression, tail: Continuation, history: History
    ) -> Iterator[_Point]:
        """Yield the places that follow when `head`, which is no character, is taken apart."""

        def at(rest: Continuation, entered: frozenset[Expression] = point.entered) -> _Point:
            return _Point(rest, point.ranges, point.edge, point.owed, entered)

        match head:
            case Sequence(items=items):
                yield at(items + tail)
            case Choice(alternatives=alternatives):
                yield from (at((each, *tail)) for each in alternatives)
            case Repeat():
                if head.minimum == 0 or (head.item.nullable and not head.item.peeks):
                    yield at(tail)
                if head not in point.entered:
                    rounds = (head.item, *self._another_round(head))
                    yield at(rounds + tail, point.entered | {head})
            case Neighbour():
                yield from self._follow_neighbour(point, head, tail, history)
            case Look(ahead=True):
                owed = point.owed | {Obligation(not head.negative, (head.item,))}
                yield _Point(tail, point.ranges, point.edge, owed, point.entered)
            case Look():
                yield from self._follow_behind(point, head, tail, history)
            case Atomic():
                raise Refusal("an atomic group or possessive quantifier", head.index)

    def _another_round(self, head: Repeat) -> Continuation:
        if head.maximum == 1:
            return ()
        if head.minimum == 0 and head.maximum is None:
            return (head,)
        maximum = None if head.maximum is None else head.maximum - 1
        key = (head.item, max(0, head.minimum - 1), maximum)
        if key not in self._rounds:
            self._rounds[key] = repeat(*key)
        return (self._rounds[key],)

    def _follow_neighbour(
        self, point: _Point, head: Neighbour, tail: Continuation, history: History
    ) -> Iterator[_Point]:
        if head.ahead:
            allowed = intersect(point.ranges, head.ranges)
            edge = point.edge and head.edge
            if allowed or edge:
                yield _Point(tail, allowed, edge, point.owed, point.entered)
            return
        yield from self._follow_behind(point, head, tail, history)

    def _follow_behind(
        self, point: _Point, head: Look | Neighbour, tail: Continuation, history: History
    ) -> Iterator[_Point]:
        """Go on where what precedes, which is known, permits it."""
        ways = [each for each in self._behind[head] if self._is_met(each.window, history)]
        if isinstance(head, Neighbour) or not head.negative:
            options = [(each.ranges, each.edge) for each in ways]
        else:
            allowed, edge = ANY, True
            for each in ways:
                allowed, edge = subtract(allowed, each.ranges), edge and not each.edge
            options = [(allowed, edge)]
        for ranges, edge in options:
            both = intersect(point.ranges, ranges)
            if both or (edge and point.edge):
                yield _Point(tail, both, edge and point.edge, point.owed, point.entered)

    def _is_met(self, window: Window, history: History) -> bool:
        """Return True if a text with this history ends with the window."""
        wanted = ((), *window.sets) if window.edge else window.sets
        if len(wanted) > len(history):
            return False
        tail = history[len(history) - len(wanted) :]
        return all(
            not ranges if kind == START else bool(intersect(self.kinds[kind], ranges))
            for ranges, kind in zip(wanted, tail, strict=True)
        )

    def split(self, ranges: Ranges, owed: Iterable[Obligation], history: History) -> list[Ranges]:
        """Cut a set where its members make a difference to an obligation or are of two kinds."""
        cuts = list(self.kinds)
        waiting = list(owed)
        seen = set(waiting)
        while waiting:
            for option in self.expand(waiting.pop().rest, history):
                cuts.append(option.ranges)
                new = option.owed - seen
                seen |= new
                waiting.extend(new)
        return split_by(ranges, cuts)

    def advance(
        self, owed: Iterable[Obligation], part: Ranges, history: History
    ) -> list[frozenset[Obligation]]:
        """Return the obligations left after one character, for each way to meet them."""
        ways: list[frozenset[Obligation]] = [frozenset()]
        for obligation in owed:
            after = self._advance_one(obligation, part, history)
            ways = list(dict.fromkeys(way | more for way in ways for more in after))
            if len(ways) > MAX_OBLIGATIONS or any(len(way) > MAX_OBLIGATIONS for way in ways):
                raise LimitError(
                    "a repetition has too many look-aheads under way",
                    limit="obligations",
                    value=MAX_OBLIGATIONS,
                )
        return ways

    def _advance_one(
        self, obligation: Obligation, part: Ranges, history: History
    ) -> list[frozenset[Obligation]]:
        options = [
            option
            for option in self.expand(obligation.rest, history)
            if intersect(option.ranges, part)
        ]
        if obligation.must:
            ways: dict[frozenset[Obligation], None] = {}
            for option in options:
                own = _obligation(True, option)
                ways.update((own | more, None) for more in self.advance(option.owed, part, history))
            return list(ways)
        avoided: list[frozenset[Obligation]] = [frozenset()]
        for option in options:
            failures = [own] if (own := _obligation(False, option)) else []
            for owed in option.owed:  # it fails as well where what it looks at is not so
                failures += self.advance([Obligation(not owed.must, owed.rest)], part, history)
            avoided = list(dict.fromkeys(way | more for way in avoided for more in failures))
        return avoided


def _obligation(must: bool, option: Consume | Accept) -> frozenset[Obligation]:
    """Return what is left of an option after its character; nothing if it is complete."""
    left = () if isinstance(option, Accept) else option.rest
    return frozenset({Obligation(must, left)}) if left else frozenset()


def split_by(ranges: Ranges, cuts: Iterable[Ranges]) -> list[Ranges]:
    """Cut a set into parts that lie wholly within or wholly outside of each other set."""
    parts = [ranges]
    for cut in dict.fromkeys(cuts):
        halves = []
        for part in parts:
            halves += [half for half in (intersect(part, cut), subtract(part, cut)) if half]
        parts = halves
    return parts


def _conditions_before(item: Expression) -> dict[Expression, list[Ending]]:
    """Return the conditions on what precedes that stand in an expression, as windows."""
    found: dict[Expression, list[Ending]] = {}
    waiting = [item]
    while waiting:
        current = waiting.pop()
        match current:
            case Neighbour(ahead=False) | Look(ahead=False):
                inner = current if isinstance(current, Neighbour) else current.item
                ways = endings(inner)
                if ways is None:
                    index = 0 if isinstance(current, Neighbour) else current.index
                    raise Refusal("a look-behind of no bounded width", index)
                found[current] = ways
            case Sequence(items=parts) | Choice(alternatives=parts):
                waiting.extend(parts)
            case Repeat(item=part) | Look(item=part) | Atomic(item=part):
                waiting.append(part)
            case _:
                pass
    return found
