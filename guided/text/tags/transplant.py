"""Nodes of one arena written again into another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from guided._core import Arena
from guided.errors import UnsupportedError
from guided.text.tags.markers import LateNodes, Marker

PAGE = "docs/composition.md"


def transplant(
    source: Arena, start: int, target: Arena, late: Mapping[int, Any] | None = None
) -> tuple[int, LateNodes]:
    """Write a node and all that it holds into another arena.

    Args:
        source: the arena that has the node; it is not changed.
        start: the node.
        target: where it is to be.
        late: the rules of `source` that a vocabulary is to define.

    Returns:
        the node in `target`, and the rules there that a vocabulary is to define.

    Raises:
        UnsupportedError: it holds the tables of a parser, which belong to a whole text.
    """
    copy = Transplant(source, target, late or {})
    return copy.node(start), copy.late


class Transplant:
    """The numbers of nodes of one arena in another.

    Args:
        source, target, late: as for `transplant`.
        inlined: write the bodies of rules that do not lead back to themselves in their places, so
            that as much as can be is regular.
    """

    def __init__(
        self, source: Arena, target: Arena, late: Mapping[int, Any], *, inlined: bool = False
    ) -> None:
        self._source = source
        self._target = target
        self._late_there = late
        self._is_inlining = inlined
        self._inlined: set[int] = set()
        self._numbers: dict[int, int] = {}
        self._moved: set[int] = set()
        self.late: LateNodes = {}

    def node(self, start: int) -> int:
        """Return the number of a node in the target, written now if it is not there."""
        if self._is_inlining:
            self._inlined = rules_without_recursion(self._source, start)
        self._write_all(start)
        # What a marker leads to may hold further markers.
        while fresh := self._late_there.keys() & self._numbers.keys() - self._moved:
            self._moved |= fresh
            for rule in sorted(fresh):
                named = self._late_there[rule]
                if isinstance(named, Marker):
                    for part in (named.before, named.spelled, named.following):
                        self._write_all(part)
                    named = named.moved(self._numbers)
                self.late[self._numbers[rule]] = named
        return self._numbers[start]

    def _write_all(self, start: int) -> None:
        """Write a node, and the bodies of the rules that it leads to."""
        bodies: list[tuple[int, int]] = []
        self._write(start, bodies)
        while bodies:
            rule, body = bodies.pop()
            self._write(body, bodies)
            self._target.define(rule, self._numbers[body])

    def _write(self, start: int, bodies: list[tuple[int, int]]) -> None:
        """Write a node after its parts, without recursion: text may be nested deeply."""
        stack = [(start, False)]
        while stack:
            number, is_open = stack.pop()
            if number in self._numbers:
                continue
            described = self._source.node(number)
            if number in self._inlined:
                if is_open:
                    self._numbers[number] = self._numbers[described[2]]
                else:
                    stack += [(number, True), (described[2], False)]
            elif described[0] == "rule":
                self._numbers[number] = rule = self._target.rule(described[1])
                if described[2] is not None:
                    bodies.append((rule, described[2]))
            elif is_open:
                self._numbers[number] = self._made(number, described)
            else:
                stack.append((number, True))
                parts = self._parts_to_write(number, described)
                stack.extend((part, False) for part in parts)

    def _parts_to_write(self, number: int, described: tuple[Any, ...]) -> list[int]:
        """Return what is to be written before a node."""
        return list(parts_of(described))

    def _made(self, number: int, described: tuple[Any, ...]) -> int:
        target, numbers = self._target, self._numbers
        match described:
            case ("empty",):
                return 0
            case ("never",):
                return 1
            case ("literal", data):
                return target.literal(data)
            case ("class", ranges):
                return target.char_class(ranges)
            case ("sequence", first, rest):
                return target.sequence([numbers[first], numbers[rest]])
            case ("choice", options):
                return target.choice([numbers[option] for option in options])
            case ("repeat", part, low, high):
                return target.repeat(numbers[part], low, high)
            case ("both", a, b):
                return target.both(numbers[a], numbers[b])
            case ("minus", a, b):
                return target.minus(numbers[a], numbers[b])
            case ("dfa", states):
                return target.dfa(states)
            case ("hostname", longest, escaped):
                return target.hostname(longest, escaped)
            case ("token", ids, negated):
                return target.token(ids, negated)
            case ("lexeme", body, longer):
                return target.lexeme(numbers[body], numbers[longer])
            case ("capture", name, part):
                return target.capture(name, numbers[part])
            case ("part", part):
                return target.part(numbers[part])
            case ("record", *parts):
                return self._record(*parts)
        raise whole_text()

    def _record(self, *parts: Any) -> int:
        """Write a record again; `parts` are what `Arena.node` tells of it."""
        layout, slots, members, *rest = parts
        numbers = self._numbers
        moved = [
            (slot, numbers[key], name, recorded, [(bits, numbers[node]) for bits, node in variants])
            for slot, key, name, recorded, variants in members
        ]
        begin, first, between, end, empty = (numbers[node] for node in layout)
        return self._target.record((begin, first, between, end, empty), slots, moved, *rest)


def rules_without_recursion(arena: Arena, start: int) -> set[int]:
    """Return the rules that a node leads to and from which no way leads back to themselves."""
    uses: dict[int, set[int]] = {}
    waiting = [start]
    while waiting:
        rule = waiting.pop()
        if rule in uses:
            continue
        uses[rule] = found = set()
        described = arena.node(rule)
        stack = [described[2] if described[0] == "rule" else rule]
        seen: set[int] = set()
        while stack:
            number = stack.pop()
            if number is None or number in seen:
                continue
            seen.add(number)
            described = arena.node(number)
            if described[0] == "rule":
                found.add(number)
            else:
                stack.extend(parts_of(described))
        waiting.extend(found)
    flat: set[int] = set()
    grew = True
    while grew:
        size = len(flat)
        flat |= {rule for rule, used in uses.items() if used <= flat}
        grew = len(flat) > size
    nodes = ((number, arena.node(number)) for number in flat)
    return {number for number, each in nodes if each[0] == "rule" and each[2] is not None}


def whole_text() -> UnsupportedError:
    """Return the error for the tables of a parser, which read a text from end to end."""
    return UnsupportedError(
        "a grammar of Lark with a contextual or basic lexer cannot stand within another one",
        keyword="lexer",
        page=PAGE,
        mend='read it by Grammar.from_lark(..., lexer="dynamic")',
    )


def parts_of(described: tuple[Any, ...]) -> Iterator[int]:
    """Return the nodes that a node is made of, rules left aside."""
    match described:
        case ("sequence" | "both" | "minus" | "lexeme", a, b):
            yield from (a, b)
        case ("choice", options):
            yield from options
        case ("repeat", part, _, _) | ("part", part) | ("capture", _, part):
            yield part
        case ("record", layout, _, members, *_):
            yield from layout
            for _, key, _, _, variants in members:
                yield key
                yield from (node for _, node in variants)
