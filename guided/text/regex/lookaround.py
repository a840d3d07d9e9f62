"""Patterns that look around, to nodes: from the right end of the text to the left.

What may follow a place is known as a node, the *rest*, when what stands before it is written. So a
look-ahead is an intersection with the rest, a negative one a difference:

    a(?!bc)\\w*    is    a, then what `\\w*` matches and `bc`, then any text, does not

A look-behind is a condition on what precedes. It travels to the left as a *window* (windows.py)
until the text there has been written and the two are intersected. A place may have several rests,
each with its window: `\\b` is "a word character before, none after" or the other way round.

Repetitions of parts that look beyond their own end are turned into automata (repetition.py).
"""

from __future__ import annotations

from collections.abc import Sequence as Collection
from dataclasses import dataclass

from guided.errors import LimitError
from guided.text.regex.codepoints import ANY
from guided.text.regex.forms import Forms
from guided.text.regex.narrowing import ending
from guided.text.regex.repetition import put_automaton
from guided.text.regex.source import Source
from guided.text.regex.syntax import (
    Atomic,
    Choice,
    Expression,
    Look,
    Neighbour,
    Repeat,
    Sequence,
    chars,
    choice,
    sequence,
)
from guided.text.regex.windows import (
    ANYTHING_BEFORE,
    Window,
    complement_window,
    endings,
    meet_windows,
)
from guided.text.regex.writer import EMPTY_NODE, NEVER_NODE, Writer, shorten

MAX_DEPTH = 60
MAX_RESTS = 1_000
MAX_UNROLLED = 100
MAX_UNROLLED_LOOKS = 2
"""Rounds put one before the other nest their intersections, and their products multiply."""

Rests = dict[Window, int]
"""What may follow a place, by what must have been before it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A node that has been written, with the widths of its texts, to be put before the rests."""

    node: int
    narrowest: int
    widest: int | None
    expression: Expression | None = None


class Weaver:
    """Writes expressions before what follows them."""

    def __init__(self, writer: Writer, source: Source) -> None:
        self.writer = writer
        self.source = source
        self.forms = Forms(writer)
        self.depth = 0

    def put(self, expression: Expression, rests: Rests) -> Rests:
        """Return the rests at the place before `expression`, given those after it."""
        if not expression.peeks:
            return self._put_plain(expression, rests)
        if self.depth >= MAX_DEPTH:
            raise LimitError(
                "look-around is nested too deeply", limit="levels of nesting", value=MAX_DEPTH
            )
        self.depth += 1
        try:
            return self._put_peeking(expression, rests)
        finally:
            self.depth -= 1

    def _put_peeking(self, expression: Expression, rests: Rests) -> Rests:
        match expression:
            case Sequence(items=items):
                return self._put_sequence(items, rests)
            case Choice(alternatives=alternatives):
                plain = [each for each in alternatives if not each.peeks]
                others = [each for each in alternatives if each.peeks]
                branches = [self.put(each, rests) for each in others]
                if plain:
                    branches.append(self._put_plain(choice(plain), rests))
                return self.merge(branches)
            case Repeat():
                return self._put_repeat(expression, rests)
            case Neighbour():
                return self._put_neighbour(expression, rests)
            case Look():
                return self._put_look(expression, rests)
            case Atomic():
                return self._put_atomic(expression, rests)
            case _:
                raise AssertionError(f"{type(expression).__name__} does not look around")

    def _put_sequence(self, items: tuple[Expression, ...], rests: Rests) -> Rests:
        """Put the items from the last to the first; those between two that peek go together."""
        plain: list[Expression] = []
        for item in reversed(items):
            if not item.peeks:
                plain.append(item)
                continue
            if plain:
                rests = self._put_plain(sequence(plain[::-1]), rests)
                plain.clear()
            rests = self.put(item, rests)
        return self._put_plain(sequence(plain[::-1]), rests) if plain else rests

    def merge(self, branches: Collection[Rests]) -> Rests:
        """Return the rests of several branches as one."""
        collected: dict[Window, list[int]] = {}
        for branch in branches:
            for window, rest in branch.items():
                if rest != NEVER_NODE:
                    collected.setdefault(window, []).append(rest)
        if len(collected) > MAX_RESTS:
            raise LimitError(
                "what precedes is looked at in too many ways", limit="contexts", value=MAX_RESTS
            )
        return {window: self.forms.choose(nodes) for window, nodes in collected.items()}

    # -- text without look-around ------------------------------------------------------------

    def _put_plain(self, expression: Expression, rests: Rests) -> Rests:
        node = self.writer.write(expression)
        piece = Piece(node, expression.narrowest, expression.widest, expression)
        return self.put_piece(piece, rests)

    def put_piece(self, piece: Piece, rests: Rests) -> Rests:
        """Put a written node before the rests; windows that look into it are met there."""
        if tuple(rests) == (ANYTHING_BEFORE,):
            return {ANYTHING_BEFORE: self._join(piece, rests[ANYTHING_BEFORE])}
        branches = []
        for window, rest in rests.items():
            if window == ANYTHING_BEFORE:
                branches.append({window: self._join(piece, rest)})
            else:
                branches.append(self._put_under_window(piece, window, rest))
        return self.merge(branches)

    def _join(self, piece: Piece, rest: int) -> int:
        if piece.expression is None:
            return self.writer.join(piece.node, rest)
        if rest == self.writer.any_text:
            return self.forms.join(shorten(piece.expression, front=False), rest)
        return self.forms.join(piece.expression, rest)

    def _put_under_window(self, piece: Piece, window: Window, rest: int) -> Rests:
        """Put a node before a rest that looks back: what of the window falls into the node?"""
        found: Rests = {}
        width = len(window.sets)
        last = width if window.edge else width - 1
        for count in range(last + 1):
            if count < piece.narrowest or (piece.widest is not None and count > piece.widest):
                continue
            own = self._exactly(piece, window.sets[width - count :])
            left = Window(window.edge, window.sets[: width - count])
            found[left] = self.writer.join(own, rest)
        if not window.edge and (piece.widest is None or piece.widest >= width):
            found[ANYTHING_BEFORE] = self._join(self._ending(piece, window), rest)
        return found

    def _exactly(self, piece: Piece, sets: tuple[tuple[tuple[int, int], ...], ...]) -> int:
        """Return the texts of a node that are one character out of each set."""
        text = self.writer.write(sequence(chars(each) for each in sets))
        return self.writer.meet(piece.node, text)

    def _ending(self, piece: Piece, window: Window) -> Piece:
        """Return the texts of a node that end with the window."""
        if piece.expression is not None and len(window.sets) == 1:
            narrowed = ending(piece.expression, window.sets[0])
            if narrowed is not None:
                node = self.writer.write(narrowed)
                return Piece(node, narrowed.narrowest, narrowed.widest, narrowed)
        return Piece(self.writer.meet(piece.node, self._ends_with(window)), 0, None)

    def _ends_with(self, window: Window) -> int:
        text = self.writer.write(sequence(chars(each) for each in window.sets))
        return text if window.edge else self.writer.join(self.writer.any_text, text)

    # -- look-around -------------------------------------------------------------------------

    def _put_neighbour(self, expression: Neighbour, rests: Rests) -> Rests:
        if expression.ahead:
            ranges, edge = expression.ranges, expression.edge
            narrow = self.forms.narrow
            met = {window: narrow(rest, ranges, edge=edge) for window, rest in rests.items()}
            return self.merge([met])
        options = [Window(True)] if expression.edge else []
        options += [Window(False, (expression.ranges,))] if expression.ranges else []
        return self._require([(option, self.writer.any_text) for option in options], rests)

    def _put_look(self, expression: Look, rests: Rests) -> Rests:
        pairs = self._ahead(expression) if expression.ahead else self._behind(expression)
        return self._forbid(pairs, rests) if expression.negative else self._require(pairs, rests)

    def _ahead(self, expression: Look) -> list[tuple[Window, int]]:
        """Return the ways in which a look-ahead holds: what is before and what follows."""
        return list(self.put(expression.item, {ANYTHING_BEFORE: self.writer.any_text}).items())

    def _behind(self, expression: Look) -> list[tuple[Window, int]]:
        """Return the ways in which a look-behind holds."""
        found = endings(expression.item)
        if found is None:
            raise self.source.unsupported(
                "this look-behind has no bounded width, or too large a one",
                expression.index,
                length=4,
                keyword="(?<!" if expression.negative else "(?<=",
                mend="look at a bounded number of characters, or say it by a look-ahead",
            )
        pairs = []
        for each in found:
            is_free = each.edge and each.ranges == ANY
            ahead = self.writer.any_text
            if not is_free:
                ahead = self.writer.beginning(each.ranges, edge=each.edge)
            pairs.append((each.window, ahead))
        return pairs

    def _require(self, pairs: Collection[tuple[Window, int]], rests: Rests) -> Rests:
        """Keep of the rests what is in one of the pairs."""
        branches = []
        for condition, ahead in pairs:
            for window, rest in rests.items():
                met = meet_windows(window, condition)
                if met is not None:
                    branches.append({met: self.writer.meet(rest, ahead)})
        return self.merge(branches)

    def _forbid(self, pairs: Collection[tuple[Window, int]], rests: Rests) -> Rests:
        """Keep of the rests what is in none of the pairs."""
        for condition, ahead in pairs:
            branches = []
            for window, rest in rests.items():
                met = meet_windows(window, condition)
                if met is not None:
                    branches.append({met: self.writer.without(rest, ahead)})
                for other in complement_window(condition):
                    elsewhere = meet_windows(window, other)
                    if elsewhere is not None:
                        branches.append({elsewhere: rest})
            rests = self.merge(branches)
        return rests

    # -- repetition --------------------------------------------------------------------------

    def _put_repeat(self, expression: Repeat, rests: Rests) -> Rests:
        """Put the optional rounds, then those that must be, each before what follows it."""
        item, minimum, maximum = expression.item, expression.minimum, expression.maximum
        most = MAX_UNROLLED_LOOKS if _looks_ahead(item) else MAX_UNROLLED
        if maximum is None or maximum > most:
            return put_automaton(self, expression, rests)
        current = rests
        for _ in range(maximum - minimum):
            current = self.merge([rests, self.put(item, current)])
        for _ in range(minimum):
            current = self.put(item, current)
        return current

    def _put_atomic(self, expression: Atomic, rests: Rests) -> Rests:
        """Put the item as if it were not atomic, where that is provably the same."""
        item = expression.item
        if item.peeks or not all(self._is_decided(item, rest) for rest in rests.values()):
            raise self.source.unsupported(
                "a possessive quantifier or atomic group changes what matches here",
                expression.index,
                keyword="atomic group",
                mend="write it so that what follows cannot begin with what it could give back",
            )
        return self._put_plain(item, rests)

    def _is_decided(self, item: Expression, rest: int) -> bool:
        """Return True if giving nothing back makes no difference before `rest`."""
        if item.narrowest == item.widest or rest == self.writer.any_text:
            return True
        items = item.items if isinstance(item, Sequence) else (item,)
        *others, last = items
        if (
            not isinstance(last, Repeat)
            or last.lazy
            or last.item.widest != 1
            or last.item.narrowest != 1
            or any(other.narrowest != other.widest for other in others)
        ):
            return False
        again = self.writer.join(self.writer.write(last.item), self.writer.any_text)
        overlap = self.writer.meet(rest, again)
        return overlap == NEVER_NODE or (
            overlap != EMPTY_NODE and self.writer.arena.is_void(overlap)
        )


def _looks_ahead(item: Expression) -> bool:
    """Return True if an expression holds a look-ahead at more than one character."""
    waiting = [item]
    while waiting:
        match waiting.pop():
            case Look(ahead=True):
                return True
            case Sequence(items=parts) | Choice(alternatives=parts):
                waiting.extend(parts)
            case Repeat(item=part):
                waiting.append(part)
            case _:
                pass
    return False
