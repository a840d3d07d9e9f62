"""Conditions on a neighbouring character, met by narrowing the expression next to them.

`(?!-)[a-z-]` is `[a-z]`, `[a-z-]+(?<!-)` is `[a-z-]*[a-z]`: no product of automata is needed, and
within a repetition nothing is left that looks beyond it.
"""

from __future__ import annotations

from collections.abc import Callable

from guided.text.regex.codepoints import Ranges, intersect
from guided.text.regex.syntax import (
    Chars,
    Choice,
    Expression,
    Literal,
    Neighbour,
    Repeat,
    Sequence,
    chars,
    choice,
    repeat,
    sequence,
)

MAX_DEPTH = 20
_NEVER = chars(())


def starting(expression: Expression, ranges: Ranges, depth: int = 0) -> Expression | None:
    """Return the texts of a plain expression that are not empty and begin in `ranges`.

    None if that cannot be written down without a product.
    """
    return _narrow(expression, ranges, True, depth)


def ending(expression: Expression, ranges: Ranges, depth: int = 0) -> Expression | None:
    """Return the texts of a plain expression that are not empty and end in `ranges`, or None."""
    return _narrow(expression, ranges, False, depth)


def _narrow(expression: Expression, ranges: Ranges, first: bool, depth: int) -> Expression | None:
    """Narrow the first or the last character of an expression."""
    if expression.peeks or depth > MAX_DEPTH:
        return None
    match expression:
        case Chars():
            return chars(intersect(expression.ranges, ranges))
        case Literal(text=text):
            code = ord(text[0 if first else -1])
            return expression if intersect(((code, code),), ranges) else _NEVER
        case Choice(alternatives=alternatives):
            narrowed = [_narrow(each, ranges, first, depth + 1) for each in alternatives]
            known = [each for each in narrowed if each is not None]
            return choice(known) if len(known) == len(narrowed) else None
        case Repeat(item=item):
            return _narrow_repeat(expression, item, ranges, first, depth)
        case Sequence(items=items):
            return _narrow_sequence(items, ranges, first, depth)
        case _:
            return None


def _narrow_repeat(
    expression: Repeat, item: Expression, ranges: Ranges, first: bool, depth: int
) -> Expression | None:
    narrowed = None if item.nullable else _narrow(item, ranges, first, depth + 1)
    if narrowed is None:
        return None
    maximum = None if expression.maximum is None else expression.maximum - 1
    others = repeat(item, max(0, expression.minimum - 1), maximum)
    return sequence([narrowed, others] if first else [others, narrowed])


def _narrow_sequence(
    items: tuple[Expression, ...], ranges: Ranges, first: bool, depth: int
) -> Expression | None:
    """Narrow the outermost item, and where that may be empty also the next."""
    if not items:
        return _NEVER
    outer, inner = (items[0], items[1:]) if first else (items[-1], items[:-1])
    narrowed = _narrow(outer, ranges, first, depth + 1)
    if narrowed is None:
        return None
    parts = [narrowed, *inner] if first else [*inner, narrowed]
    whole = sequence(parts)
    if not outer.nullable:
        return whole
    others = _narrow_sequence(inner, ranges, first, depth + 1)
    return None if others is None else choice([whole, others])


def settle(expression: Expression) -> Expression:
    """Meet the conditions of a sequence on neighbours that are within it and never empty."""
    if not isinstance(expression, Sequence) or not expression.peeks:
        return expression
    items = _settle_one_way(list(expression.items), ahead=True)
    items = _settle_one_way(items[::-1], ahead=False)[::-1]
    return sequence(items)


def _settle_one_way(items: list[Expression], *, ahead: bool) -> list[Expression]:
    """Settle conditions on the item after each, in the order given, the last condition first."""
    narrow: Callable[[Expression, Ranges], Expression | None] = starting if ahead else ending
    settled: list[Expression] = []  # in reverse order
    for item in reversed(items):
        neighbour = settled[-1] if settled else None
        if (
            isinstance(item, Neighbour)
            and item.ahead is ahead
            and neighbour is not None
            and not neighbour.nullable
            and (narrowed := narrow(neighbour, item.ranges)) is not None
        ):
            settled[-1] = narrowed
        else:
            settled.append(item)
    return settled[::-1]
