"""The threads of a pattern: what `re` has still to match, in the order in which it tries it.

A thread is a *place*, the list of what is left of the pattern, and *conditions*, the look-aheads
under way that must come true. At one position of the text the threads have an order, that of
backtracking; the first that comes to its end is what `re` matches. Two threads at the same place
go on alike, so the second is dropped: this bounds their number (Pike's simulation, as in RE2).

What a loop does after a round that matched the empty text is `re`'s own: it leaves. Hence a place
says of each loop around it whether its round *began* at this very position.
Source: Cox, "Regular Expression Matching: the Virtual Machine Approach", 2009, for the simulation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from guided.errors import LimitError
from guided.text.lark.leftmost_bytes import CharacterClasses
from guided.text.regex.codepoints import Ranges, single
from guided.text.regex.source import Source
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
)

DONE = 0
"""The place at the end of the pattern."""
MAX_WORK = 800_000  # one to three seconds
MAX_LOOK_DEPTH = 20


class Pending(NamedTuple):
    """A look-ahead under way: one of `threads` must come to its end, or if `negative` none."""

    negative: bool
    threads: frozenset[Thread]


class Next(NamedTuple):
    """The next character is of one of the classes in `mask`, or if `edge` there is none."""

    mask: int
    edge: bool


Conditions = frozenset[Pending | Next]
Thread = tuple[int, Conditions]
NONE: Conditions = frozenset()


class _Frame(NamedTuple):
    """What is left first of a place; `at` counts items, characters or rounds that are done."""

    expression: Expression
    at: int
    began: bool
    rest: int


class Threads:
    """The threads of one pattern.

    Attributes:
        classes: the characters that the pattern tells apart.
        behind: what looks back, each after those within it.
        verdicts: for those, if it holds at the position under work.
        position: how far that is from the start, as far as that matters.
        looks_before: something looked back beyond the start.
    """

    def __init__(self, expression: Expression, source: Source) -> None:
        self.source = source
        sets: list[Ranges] = []
        self.behind: list[Look | Neighbour] = []
        self._collect(expression, sets)
        self.classes = CharacterClasses(sets)
        self._index = {each: number for number, each in enumerate(self.behind)}
        self._frames: list[_Frame] = [_Frame(expression, -1, False, DONE)]  # stands for DONE
        self._places: dict[_Frame, int] = {}
        self._moved = {DONE: DONE}
        self._masks: dict[int, int] = {}
        self.verdicts = [False] * len(self.behind)
        self.position = 0
        self.looks_before = False
        self._work = 0

    def _collect(self, expression: Expression, sets: list[Ranges]) -> None:
        """Gather the sets of characters and what looks back, and refuse what cannot be done."""
        waiting: list[tuple[Expression, int, bool]] = [(expression, 0, False)]
        looking_back: list[Look | Neighbour] = []
        while waiting:
            current, depth, is_behind = waiting.pop()
            match current:
                case Chars(ranges=ranges):
                    sets.append(ranges)
                case Literal(text=text):
                    sets.extend(single(ord(character)) for character in text)
                case Sequence(items=parts) | Choice(alternatives=parts):
                    waiting.extend((part, depth, is_behind) for part in parts)
                case Repeat(item=item):
                    waiting.append((item, depth, is_behind))
                case Neighbour(ranges=ranges, ahead=ahead):
                    sets.append(ranges)
                    if not ahead:
                        looking_back.append(current)
                    elif is_behind:
                        raise self._refusal("a look-ahead within a look-behind", 0)
                case Look(item=item, ahead=ahead, index=index):
                    if depth >= MAX_LOOK_DEPTH:
                        raise LimitError(
                            "look-arounds are nested too deeply",
                            limit="look-arounds within each other",
                            value=MAX_LOOK_DEPTH,
                        )
                    if not ahead:
                        looking_back.append(current)
                    elif is_behind:
                        raise self._refusal("a look-ahead within a look-behind", index)
                    waiting.append((item, depth + 1, is_behind or not ahead))
                case Atomic(index=index):
                    raise self._refusal("an atomic group or possessive quantifier", index)
        self.behind = list(dict.fromkeys(looking_back[::-1]))

    def _refusal(self, what: str, index: int) -> Exception:
        return self.source.unsupported(
            f"{what} is not supported in a terminal", index, keyword=what
        )

    # -- places ------------------------------------------------------------------------------

    def place(self, expression: Expression, rest: int = DONE) -> int:
        """Return the place before an expression."""
        return self._place(_Frame(expression, 0, False, rest))

    def _place(self, frame: _Frame) -> int:
        number = self._places.get(frame)
        if number is None:
            number = self._places[frame] = len(self._frames)
            self._frames.append(frame)
        return number

    def mask(self, place: int) -> int:
        """Return the classes of the characters that may come first at a place that reads one."""
        known = self._masks.get(place)
        if known is None:
            expression, at, _, _ = self._frames[place]
            if isinstance(expression, Literal):
                known = self.classes.mask(single(ord(expression.text[at])))
            else:
                assert isinstance(expression, Chars)
                known = self.classes.mask(expression.ranges)
            self._masks[place] = known
        return known

    def after(self, place: int) -> int:
        """Return the place after the first character."""
        expression, at, _, rest = self._frames[place]
        rest = self._beyond(rest)
        if isinstance(expression, Literal) and at + 1 < len(expression.text):
            return self._place(_Frame(expression, at + 1, False, rest))
        return rest

    def _beyond(self, place: int) -> int:
        """Return the same place a character later: no round of a loop began there."""
        chain = []
        while place not in self._moved:
            chain.append(place)
            place = self._frames[place].rest
        moved = self._moved[place]
        for each in reversed(chain):
            moved = self._place(self._frames[each]._replace(began=False, rest=moved))
            self._moved[each] = moved
        return moved

    def spend(self, steps: int) -> None:
        """Count work.

        Raises:
            LimitError: it is too much.
        """
        self._work += steps
        if self._work > MAX_WORK:
            raise LimitError(
                "the order in which the pattern matches needs too large an automaton",
                limit="steps",
                value=MAX_WORK,
            )

    def follow(self, place: int, conditions: Conditions) -> list[Thread] | None:
        """Return what a thread splits into, in order, or None where it reads a character or ends.

        Raises:
            LimitError: the pattern took too much work.
        """
        self.spend(4)
        if place == DONE:
            return None
        expression, at, began, rest = self._frames[place]
        match expression:
            case Chars() | Literal():
                return None
            case Sequence(items=items):
                if at == len(items):
                    return [(rest, conditions)]
                if at + 1 < len(items):
                    rest = self._place(_Frame(expression, at + 1, False, rest))
                return [(self.place(items[at], rest), conditions)]
            case Choice(alternatives=alternatives):
                return [(self.place(each, rest), conditions) for each in alternatives]
            case Repeat():
                places = self._rounds(expression, at, began, rest)
                return [(each, conditions) for each in places]
            case Neighbour(ahead=True):
                condition = Next(self.classes.mask(expression.ranges), expression.edge)
                return [(rest, conditions | {condition})]
            case Look(ahead=True):
                pending = self._pending(expression.negative, [(self.place(expression.item), NONE)])
                if isinstance(pending, bool):
                    return [(rest, conditions)] if pending else []
                return [(rest, conditions | {pending})]
            case Neighbour() | Look():
                return [(rest, conditions)] if self._holds(expression) else []
            case _:
                raise AssertionError(f"{type(expression).__name__} was to be refused")

    def _rounds(self, loop: Repeat, done: int, began: bool, rest: int) -> list[int]:
        """Return the places after so many rounds, before another round and before the rest.

        A round that need not be and matched nothing is the last.
        """
        minimum, maximum = loop.minimum, loop.maximum
        following = done + 1 if maximum is not None else min(done + 1, minimum)
        if done < minimum:
            return [self.place(loop.item, self._place(_Frame(loop, following, False, rest)))]
        if began or done == maximum:
            return [rest]
        frame = _Frame(loop, following, loop.item.nullable, rest)
        another = self.place(loop.item, self._place(frame))
        return [rest, another] if loop.lazy else [another, rest]

    # -- conditions --------------------------------------------------------------------------

    def advance(self, conditions: Conditions, character: int) -> Conditions | None:
        """Return what is left of conditions after a character of a class, None if one fails."""
        if not conditions:
            return conditions
        left = set()
        for condition in conditions:
            after: Pending | bool
            if isinstance(condition, Next):
                after = bool(condition.mask >> character & 1)
            else:
                threads = self.step(condition.threads, character)
                after = self._pending(condition.negative, threads)
            if after is False:
                return None
            if after is not True:
                left.add(after)
        return frozenset(left)

    def step(self, threads: Iterable[Thread], character: int) -> list[Thread]:
        """Return threads after a character, not yet followed to where they read the next."""
        stepped = []
        for place, conditions in threads:
            self.spend(1)
            if place <= DONE or self.mask(place) >> character & 1:
                left = self.advance(conditions, character)
                if left is not None:
                    stepped.append((place if place <= DONE else self.after(place), left))
        return stepped

    def _pending(self, negative: bool, threads: Iterable[Thread]) -> Pending | bool:
        closure = Closure(self)
        for thread in threads:
            closure.add(thread)
        if closure.is_settled:
            return not negative
        return Pending(negative, frozenset(closure.threads)) if closure.threads else negative

    def hold_at_end(self, conditions: Conditions) -> bool:
        """Return True if conditions hold where the text ends."""
        for condition in conditions:
            if isinstance(condition, Next):
                holds = condition.edge
            else:
                ended = (left for place, left in condition.threads if place == DONE)
                holds = any(map(self.hold_at_end, ended)) is not condition.negative
            if not holds:
                return False
        return True

    def _holds(self, expression: Look | Neighbour) -> bool:
        """Return True if what looks back holds, nothing being before the start."""
        width = 1 if isinstance(expression, Neighbour) else expression.item.widest
        if width is None or self.position < width:
            self.looks_before = True
        verdict = self.verdicts[self._index[expression]]
        return verdict is not (isinstance(expression, Look) and expression.negative)


class Closure:
    """Threads followed to where they read a character or end, in order, none twice.

    Attributes:
        threads: those found.
        is_settled: the last of them ends, on no condition: none after it counts.
        has_cut: others were dropped for that.
    """

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._seen: dict[int, list[Conditions]] = {}
        self.threads: list[Thread] = []
        self.is_settled = False
        self.has_cut = False

    def add(self, thread: Thread) -> None:
        """Add a thread of less priority than those before; places below 0 are left as they are."""
        if self.is_settled:
            self.has_cut = self.has_cut or thread[0] >= DONE
            return
        waiting = [thread]
        while waiting:
            place, conditions = waiting.pop()
            seen = self._seen.setdefault(place, [])
            # One before, on no more conditions, would have come to its end as well.
            if seen:
                self._threads.spend(len(seen) >> 2)
                if any(each <= conditions for each in seen):
                    continue
            seen.append(conditions)
            into = None if place < DONE else self._threads.follow(place, conditions)
            if into is not None:
                waiting.extend(reversed(into))
                continue
            self.threads.append((place, conditions))
            if place <= DONE and not conditions:
                self.is_settled = True
                self.has_cut = bool(waiting)
                return
