"""Patterns of which it is plain to see that `re` takes the longest text they match.

For these no order of threads need be worked out, however far they count. What is not recognised
here is found out by the automaton, if it is not too large.
"""

from __future__ import annotations

from guided.text.regex.codepoints import EMPTY, Ranges, intersect, single, union
from guided.text.regex.syntax import Chars, Choice, Expression, Literal, Repeat, Sequence

MAX_DEPTH = 20


def is_longest(expression: Expression, rest: tuple[Expression, ...] = (), depth: int = 0) -> bool:
    """Return True if an expression, then `rest`, surely match the longest text they can."""
    whole = (expression, *rest)
    if depth > MAX_DEPTH or any(each.peeks for each in whole):
        return False
    if all(_is_fixed(each) for each in whole):
        return True
    match expression:
        case Sequence(items=items):
            return _of_items((*items, *rest), depth)
        case Repeat(item=item, lazy=False):
            return _of_repeat(expression, item, rest, depth)
        case Choice(alternatives=alternatives) if not rest:
            return _of_choice(alternatives, depth)
        case _:
            # Where a text of fixed width ends does not depend on how it was matched.
            return _is_fixed(expression) and _of_items(rest, depth)


def _is_fixed(expression: Expression) -> bool:
    return expression.narrowest == expression.widest


def _of_items(items: tuple[Expression, ...], depth: int) -> bool:
    at = 0
    while at < len(items) and _is_fixed(items[at]) and not items[at].peeks:
        at += 1
    return at == len(items) or is_longest(items[at], items[at + 1 :], depth + 1)


def _of_repeat(loop: Repeat, item: Expression, rest: tuple[Expression, ...], depth: int) -> bool:
    if item.nullable:
        return False
    if _is_fixed(item):
        # The end is by so much farther as there are more rounds, and more are tried first ...
        if all(_is_fixed(each) for each in rest):
            return True
        # ... or there is no doubt whether the next character begins another round.
        return _are_told_apart(item, rest, depth) and _of_items(rest, depth + 1)
    if (loop.minimum, loop.maximum) == (0, 1):
        return (
            _are_told_apart(item, rest, depth)
            and is_longest(item, rest, depth + 1)
            and _of_items(rest, depth + 1)
        )
    return False


def _of_choice(alternatives: tuple[Expression, ...], depth: int) -> bool:
    """Tell it of alternatives of which the next character leaves one, or the empty text, last."""
    met: Ranges = EMPTY
    for each in alternatives:
        first = _first(each, depth)
        if first is None or intersect(met, first) or not is_longest(each, (), depth + 1):
            return False
        met = union(met, first)
    return not any(each.nullable for each in alternatives[:-1])


def _are_told_apart(item: Expression, rest: tuple[Expression, ...], depth: int) -> bool:
    """Return True if the first character of `item` is none that `rest` begins with."""
    first, other = _first(item, depth), _first_of_all(rest, depth)
    return first is not None and other is not None and not intersect(first, other)


def _first(expression: Expression, depth: int) -> Ranges | None:
    """Return the characters that a text of an expression may begin with, None if unknown."""
    if depth > MAX_DEPTH or expression.peeks:
        return None
    match expression:
        case Chars(ranges=ranges):
            return ranges
        case Literal(text=text):
            return single(ord(text[0]))
        case Repeat(item=item):
            return _first(item, depth + 1)
        case Sequence(items=items):
            return _first_of_all(items, depth + 1)
        case Choice(alternatives=alternatives):
            total: Ranges | None = EMPTY
            for each in alternatives:
                first = _first(each, depth + 1)
                total = None if total is None or first is None else union(total, first)
            return total
        case _:
            return None


def _first_of_all(items: tuple[Expression, ...], depth: int) -> Ranges | None:
    total: Ranges = EMPTY
    for item in items:
        first = _first(item, depth + 1)
        if first is None:
            return None
        total = union(total, first)
        if not item.nullable:
            break
    return total
