"""What must be true of some member: the ways to write a member, and which obligations each meets.

`contains` and the negation of what holds for all members ask that so many members fit a child. The
core keeps the counts; here the values of a member are split by what they count for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from guided.text.json_schema.shapes.children import join, negated
from guided.text.json_schema.shapes.shape import Child
from guided.text.json_schema.strings.spelling import NEVER

if TYPE_CHECKING:
    from guided.text.json_schema.writer import Writer

# Bounds the ways to write one member: obligations met together multiply.
MAX_WAYS = 128

# The counts of one record.
MAX_COUNTS = 16


class Obligation(NamedTuple):
    """Members that fit `child` count, in the count of this bit.

    `is_exact`: those that do not fit must be told apart too, for there is a maximum. Else a member
    that would count may also be left uncounted, and no complement is needed.
    """

    bit: int
    child: Child
    is_exact: bool = False


class TooManyError(Exception):
    """An obligation is one too many; `index` is the place of its bit."""

    def __init__(self, bit: int, fact: str) -> None:
        super().__init__(bit, fact)
        self.index = bit.bit_length() - 1
        self.fact = fact


class Way(NamedTuple):
    """A way to write a member: the bits it counts for, what it fits, and the node of its value."""

    bits: int
    child: Child
    node: int


def ways_of(
    writer: Writer, child: Child, obligations: Sequence[Obligation], level: int
) -> list[Way]:
    """Return the ways to write a member that fits `child`, none if nothing fits it.

    Raises:
        TooManyError: the obligations can be met together in too many ways.
    """
    node = writer.value(child, level)
    if node == NEVER:
        return []
    ways = [Way(0, child, node)]
    for obligation in obligations:
        ways = [new for way in ways for new in _split(writer, way, obligation, level)]
        ways = _without_idle(ways) if len(ways) > 1 else ways
        if len(ways) > MAX_WAYS:
            raise TooManyError(
                obligation.bit,
                f"is one of {len(obligations)} conditions that one member may meet or not,"
                f" in more than {MAX_WAYS} ways",
            )
    return ways


def check_number(number: int) -> None:
    """Raise TooManyError if so many obligations cannot be counted together."""
    if number > MAX_COUNTS:
        fact = f"is one of {number} conditions on members, and {MAX_COUNTS} can be counted"
        raise TooManyError(1 << MAX_COUNTS, fact)


def _split(writer: Writer, way: Way, obligation: Obligation, level: int) -> list[Way]:
    """Split a way into that which counts and that which does not, or need not."""
    bits, child = way.bits | obligation.bit, way.child
    if bits == way.bits:
        return [way]
    fitting = join(child, obligation.child)
    if len(fitting) == len(child):
        return [way._replace(bits=bits)]
    opposite = negated(obligation.child, writer.place(obligation.child))
    failing = join(child, opposite)
    if len(failing) == len(child):
        return [way]
    ways = [Way(bits, fitting, writer.value(fitting, level))]
    if not obligation.is_exact:
        ways.append(way)
    elif ways[0].node == NEVER:
        return [way]
    else:
        ways.append(Way(way.bits, failing, writer.value(failing, level)))
    return [way for way in ways if way.node != NEVER]


def _without_idle(ways: list[Way]) -> list[Way]:
    """Leave out a way if the same values count for more in another one."""
    return [
        way
        for way in ways
        if not any(
            other.node == way.node and other.bits != way.bits and other.bits & way.bits == way.bits
            for other in ways
        )
    ]
