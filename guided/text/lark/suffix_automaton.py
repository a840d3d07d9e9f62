"""The suffix automaton of a row of symbols: all its spans, in a number of states linear in it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Symbol = TypeVar("Symbol", bound=Hashable)


@dataclass(slots=True)
class SuffixAutomaton(Generic[Symbol]):
    """Accepts the spans of a row, each state being accepting; the start is state 0.

    Attributes:
        following: by state, the symbols that may come and the states they lead to.
        last: by state, the symbol that all ways to it end with; None at the start.
    """

    following: list[dict[Symbol, int]] = field(default_factory=list)
    last: list[Symbol | None] = field(default_factory=list)


def suffix_automaton(row: Sequence[Symbol]) -> SuffixAutomaton[Symbol]:
    """Build the automaton; at most 2 states and 3 transitions for each symbol.

    Source: Blumer, Blumer, Haussler, Ehrenfeucht, Chen and Seiferas, "The smallest automaton
    recognizing the subwords of a text", TCS 1985.
    """
    built: SuffixAutomaton[Symbol] = SuffixAutomaton([{}], [None])
    following, last = built.following, built.last
    # The longest span that leads to a state, and the state of its longest suffix that is elsewhere.
    lengths, links = [0], [-1]
    whole = 0
    for symbol in row:
        state: int = whole
        whole = len(following)
        following.append({})
        last.append(symbol)
        lengths.append(lengths[state] + 1)
        links.append(0)
        while state >= 0 and symbol not in following[state]:
            following[state][symbol] = whole
            state = links[state]
        if state < 0:
            continue
        suffix = following[state][symbol]
        if lengths[suffix] == lengths[state] + 1:
            links[whole] = suffix
            continue
        copy = len(following)
        following.append(dict(following[suffix]))
        last.append(symbol)
        lengths.append(lengths[state] + 1)
        links.append(links[suffix])
        links[suffix] = links[whole] = copy
        while state >= 0 and following[state].get(symbol) == suffix:
            following[state][symbol] = copy
            state = links[state]
    return built
