"""What must have been written just before a place: the right end of the text up to there.

A window is a run of character sets that the text before must end with; with `edge` the text before
is that run and nothing more. Intersection and complement of windows are windows again, so they
carry `^`, `\\b` and every look-behind of bounded width through a pattern exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from guided.text.regex.codepoints import ANY, Ranges, complement, intersect
from guided.text.regex.syntax import (
    Chars,
    Choice,
    Expression,
    Literal,
    Neighbour,
    Repeat,
    Sequence,
)
from guided.text.regex.writer import shorten

MAX_WINDOWS = 256
MAX_WINDOW_WIDTH = 64


@dataclass(frozen=True, slots=True)
class Window:
    """The text before ends with one character out of each set, in this order."""

    edge: bool = False
    sets: tuple[Ranges, ...] = ()

    @property
    def width(self) -> int:
        """How far back it looks, the beginning of the text counted as one."""
        return len(self.sets) + self.edge


ANYTHING_BEFORE = Window()


def meet_windows(first: Window, second: Window) -> Window | None:
    """Return the window that is both, None if there is no such text."""
    longer, shorter = (first, second) if len(first.sets) >= len(second.sets) else (second, first)
    extra = len(longer.sets) - len(shorter.sets)
    if shorter.edge and extra:
        return None
    sets = longer.sets[:extra] + tuple(
        intersect(a, b) for a, b in zip(longer.sets[extra:], shorter.sets, strict=True)
    )
    return Window(longer.edge or shorter.edge, sets) if all(sets) else None


def complement_window(window: Window) -> list[Window]:
    """Return windows, no two of which overlap, that together are what `window` is not."""
    others = []
    width = len(window.sets)
    for at in range(width):
        behind = window.sets[width - at :]
        others.append(Window(True, behind))  # the text is too short
        if wrong := complement(window.sets[width - at - 1]):
            others.append(Window(False, (wrong, *behind)))
    if window.edge:
        others.append(Window(False, (ANY, *window.sets)))
    return others


@dataclass(frozen=True, slots=True)
class Ending:
    """One way in which a look-behind can hold.

    Attributes:
        window: what is before the place.
        used: how many of its characters the look-behind itself matches.
        ranges, edge: what may come next: a character out of `ranges`, or if `edge` the end.
    """

    window: Window = ANYTHING_BEFORE
    used: int = 0
    ranges: Ranges = ANY
    edge: bool = True


def endings(expression: Expression) -> list[Ending] | None:
    """Return the ways in which the text before can end with `expression`, None if unbounded."""
    found = _prepend(shorten(expression, front=True), [Ending()])
    if found is None or len(found) > MAX_WINDOWS:
        return None
    if any(each.window.width > MAX_WINDOW_WIDTH for each in found):
        return None
    return list(dict.fromkeys(found))


def _prepend(expression: Expression, after: list[Ending]) -> list[Ending] | None:
    """Put an expression before each ending."""
    match expression:
        case Chars(ranges=ranges):
            return _kept(_prepend_set(ranges, each) for each in after)
        case Literal(text=text):
            if len(text) > MAX_WINDOW_WIDTH:
                return None
            for character in reversed(text):
                code = ord(character)
                after = _kept(_prepend_set(((code, code),), each) for each in after)
            return after
        case Neighbour():
            return _prepend_neighbour(expression, after)
        case Sequence(items=items):
            found: list[Ending] | None = after
            for item in reversed(items):
                found = None if found is None else _prepend(item, found)
            return found
        case Choice(alternatives=alternatives):
            return _union(_prepend(each, after) for each in alternatives)
        case Repeat():
            return _prepend_repeat(expression, after)
        case _:
            return None


def _prepend_set(ranges: Ranges, ending: Ending) -> Ending | None:
    window, used = ending.window, ending.used
    if used == len(window.sets):
        if window.edge or not ranges:
            return None
        widened = Window(False, (ranges, *window.sets))
        return Ending(widened, used + 1, ending.ranges, ending.edge)
    at = len(window.sets) - used - 1
    narrowed = intersect(window.sets[at], ranges)
    if not narrowed:
        return None
    sets = (*window.sets[:at], narrowed, *window.sets[at + 1 :])
    return Ending(Window(window.edge, sets), used + 1, ending.ranges, ending.edge)


def _prepend_neighbour(expression: Neighbour, after: list[Ending]) -> list[Ending]:
    found: list[Ending | None] = []
    for each in after:
        sets = each.window.sets
        if not expression.ahead:
            own = sets[len(sets) - each.used :]
            options = [Window(True, own)] if expression.edge else []
            options += [Window(False, (expression.ranges, *own))] if expression.ranges else []
            for option in options:
                met = meet_windows(each.window, option)
                if met is not None:
                    found.append(Ending(met, each.used, each.ranges, each.edge))
        elif each.used:
            found.append(_narrow_used(expression.ranges, each))
        else:
            allowed = intersect(each.ranges, expression.ranges)
            edge = each.edge and expression.edge
            found.append(Ending(each.window, 0, allowed, edge) if allowed or edge else None)
    return _kept(found)


def _narrow_used(ranges: Ranges, ending: Ending) -> Ending | None:
    """Narrow the first of the characters that the look-behind itself matches."""
    sets = list(ending.window.sets)
    at = len(sets) - ending.used
    sets[at] = intersect(sets[at], ranges)
    window = Window(ending.window.edge, tuple(sets))
    return Ending(window, ending.used, ending.ranges, ending.edge) if sets[at] else None


def _prepend_repeat(expression: Repeat, after: list[Ending]) -> list[Ending] | None:
    if expression.maximum is None or expression.maximum > MAX_WINDOW_WIDTH:
        return None
    found: list[Ending] = []
    current: list[Ending] | None = after
    for count in range(expression.maximum + 1):
        if current is None or len(found) > MAX_WINDOWS:
            return None
        if count >= expression.minimum:
            found += current
        current = _prepend(expression.item, current)
    return found


def _union(parts: Iterable[list[Ending] | None]) -> list[Ending] | None:
    found: dict[Ending, None] = {}
    for part in parts:
        if part is None or len(found) > MAX_WINDOWS:
            return None
        found.update(dict.fromkeys(part))
    return list(found)


def _kept(found: Iterable[Ending | None]) -> list[Ending]:
    return [each for each in found if each is not None]
