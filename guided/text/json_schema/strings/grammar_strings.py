"""A grammar within a JSON string: its nodes written again, each character as JSON spells it.

The spellings of a text are those of its characters one after the other, and no spelling of a
character begins another's. So sequences, choices, repetitions and rules stay what they are, and so
do intersections and differences of regular nodes; only literals and classes change.
"""

from __future__ import annotations

from typing import Any, Protocol

from guided._core import Arena
from guided.errors import LimitError, UnsupportedError
from guided.text.nodes import Nodes
from guided.text.spelling import HostnameSpelling
from guided.text.tags.transplant import Transplant, parts_of, whole_text

PAGE = "docs/composition.md"


class JsonCharacters(HostnameSpelling, Protocol):
    """The characters of a JSON string."""

    def automaton(self, arena: Arena, source: Arena, node: int) -> int:
        """Return the spellings of a regular node of another arena."""
        ...


def plain_grammar(grammar: Nodes, target: Arena) -> int:
    """Write the texts of a grammar, as they are, into another arena.

    Raises:
        UnsupportedError: it has tokens, or is one of whole texts.
    """
    _refuse_tokens(grammar)
    return Transplant(grammar.arena, target, {}, inlined=True).node(grammar.start)


def spelled_grammar(grammar: Nodes, target: Arena, spelling: JsonCharacters) -> int:
    """Write the texts of a grammar as they are spelled in a JSON string, without the quotes.

    Raises:
        UnsupportedError: it has tokens, is one of whole texts, has objects whose keys must be told
            apart, or parts that are no whole characters.
        LimitError: it is too large.
    """
    _refuse_tokens(grammar)
    return _Spelled(grammar, target, spelling).node(grammar.start)


class _Spelled(Transplant):
    def __init__(self, grammar: Nodes, target: Arena, spelling: JsonCharacters) -> None:
        # A node may have to be looked at together with others: that is done in a copy.
        super().__init__(grammar.arena.clone(), target, {}, inlined=True)
        self._spelling = spelling
        self._texts: dict[int, bool] = {}

    def _parts_to_write(self, number: int, described: tuple[Any, ...]) -> list[int]:
        """Return the parts to be written before a node, none of one that is spelled at once."""
        if described[0] in ("sequence", "repeat"):
            for part in parts_of(described):
                if self._is_regular(part) and not self._is_text(part):
                    if self._is_regular(number):
                        return []
                    raise _not_whole()
        return super()._parts_to_write(number, described)

    def _made(self, number: int, described: tuple[Any, ...]) -> int:
        target, spelling = self._target, self._spelling
        match described:
            case ("literal", data):
                try:
                    return spelling.literal(target, data.decode())
                except UnicodeDecodeError:
                    # Where it stands by itself it is no text.
                    return 1
            case ("class", ranges):
                return spelling.characters(target, ranges)
            case ("dfa", _):
                return spelling.automaton(target, self._source, number)
            case ("hostname", longest, False):
                return spelling.hostname(target, longest)
            case ("hostname", _, True):
                raise UnsupportedError(
                    "a grammar in a JSON string has host names that may be spelled with escapes",
                    keyword="format",
                    page=PAGE,
                    mend='make it with escapes="minimal"',
                )
            case ("sequence" | "repeat", *_) if not self._parts_to_write(number, described):
                return spelling.automaton(target, self._source, number)
            case ("record", _, _, members, *_):
                if any(recorded for _, _, _, recorded, _ in members):
                    raise UnsupportedError(
                        "a grammar in a JSON string has an object whose keys, or an array whose"
                        " items, must differ",
                        keyword="uniqueItems or additionalProperties",
                        page=PAGE,
                        mend='let its objects have "additionalProperties": false',
                    )
        return super()._made(number, described)

    def _is_regular(self, number: int) -> bool:
        return self._source.is_regular(number)

    def _is_text(self, number: int) -> bool:
        """Return True if a regular node matches nothing but whole characters."""
        known = self._texts.get(number)
        if known is None:
            known = self._is_plainly_text(number)
            if not known and self._source.is_operand(number):
                other = self._source.minus(number, self._source.any_text())
                try:
                    known = self._source.is_void(other)
                except LimitError:
                    known = False
            self._texts[number] = known
        return known

    def _is_plainly_text(self, start: int) -> bool:
        stack = [start]
        seen = set(stack)
        while stack:
            described = self._source.node(stack.pop())
            match described:
                case ("dfa", _):
                    return False
                case ("literal", data):
                    try:
                        data.decode()
                    except UnicodeDecodeError:
                        return False
            fresh = [part for part in parts_of(described) if part not in seen]
            seen.update(fresh)
            stack += fresh
        return True


def _refuse_tokens(grammar: Nodes) -> None:
    if grammar.arena.node(grammar.start) == ("lalr",):
        raise whole_text()
    if grammar.late:
        raise UnsupportedError(
            "a grammar in a JSON string has tokens or the markers of tags, which are no text",
            keyword="token",
            page=PAGE,
            mend="write them as text",
        )
    stack = [grammar.start]
    seen = set(stack)
    while stack:
        described = grammar.arena.node(stack.pop())
        if described[0] == "token":
            raise UnsupportedError(
                "a grammar in a JSON string has tokens, which are no text",
                keyword="token",
                page=PAGE,
                mend="write them as text",
            )
        parts = list(parts_of(described))
        if described[0] == "rule" and described[2] is not None:
            parts.append(described[2])
        fresh = [part for part in parts if part not in seen]
        seen.update(fresh)
        stack += fresh


def _not_whole() -> UnsupportedError:
    return UnsupportedError(
        "a grammar in a JSON string has rules that begin or end within a character",
        keyword="grammar",
        page=PAGE,
        mend="let the alternatives of its rules begin with whole characters",
    )
