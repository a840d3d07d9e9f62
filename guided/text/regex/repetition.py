"""Repetitions of parts that look beyond their own end: `(?:(?!--).)*`, `(?:\\w+\\b ?)*`.

What such a part asks of the following text may be met by a later round or by what follows the
repetition, so there is no formula for it. It is an automaton instead: a state is what is left of
the round, the kinds of the last characters read (for `\\b`) and the *obligations*, the look-aheads
under way that must yet match or must not. Leaving the repetition hands the obligations to what
follows, as intersections and differences. The automaton is then written as a regular expression.
Source: Brzozowski and McCluskey, "Signal flow graph techniques for sequential circuit state
diagrams", IEEE Transactions on Electronic Computers 1963, for the elimination of states.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from guided.errors import LimitError
from guided.text.regex.codepoints import Ranges, union
from guided.text.regex.obligations import (
    Accept,
    Continuation,
    Expander,
    History,
    Obligation,
    Refusal,
)
from guided.text.regex.syntax import Expression, sequence
from guided.text.regex.windows import ANYTHING_BEFORE, Window, meet_windows
from guided.text.regex.writer import EMPTY_NODE, NEVER_NODE, Writer

if TYPE_CHECKING:
    from guided.text.regex.lookaround import Rests, Weaver

MAX_STATES = 400
MAX_EDGES = 5_000

Obligations = frozenset[Obligation]
State = tuple[Continuation, History, Obligations]
Exit = tuple[Ranges, bool, Obligations]


def put_automaton(weaver: Weaver, repetition: Expression, rests: Rests) -> Rests:
    """Return the rests before a repetition, given those after it.

    Raises:
        UnsupportedError: a look-behind in it has no bounded width, or an atomic group is in it.
        LimitError: the automaton has too many states.
    """
    try:
        return _Automaton(weaver, repetition).put(rests)
    except Refusal as refusal:
        raise weaver.source.unsupported(
            f"within a repetition, {refusal.what} is not supported",
            refusal.index,
            keyword=refusal.what,
            mend="move the condition out of the repetition",
        ) from None


class _Automaton:
    """The automaton of one repetition."""

    def __init__(self, weaver: Weaver, repetition: Expression) -> None:
        self.weaver = weaver
        self.repetition = repetition
        self.expander = Expander(repetition)
        self.edges: dict[State, dict[State, Ranges]] = {}
        self.exits: dict[State, set[Exit]] = {}

    def put(self, rests: Rests) -> Rests:
        entries = self._entries()
        self._explore(entries.values())
        graph = _Graph(self.weaver.writer)
        for state, successors in self.edges.items():
            for successor, ranges in successors.items():
                graph.add(state, successor, self.weaver.writer.characters(ranges))
        for state, leaving in self.exits.items():
            for each in leaving:
                graph.add(state, ("exit", each), EMPTY_NODE)
        for window, state in entries.items():
            graph.add(("entry", window), state, EMPTY_NODE)
        for state in self.edges:
            graph.try_later(state)
        paths = graph.eliminate()
        return self._join(paths, rests)

    def _entries(self) -> dict[Window, State]:
        """Return the first states, by what is known of the character before the repetition."""
        histories = self.expander.histories()
        nothing: Obligations = frozenset()
        return {
            window: ((self.repetition,), history, nothing) for window, history in histories.items()
        }

    def _explore(self, starts: Iterable[State]) -> None:
        waiting = list(starts)
        count = 0
        while waiting:
            state = waiting.pop()
            if state in self.edges:
                continue
            self.edges[state] = {}
            self.exits[state] = set()
            for successor, ranges in self._steps(state):
                count += 1
                if len(self.edges) > MAX_STATES or count > MAX_EDGES:
                    raise LimitError(
                        "look-around within a repetition needs too large an automaton",
                        limit="states",
                        value=MAX_STATES,
                    )
                known = self.edges[state].get(successor, ())
                self.edges[state][successor] = union(known, ranges)
                waiting.append(successor)

    def _steps(self, state: State) -> Iterable[tuple[State, Ranges]]:
        """Yield the successors of a state, each with the characters that lead there."""
        continuation, history, obligations = state
        expander = self.expander
        for option in expander.expand(continuation, history):
            owed = obligations | option.owed
            if isinstance(option, Accept):
                self.exits[state].add((option.ranges, option.edge, owed))
                continue
            for part in expander.split(option.ranges, owed, history):
                following = expander.remember(history, part)
                for left in expander.advance(owed, part, history):
                    yield (option.rest, following, left), part

    def _join(self, paths: dict[tuple[Window, Exit], int], rests: Rests) -> Rests:
        from guided.text.regex.lookaround import Piece  # they call each other

        branches = []
        after: dict[Exit, Rests] = {}
        for (window, leaving), node in paths.items():
            if leaving not in after:
                after[leaving] = self._after(leaving, rests)
            put = self.weaver.put_piece(Piece(node, 0, None), after[leaving])
            for each, rest in put.items():
                met = meet_windows(each, window)
                if met is not None:
                    branches.append({met: rest})
        return self.weaver.merge(branches)

    def _after(self, leaving: Exit, rests: Rests) -> Rests:
        """Return what may follow the repetition, given the obligations it is left with."""
        ranges, edge, obligations = leaving
        writer = self.weaver.writer
        kept = {
            window: self.weaver.forms.narrow(rest, ranges, edge=edge)
            for window, rest in rests.items()
        }
        for obligation in obligations:
            language = self._language(obligation)
            combine = writer.meet if obligation.must else writer.without
            kept = {window: combine(rest, language) for window, rest in kept.items()}
        return {window: rest for window, rest in kept.items() if rest != NEVER_NODE}

    def _language(self, obligation: Obligation) -> int:
        """Return the texts that begin with what is left of a look-ahead."""
        whole = sequence(obligation.rest)
        found = self.weaver.put(whole, {ANYTHING_BEFORE: self.weaver.writer.any_text})
        if any(window != ANYTHING_BEFORE for window in found):
            raise Refusal("a look-behind at the start of a look-ahead", 0)
        return found.get(ANYTHING_BEFORE, NEVER_NODE)


class _Graph:
    """An automaton whose edges are nodes; states are taken out until only paths are left."""

    def __init__(self, writer: Writer) -> None:
        self.arena = writer.arena
        self.out: dict[object, dict[object, int]] = {}
        self.into: dict[object, set[object]] = {}
        self.inner: set[object] = set()

    def add(self, start: object, end: object, node: int) -> None:
        """Add a way from one state to another."""
        ways = self.out.setdefault(start, {})
        ways[end] = self.arena.choice([ways[end], node]) if end in ways else node
        self.into.setdefault(end, set()).add(start)

    def try_later(self, state: object) -> None:
        """Mark a state as one to be taken out."""
        self.inner.add(state)

    def eliminate(self) -> dict[tuple[Window, Exit], int]:
        """Take out the inner states, those with the fewest ways through first."""
        while self.inner:
            state = min(self.inner, key=self._ways_through)
            self.inner.remove(state)
            self._take_out(state)
        return {
            (start[1], end[1]): node
            for start, ways in self.out.items()
            for end, node in ways.items()
            if isinstance(start, tuple) and isinstance(end, tuple)
        }

    def _ways_through(self, state: object) -> int:
        return len(self.into.get(state, ())) * len(self.out.get(state, ()))

    def _take_out(self, state: object) -> None:
        ways = self.out.pop(state, {})
        sources = self.into.pop(state, set()) - {state}
        round_trip = ways.pop(state, None)
        loop = EMPTY_NODE if round_trip is None else self.arena.repeat(round_trip)
        for end in ways:
            self.into[end].discard(state)
        for source in sources:
            entering = self.out[source].pop(state)
            for end, leaving in ways.items():
                self.add(source, end, self.arena.sequence([entering, loop, leaving]))
