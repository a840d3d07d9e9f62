"""The tree of a composition as steps that read a text, forwards and with a way back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from guided.text.composition.parts import (
    Capture,
    Choice,
    Leaf,
    Part,
    Repeat,
    Sequence,
    Token,
    Unordered,
    Until,
    Verbatim,
    has_captures,
    literal,
)

Plain = Union[Leaf, Token, Until, Verbatim]  # noqa: UP007


@dataclass(frozen=True, slots=True)
class Read:
    """Read a part that holds no other one, the longest way first."""

    part: Plain


@dataclass(frozen=True, slots=True)
class Mark:
    """Note the place down: of a capture the beginning, or the end if `name` is None."""

    name: str | None


@dataclass(frozen=True, slots=True)
class Begin:
    """Set a counter to the place in the text."""

    counter: int


@dataclass(frozen=True, slots=True)
class Check:
    """Go on only where a part may end that began at the place in a counter."""

    counter: int
    part: Plain


@dataclass(frozen=True, slots=True)
class Jump:
    """Go on at one of some steps, the first of them first."""

    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Set:
    """Set a counter to a value."""

    counter: int
    value: int


@dataclass(frozen=True, slots=True)
class Loop:
    """Count one more time and go to `body`, or go on; not before `minimum` times.

    Without a maximum the counter stays at the minimum: then it is no matter how often. After a time
    that read nothing there is no further one, but for the minimum.
    """

    counter: int
    minimum: int
    maximum: int | None
    body: int


@dataclass(frozen=True, slots=True)
class Pick:
    """Go to one of the bodies whose bit is set in a counter, and take the bit out."""

    counter: int
    bodies: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Left:
    """Go to `more` if a bit is left in a counter, else to `done`."""

    counter: int
    more: int
    done: int


Step = Union[Read, Mark, Begin, Check, Jump, Set, Loop, Pick, Left]  # noqa: UP007


@dataclass(slots=True)
class Program:
    """Steps, of which each but a jump goes on to the next."""

    steps: list[Step] = field(default_factory=list)
    counters: int = 0


def make_program(part: Part) -> Program:
    """Return the steps that read the texts of a part."""
    program = Program()
    _write(program, part)
    return program


def _write(program: Program, part: Part) -> None:
    steps = program.steps
    match part:
        case Sequence(parts):
            for each in parts:
                _write(program, each)
        case Capture(name, inner):
            steps.append(Mark(name))
            _write(program, inner)
            steps.append(Mark(None))
        case Choice(parts):
            _write_choice(program, parts)
        case Repeat():
            _write_repeat(program, part)
        case Unordered():
            _write_unordered(program, part)
        case Until(stops, inner) if inner is not None and has_captures(inner):
            counter = _counter(program)
            steps.append(Begin(counter))
            _write(program, inner)
            _write_choice(program, tuple(map(literal, stops)))
            steps.append(Check(counter, part))
        case _:
            steps.append(Read(part))


def _write_choice(program: Program, parts: tuple[Part, ...]) -> None:
    steps = program.steps
    fork = _reserve(program)
    begins, ends = [], []
    for each in parts:
        begins.append(len(steps))
        _write(program, each)
        ends.append(_reserve(program))
    steps[fork] = Jump(tuple(begins))
    for end in ends:
        steps[end] = Jump((len(steps),))


def _write_repeat(program: Program, part: Repeat) -> None:
    """Write `count = 0; loop: body; jump to loop`, the separator before all bodies but the first.

    The first one has a copy of its own where there is a separator: `(first (separator part)*)?`.
    """
    steps = program.steps
    if part.separator is None:
        _write_loop(program, (part.part,), part.minimum, part.maximum)
        return
    if part.maximum == 0:
        return
    fork = _reserve(program)
    begin = len(steps)
    _write(program, part.part)
    most = None if part.maximum is None else part.maximum - 1
    _write_loop(program, (part.separator, part.part), max(0, part.minimum - 1), most)
    steps[fork] = Jump((begin,) if part.minimum else (begin, len(steps)))


def _write_loop(
    program: Program, parts: tuple[Part, ...], minimum: int, maximum: int | None
) -> None:
    steps = program.steps
    counter = _counter(program)
    steps.append(Set(counter, 0))
    loop = _reserve(program)
    leave = _reserve(program)
    body = len(steps)
    for each in parts:
        _write(program, each)
    steps.append(Jump((loop,)))
    steps[loop] = Loop(counter, minimum, maximum, body)
    steps[leave] = Jump((len(steps),))


def _write_unordered(program: Program, part: Unordered) -> None:
    """Write `left = all; pick: a part; if any is left: separator, jump to pick`."""
    steps = program.steps
    counter = _counter(program)
    steps.append(Set(counter, (1 << len(part.parts)) - 1))
    pick = _reserve(program)
    bodies, ends = [], []
    for each in part.parts:
        bodies.append(len(steps))
        _write(program, each)
        ends.append(_reserve(program))
    between = len(steps)
    if part.separator is not None:
        _write(program, part.separator)
    steps.append(Jump((pick,)))
    for end in ends:
        steps[end] = Left(counter, between, len(steps))
    steps[pick] = Pick(counter, tuple(bodies))


def _reserve(program: Program) -> int:
    """Return the number of a step that is set later."""
    program.steps.append(Jump(()))
    return len(program.steps) - 1


def _counter(program: Program) -> int:
    program.counters += 1
    return program.counters - 1
