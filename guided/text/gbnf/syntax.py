"""Syntax trees of GBNF. Each part knows where in the text it stands.

Nodes are compared by identity: trees may be deep, and equal parts stand in different places.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from guided.text.regex.codepoints import Ranges


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """These characters, one after the other; none for the empty text."""

    text: str
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class Characters:
    """One character out of a set.

    Attributes:
        written: what stands between the brackets; "." for any character.
    """

    ranges: Ranges
    written: str
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """Another rule."""

    name: str
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class Token:
    """One token of the vocabulary by its number or its text; negated, any other token."""

    number: int | None
    text: str
    negated: bool
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """One after the other."""

    parts: tuple[Expression, ...]
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One of several."""

    alternatives: tuple[Expression, ...]
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """`item` from `minimum` to `maximum` times; None: any number of times."""

    item: Expression
    minimum: int
    maximum: int | None
    at: int


Expression = Text | Characters | Reference | Token | Sequence | Choice | Repeat


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A rule: its name, what it matches, and where the name stands."""

    name: str
    body: Expression
    at: int


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """Return what an expression is made of."""
    match expression:
        case Sequence(parts=parts):
            return parts
        case Choice(alternatives=alternatives):
            return alternatives
        case Repeat(item=item):
            return (item,)
        case _:
            return ()


def bottom_up(expression: Expression) -> Iterator[Expression]:
    """Yield the parts of an expression, each after its own parts, and the expression last.

    A loop and not a recursion, since brackets may be nested deeper than Python's stack.
    """
    waiting = [(expression, False)]
    while waiting:
        current, is_open = waiting.pop()
        if is_open or not parts_of(current):
            yield current
        else:
            waiting.append((current, True))
            waiting.extend((part, False) for part in reversed(parts_of(current)))


def references(expression: Expression) -> Iterator[Reference]:
    """Yield the references in an expression, in the order of the text."""
    for part in bottom_up(expression):
        if isinstance(part, Reference):
            yield part
