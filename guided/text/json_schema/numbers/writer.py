"""Writes number shapes as nodes, or says why not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from guided._core import Arena
from guided.text.json_schema.document.places import Subschema, describe
from guided.text.json_schema.numbers.automata import MAX_STATES
from guided.text.json_schema.numbers.constraints import TooManyStates
from guided.text.json_schema.numbers.digits import NEVER
from guided.text.json_schema.numbers.sets import fitting_values, number_set
from guided.text.json_schema.numbers.spelling import constant, number_in
from guided.text.json_schema.shapes.contradictions import no_number, none_of_list
from guided.text.json_schema.shapes.shape import NumberShape, Reason

# Called with the schema, the keyword and the fact, where a constraint cannot be enforced.
Refuse = Callable[[Subschema, str, str], object]


class NumberWriter:
    """Writes the numbers of one document into an arena.

    Args:
        refuse: if it does not raise, the constraint is passed over: what is written is then wider
            than the shape, never narrower.
    """

    def __init__(self, arena: Arena, refuse: Refuse) -> None:
        self._arena = arena
        self._refuse = refuse
        self._nodes: dict[tuple[object, ...], int] = {}

    def write(self, shape: NumberShape) -> tuple[int, Reason | None]:
        """Return the node for the numbers of a shape, and why it is NEVER if it is."""
        if shape.values is not None:
            values = fitting_values(shape)
            node = self._arena.choice([constant(self._arena, value) for value in values])
            return node, None if values else none_of_list(shape)
        is_integer, low, high, _, multiples, excluded = shape
        key: tuple[object, ...] = (is_integer, low and low[:2], high and high[:2])
        if multiples or excluded:
            key = (*key, *(multiple.value for multiple in multiples), excluded)
        known = self._nodes.get(key)
        if known is None:
            try:
                known = self._nodes[key] = number_in(self._arena, number_set(shape))
            except TooManyStates:
                # What is passed over is not kept: each place is listed.
                return self.write(self._without_largest(shape))
        return known, no_number(shape) if known == NEVER else None

    def _without_largest(self, shape: NumberShape) -> NumberShape:
        """Refuse what makes the automaton of a shape large, and return the shape without it."""
        _, at, keyword, rest = max(_parts(shape), key=lambda part: part[0])
        value = at.value[keyword]
        what = keyword if isinstance(value, list) else f"{keyword} {describe(value)}"
        fact = f"{what} is not supported here: its automaton has more than {MAX_STATES:,} states"
        self._refuse(at, keyword, fact)
        return rest


def _parts(shape: NumberShape) -> Iterator[tuple[int, Subschema, str, NumberShape]]:
    """Give the size of each part of a shape, its keyword, and the shape without it."""
    for multiple in shape.multiples:
        others = tuple(other for other in shape.multiples if other is not multiple)
        size = Fraction(multiple.value).numerator
        yield size, multiple.at, "multipleOf", shape._replace(multiples=others)
    for index, other in enumerate(shape.excluded):
        rest = shape._replace(excluded=shape.excluded[:index] + shape.excluded[index + 1 :])
        for bound in (other.low, other.high):
            if bound is not None:
                yield 0, bound.at, bound.keyword, rest
        if other.values is not None:
            yield len(other.values.members), other.values.at, other.values.keyword, rest
        for size, at, keyword, _ in _parts(other):
            yield size, at, keyword, rest
