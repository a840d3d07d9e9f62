"""What named parts of a composition spelled in a text.

A text may be read in several ways. The one that counts is that of a pattern of Python's `re`: from
left to right each part takes as much as lets the rest fit, a choice the first part that does, and a
repetition goes on as long as it can. It is found by going back where a way ends, and no place is
tried twice from one step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Optional

from guided.errors import GuidedError, LimitError, UnsupportedError
from guided.text.composition.parts import Capture, Leaf, Part, Token, all_parts
from guided.text.composition.program import (
    Begin,
    Check,
    Jump,
    Left,
    Loop,
    Mark,
    Pick,
    Program,
    Read,
    Set,
    Step,
    make_program,
)
from guided.text.composition.writer import PAGE, write_part
from guided.text.json_schema.strings.byte_walk import ByteWalk
from guided.text.tags import Marker

MAX_STEPS = 10_000_000


class _Note(NamedTuple):
    """A place noted down, and those before it."""

    name: str | None
    at: int
    before: Optional[_Note]  # noqa: UP045  (of a class that refers to itself)


class _Place(NamedTuple):
    """Where the reading stands: the next step, the place in the text, the counters.

    `moved` has a bit for each counter: something was read since it counted last.
    """

    step: int
    at: int
    counters: tuple[int, ...]
    moved: int


class PartCaptures:
    """Reads texts of one composition for what its named parts spelled.

    Special tokens stand in the text by their names.

    Raises:
        UnsupportedError: it has a token that no text stands for.
    """

    def __init__(self, part: Part) -> None:
        names: dict[str, None] = {}
        for each in all_parts(part):
            if isinstance(each, Capture):
                names[each.name] = None
            _refuse_unnamed(each)
        self._names = list(names)
        self._part = part
        self._program: Program | None = None
        self._walks: dict[Part, ByteWalk] = {}

    def find(self, text: str) -> dict[str, list[str]]:
        """Return the texts by name, each list in the order of their beginnings in the text.

        Raises:
            GuidedError: the text is not one of the grammar.
            LimitError: it takes more than 10 million steps to find out.

        Cost: some microseconds a byte of the text, and for each place at which a part may end.
        """
        data = text.encode(errors="surrogatepass")  # which no text of a grammar has
        note = self._read(data)
        found: dict[str, list[str]] = {name: [] for name in self._names}
        for name, start, end in _spans(note):
            found[name].append(data[start:end].decode())
        return found

    def _read(self, data: bytes) -> _Note | None:
        """Return what was noted down on the way that counts, the last first."""
        program = self._program = self._program or make_program(self._part)
        steps, ends = program.steps, _Ends(self._walks, data)
        ways: list[tuple[Iterator[_Place], _Note | None]] = []
        seen: set[_Place] = set()
        start = _Place(0, 0, (0,) * program.counters, 0)
        ways.append((iter((start,)), None))
        while ways:
            way, note = ways[-1]
            place = next(way, None)
            if place is None:
                ways.pop()
                continue
            if place in seen:
                continue
            if place.step == len(steps):
                if place.at == len(data):
                    return note
                continue
            seen.add(place)
            if len(seen) > MAX_STEPS:
                raise LimitError(
                    "the text can be read in too many ways", limit="steps", value=MAX_STEPS
                )
            step = steps[place.step]
            if isinstance(step, Mark):
                note = _Note(step.name, place.at, note)
            ways.append((_following(step, place, ends), note))
        before = data[: _walk(self._part).reach(data)].decode(errors="ignore")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise GuidedError(
            "the text does not fit the grammar, so its parts spell nothing",
            place=f"line {line}, column {column}",
            mend="give a whole text of the grammar",
        )


def _spans(note: _Note | None) -> list[tuple[str, int, int]]:
    """Return name, start and end of what was noted down, outer before inner."""
    spans: list[tuple[str, int, int]] = []
    ends: list[int] = []
    while note is not None:  # from the end of the text to its beginning
        if note.name is None:
            ends.append(note.at)
        else:
            spans.append((note.name, note.at, ends.pop()))
        note = note.before
    spans.reverse()
    return spans


class _Ends:
    """Where plain parts may end in one text."""

    def __init__(self, walks: dict[Part, ByteWalk], data: bytes) -> None:
        self._walks = walks
        self._data = data
        self._known: dict[tuple[int, int], list[int]] = {}

    def of(self, step: int, part: Part, at: int) -> list[int]:
        """Return the ends of a part that begins at a place, the last first."""
        known = self._known.get((step, at))
        if known is None:
            if part not in self._walks:
                self._walks[part] = _walk(part)
            known = list(self._walks[part].ends(self._data, at))
            known.reverse()
            self._known[step, at] = known
        return known


def _following(step: Step, place: _Place, ends: _Ends) -> Iterator[_Place]:
    """Give the places that a step leads to, the best way first."""
    here, at, counters, moved = place
    match step:
        case Read(part):
            for end in ends.of(here, part, at):
                yield _Place(here + 1, end, counters, moved if end == at else -1)
        case Mark():
            yield place._replace(step=here + 1)
        case Begin(counter):
            yield _Place(here + 1, at, _with(counters, counter, at), moved)
        case Check(counter, part):
            if at in ends.of(here, part, counters[counter]):
                yield _Place(here + 1, at, _with(counters, counter, 0), moved)
        case Jump(targets):
            for target in targets:
                yield place._replace(step=target)
        case Set(counter, value):
            yield _Place(here + 1, at, _with(counters, counter, value), moved | 1 << counter)
        case Loop(counter, minimum, maximum, body):
            count = counters[counter]
            has_moved = moved >> counter & 1
            if count < minimum or (has_moved and (maximum is None or count < maximum)):
                more = count + 1 if maximum is not None else min(count + 1, minimum)
                yield _Place(body, at, _with(counters, counter, more), moved & ~(1 << counter))
            if count >= minimum:
                yield place._replace(step=here + 1)
        case Pick(counter, bodies):
            left = counters[counter]
            for index, body in enumerate(bodies):
                if left >> index & 1:
                    yield _Place(body, at, _with(counters, counter, left & ~(1 << index)), moved)
        case Left(counter, more, done):
            yield place._replace(step=more if counters[counter] else done)


def _with(counters: tuple[int, ...], counter: int, value: int) -> tuple[int, ...]:
    return (*counters[:counter], value, *counters[counter + 1 :])


def _walk(part: Part) -> ByteWalk:
    """Return an automaton over the bytes of a part, its tokens spelled by their names."""
    leaf = write_part(part)
    if not leaf.late:
        return ByteWalk(leaf.arena, leaf.start)
    arena = leaf.arena.clone()
    for rule, meant in leaf.late.items():
        if isinstance(meant, Marker):
            arena.define(rule, arena.sequence([meant.spelled, meant.following]))
        else:
            arena.define(rule, arena.literal(str(meant[0])))
    return ByteWalk(arena, leaf.start)


def _refuse_unnamed(part: Part) -> None:
    """Refuse tokens that no name stands for in a text."""
    meant = [(part.named, part.negated)] if isinstance(part, Token) else []
    if isinstance(part, Leaf):
        meant = [each for each in part.late.values() if not isinstance(each, Marker)]
    for named, negated in meant:
        if negated or not isinstance(named, str):
            shown = f"{'any token but ' if negated else 'the token '}{named}"
            raise UnsupportedError(
                f"parts are captured in a grammar that has {shown}, which is not seen in a text",
                keyword="capture",
                page=PAGE,
                mend="give tokens by their text, or leave the captures out",
            )
