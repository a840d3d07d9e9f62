"""The spans of a given text, by words or by characters: `%verbatim "text" words`.

A span is some part of the text as it stands there, of one word or character at least. A word is
letters, digits, underscores and marks that combine with them, and apostrophes between these. By
words, a span has whole words only; what is between words may be cut anywhere.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Literal

from guided._core import Arena
from guided.errors import LimitError
from guided.text.lark.suffix_automaton import suffix_automaton

Unit = Literal["words", "characters"]
State = tuple[bool, list[tuple[int, int, int]]]

MAX_STATES = 200_000
_APOSTROPHES = "'\u2019"


def write_spans(arena: Arena, text: str, unit: Unit) -> int:
    """Write the spans of a text as a regular node.

    Raises:
        LimitError: they take more than 200,000 states, which 100,000 bytes may.

    Cost: some microseconds for each byte of the text.
    """
    # One state for each byte of the longest span is needed in any case.
    if len(text) > MAX_STATES or len(text.encode()) > MAX_STATES:
        raise _too_long()
    return arena.dfa(span_automaton(list(units(text) if unit == "words" else text)))


def units(text: str) -> Iterator[str]:
    """Yield the words of a text, and the characters between them."""
    start = 0
    inner = [_is_inner(character) for character in text]
    for at, character in enumerate(text):
        if character in _APOSTROPHES:
            inner[at] = 0 < at < len(text) - 1 and inner[at - 1] and _is_inner(text[at + 1])
        if at and not (inner[at - 1] and inner[at]):
            yield text[start:at]
            start = at
    if text:
        yield text[start:]


def _is_inner(character: str) -> bool:
    is_mark = unicodedata.category(character)[0] == "M"
    return character == "_" or character.isalnum() or is_mark


def span_automaton(row: list[str]) -> list[State]:
    """Return an automaton over bytes that accepts what one or more units in a row spell.

    A state is where one may be: at the end of a unit, or some bytes into one. There may be several
    such places at once, as a unit may begin with another, and characters share their first bytes.
    """
    spans = suffix_automaton(row)
    spelled = [b"" if each is None else each.encode() for each in spans.last]
    # A place is a state of `spans`, with the number of bytes of its unit that are still to come.
    start: frozenset[tuple[int, int]] = frozenset({(0, 0)})
    numbers = {start: 0}
    waiting = [start]
    states: list[State] = []
    for places in waiting:
        targets: dict[int, set[tuple[int, int]]] = {}
        for state, left in places:
            if left:
                byte = spelled[state][len(spelled[state]) - left]
                targets.setdefault(byte, set()).add((state, left - 1))
                continue
            for following in spans.following[state].values():
                unit = spelled[following]
                targets.setdefault(unit[0], set()).add((following, len(unit) - 1))
        edges = []
        for byte, found in sorted(targets.items()):
            target = frozenset(found)
            if target not in numbers:
                if len(numbers) >= MAX_STATES:
                    raise _too_long()
                numbers[target] = len(numbers)
                waiting.append(target)
            edges.append((byte, byte, numbers[target]))
        ends = any(not left for _, left in places) and bool(states)
        states.append((ends, edges))
    return states


def _too_long() -> LimitError:
    return LimitError("the text after %verbatim is too long", limit="states", value=MAX_STATES)
