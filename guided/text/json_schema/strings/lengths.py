"""Lengths together with a pattern.

In general that is an intersection, whose automaton counts the characters: a state for each count.
It is spared where the pattern itself says how long its texts are, and where it is a choice of a few
rows in which one part alone is variable, which then takes the bounds itself:
`^[a-z]([-a-z0-9]*[a-z0-9])?$` is `[a-z]` or `[a-z][-a-z0-9]*[a-z0-9]`. Two variable parts with one
character between them share the bounds (`shared_lengths`), such as those around the `\\S` of a
pattern that asks for some character that is no blank.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from guided._core import Arena
from guided.text.json_schema.strings.shared_lengths import share_lengths
from guided.text.spelling import HostnameSpelling

EMPTY, NEVER = 0, 1

MAX_ROWS = 16
_MAX_DEPTH = 40  # of groups in a pattern that is looked into
_MAX_SINGLES = 4  # characters before a run of which one may be the one asked for


class MeasuredSpelling(HostnameSpelling, Protocol):
    """A spelling that knows how many characters it has written."""

    def is_single(self, node: int) -> bool:
        """Return True if a node is known to match exactly one character, in whatever spelling."""
        ...

    def length(self, spelled: bytes) -> int | None:
        """Return how many characters some bytes spell, None if they are not whole characters."""
        ...


class _Part(NamedTuple):
    """Texts of `width` characters each, one after the other."""

    node: int
    width: int
    minimum: int = 1
    maximum: int | None = 1


_Row = tuple[_Part, ...]


class _Unknown(Exception):
    """A node that cannot be measured."""


def within_lengths(
    arena: Arena,
    spelling: MeasuredSpelling,
    content: int,
    minimum: int,
    maximum: int | None,
) -> int:
    """Return the node for the texts of `content` that have so many characters."""
    measure = _Measure(arena, spelling)
    low, high = measure.width(content)
    if maximum is not None and low > maximum:
        return NEVER
    if high is not None and high < minimum:
        return NEVER
    if minimum <= low and (maximum is None or (high is not None and high <= maximum)):
        return content
    rows = measure.rows(content)
    nodes = [] if rows is None else [_bound(arena, row, minimum, maximum) for row in rows]
    known = [node for node in nodes if node is not None]
    if rows is not None and len(known) == len(rows):
        return arena.choice(known)
    if maximum is not None and (found := arena.node(content))[0] == "hostname":
        # A name that is too long for its product with lengths is never begun.
        return within_lengths(
            arena, spelling, spelling.hostname(arena, min(found[1], maximum)), minimum, None
        )
    character = spelling.any_character(arena)
    return arena.both(content, arena.repeat(character, minimum, maximum))


def _bound(arena: Arena, row: _Row, minimum: int, maximum: int | None) -> int | None:
    """Return the texts of a row that have so many characters; None if that takes a product."""
    fixed = sum(part.width * part.minimum for part in row)
    variable = [index for index, part in enumerate(row) if part.minimum != part.maximum]
    if not variable:
        if fixed < minimum or (maximum is not None and fixed > maximum):
            return NEVER
        return arena.sequence([arena.repeat(part.node, *part[2:]) for part in row])
    if len(variable) > 1:
        return _share(arena, row, minimum, maximum)
    part = row[variable[0]]
    low = part.minimum + max(0, -((fixed - minimum) // part.width))
    high = part.maximum
    if maximum is not None:
        most = part.minimum + (maximum - fixed) // part.width
        high = most if high is None else min(high, most)
    if high is not None and high < low:
        return NEVER
    parts = [*row[: variable[0]], part._replace(minimum=low, maximum=high)]
    parts += row[variable[0] + 1 :]
    return arena.sequence([arena.repeat(part.node, *part[2:]) for part in parts])


def _share(arena: Arena, row: _Row, minimum: int, maximum: int | None) -> int | None:
    """Return the texts of a row that ends in two endless runs with one character between them."""
    if len(row) < 3:
        return None
    *before, first, middle, then = row
    if (
        any(part.minimum != part.maximum for part in (*before, middle))
        or any(part.width != 1 for part in (first, middle, then))
        or (middle.minimum, first.maximum, then.maximum) != (1, None, None)
    ):
        return None
    before.append(first._replace(maximum=first.minimum))
    fixed = sum(part.width * part.minimum for part in (*before, middle))
    low, owed = max(minimum - fixed, then.minimum), then.minimum
    high = None if maximum is None else maximum - fixed
    if high is not None and high < low:
        return NEVER
    shared = share_lengths(arena, first.node, middle.node, then.node, low, high, owed)
    if shared is None:
        return None
    return arena.sequence([*(arena.repeat(part.node, *part[2:]) for part in before), shared])


class _Measure:
    """Finds out how many characters the texts of nodes have."""

    def __init__(self, arena: Arena, spelling: MeasuredSpelling) -> None:
        self._arena = arena
        self._spelling = spelling
        self._widths: dict[int, tuple[int, int | None]] = {}

    def width(self, node: int) -> tuple[int, int | None]:
        """Return bounds on the characters of the texts of a node."""
        try:
            return self._width(node, 0)
        except _Unknown:
            return 0, None

    def rows(self, node: int) -> list[_Row] | None:
        """Return rows of which a text of the node is one; None if there would be too many."""
        try:
            rows = self._rows(node, 0)
        except _Unknown:
            return None
        expanded: list[_Row] = []
        while rows:
            if len(rows) + len(expanded) > MAX_ROWS:
                return None
            row = rows.pop()
            more = _expand(row)
            if more is None:
                expanded.append(row)
            else:
                rows += more
        return expanded

    def _width(self, node: int, depth: int) -> tuple[int, int | None]:
        if self._spelling.is_single(node):
            return 1, 1
        known = self._widths.get(node)
        if known is None:
            if depth > _MAX_DEPTH:
                raise _Unknown
            known = self._widths[node] = self._measure(node, depth + 1)
        return known

    def _measure(self, node: int, depth: int) -> tuple[int, int | None]:
        match self._arena.node(node):
            case ("literal", bytes(spelled)):
                length = self._spelling.length(spelled)
                if length is None:
                    raise _Unknown
                return length, length
            case ("class", _):
                return 1, 1
            case ("sequence", int(), int()):
                return _sum([self._width(part, depth) for part in self._parts(node)])
            case ("choice", list(options)):
                widths = [self._width(option, depth) for option in options]
                return min(low for low, _ in widths), _largest([high for _, high in widths])
            case ("repeat", int(unit), int(least), most):
                low, high = self._width(unit, depth)
                endless = most is None or high is None
                return low * least, 0 if high == 0 else None if endless else high * most
            case ("both", int(a), int(b)):
                (low, high), (other_low, other_high) = self._width(a, depth), self._width(b, depth)
                highs = [each for each in (high, other_high) if each is not None]
                return max(low, other_low), min(highs, default=None)
            case ("minus", int(a), int()) | ("part", int(a)):
                return self._width(a, depth)
            case ("hostname", int(longest), _):
                return 1, longest
            case ("empty",):
                return 0, 0
        raise _Unknown

    def _parts(self, node: int) -> list[int]:
        """Return the parts of a sequence."""
        parts: list[int] = []
        while True:
            kind, *rest = self._arena.node(node)
            if kind != "sequence":
                return [*parts, node]
            parts.append(rest[0])
            node = rest[1]

    def _rows(self, node: int, depth: int) -> list[_Row]:
        low, high = self._width(node, depth)
        if low == high:
            return [(_Part(node, low),)]
        match self._arena.node(node):
            case ("sequence", int(), int()):
                rows: list[_Row] = [()]
                for part in self._parts(node):
                    following = self._rows(part, depth + 1)
                    rows = [row + more for row in rows for more in following]
                    if len(rows) > MAX_ROWS:
                        raise _Unknown
                return rows
            case ("choice", list(options)):
                return [row for option in options for row in self._rows(option, depth + 1)]
            case ("repeat", int(unit), int(least), most):
                low, high = self._width(unit, depth)
                if low == high and low > 0:
                    return [(_Part(unit, low, least, most),)]
                if least == 0 and most == 1:
                    return [(), *self._rows(unit, depth + 1)]
            case ("minus", int(texts), int(removed)):
                rows = self._rows(texts, depth + 1)
                return [new for row in rows for new in self._beyond(row, removed, depth + 1)]
            case ("part", int(body)):
                return self._rows(body, depth + 1)
        raise _Unknown

    def _beyond(self, row: _Row, removed: int, depth: int) -> list[_Row]:
        """Return rows of the texts of a row without those of a run, `removed`.

        Some character is none of that run's: one of the first few, or one of the row's own run.
        """
        arena = self._arena
        match arena.node(removed):
            case ("repeat", int(other), int(least), None) if self._width(other, depth) == (1, 1):
                pass
            case _:
                raise _Unknown
        *before, run = row
        number = sum(part.minimum for part in row)
        if (
            run.maximum is not None
            or any(part.minimum != part.maximum for part in before)
            or any(part.width != 1 for part in row)
            or not least <= number <= _MAX_SINGLES
        ):
            raise _Unknown
        singles = [_Part(part.node, 1) for part in row for _ in range(part.minimum)]
        run = run._replace(minimum=0)
        rows: list[_Row] = []
        inside: list[_Part] = []
        for index, part in enumerate(singles):
            rows.append((*inside, self._but(part, other), *singles[index + 1 :], run))
            inside.append(part._replace(node=arena.both(part.node, other)))
        rows.append((*inside, run, self._but(run, other), run))
        return [row for row in rows if not any(arena.is_void(part.node) for part in row)]

    def _but(self, part: _Part, other: int) -> _Part:
        """Return one character of a part that is not in a class."""
        return _Part(self._arena.minus(part.node, other), 1)


def _expand(row: _Row) -> list[_Row] | None:
    """Write out the counts of a part, where another is variable too and its counts are few."""
    variable = [index for index, part in enumerate(row) if part.minimum != part.maximum]
    if len(variable) < 2:
        return None
    spans = [
        (part.maximum - part.minimum, index)
        for index in variable
        if (part := row[index]).maximum is not None
    ]
    span, index = min(spans, default=(MAX_ROWS, 0))
    if span >= MAX_ROWS:
        return None
    part = row[index]
    return [
        (*row[:index], part._replace(minimum=count, maximum=count), *row[index + 1 :])
        for count in range(part.minimum, part.minimum + span + 1)
    ]


def _sum(widths: list[tuple[int, int | None]]) -> tuple[int, int | None]:
    high: int | None = 0
    for _, each in widths:
        high = None if high is None or each is None else high + each
    return sum(low for low, _ in widths), high


def _largest(highs: list[int | None]) -> int | None:
    known = [high for high in highs if high is not None]
    return max(known) if len(known) == len(highs) else None
