"""Guesses from what followed each state of the grammar's automaton before."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from os import PathLike
from typing import TypeAlias
from weakref import WeakKeyDictionary

from guided.decoding.drafts.counts import CountTable
from guided.decoding.drafts.counts_file import read_counts, write_counts
from guided.decoding.drafts.draft import Draft
from guided.decoding.job import Job
from guided.grammar import Automaton, Matcher

# Minus the chance of the whole way, parent, token, share of the token.
_Open: TypeAlias = tuple[float, int, int, float]


class StatesDrafter:
    """Proposes what followed the state of the matcher, and the token before, in earlier texts.

    States of an automaton recur, within a text and in all later requests with the same grammar: in
    a list of people each "name" is followed by the state that followed the first one. What came
    there is counted for each state and token before it, and for each state alone, which is asked
    where that token has not come before. A token is proposed if its share of the counts is at least
    `floor`; so two or three may follow the same one. The likeliest way through the states is
    followed first.

    The class of a token is ten times its share, rounded down, at most 9. End tokens are counted but
    not proposed: nothing comes after them that a model could be asked for beforehand.

    Memory: `most_states` places (a state, alone or with a token before it) of all automata
    together, of 0.5 to 1 kB each, with at most 16 tokens each; those not counted at for the longest
    time go first. Counts are halved at 256.

    Args:
        floor: the least share of a token that is proposed.
        most_states: places that are counted at.

    Source: Beurer-Kellner, Fischer and Vechev, "Guiding LLMs the right way: fast, non-invasive
    constrained generation" (DOMINO), ICML 2024.
    """

    name = "states"
    cost = 0.0

    def __init__(self, floor: float = 0.3, most_states: int = 100_000) -> None:
        if not 0 < floor <= 1 or most_states < 2:
            raise ValueError(
                "a floor is above 0 and at most 1, and there are at least two places; "
                f"found {floor=}, {most_states=}"
            )
        self.floor = floor
        self._counts = CountTable(most_states)
        # Our number for each automaton, and how many states it had when it was last looked at.
        self._numbers: WeakKeyDictionary[Automaton, tuple[int, int]] = WeakKeyDictionary()
        self._next = 0

    def __len__(self) -> int:
        return len(self._counts)

    def propose(self, jobs: Sequence[Job], most: Sequence[int]) -> list[Draft]:
        """Propose what mostly followed; nothing for a free text."""
        return [
            Draft() if job.matcher is None else self._draft(job, job.matcher, count)
            for job, count in zip(jobs, most, strict=True)
        ]

    def observe(self, job: Job, tokens: Sequence[int], states: Sequence[int]) -> None:
        """Count each token in the state before it."""
        if job.matcher is None or not states:
            return
        number = self._number_of(job, job.matcher)
        # An end token is not in the history.
        in_history = len(tokens) - (not job.tokens or job.tokens[-1] != tokens[-1])
        previous = job.history[len(job.history) - in_history - 1]
        for token, state in zip(tokens, states, strict=True):
            self._counts.add(number, state, previous, token)
            previous = token

    def save(self, path: str | PathLike[str], automaton: Automaton) -> None:
        """Write what was counted for an automaton to a file.

        Numbers of states mean nothing in another process, nor after `Automaton.load`. So each state
        is written as a way that leads to it; states whose ways were forgotten are left out.
        """
        write_counts(path, automaton, self._counts, self._number(automaton))

    def load(self, path: str | PathLike[str], automaton: Automaton) -> None:
        """Add what `save` wrote.

        It may be for an automaton of another grammar: ways that this one forbids are left out.

        Raises:
            FileNotFoundError: it is not there.
            GuidedError: it is another file, damaged, or was made over another vocabulary.
        """
        read_counts(path, automaton, self._counts, self._number(automaton))

    def _draft(self, job: Job, matcher: Matcher, most: int) -> Draft:
        """Follow the ways through the states, the likeliest first."""
        draft, number = Draft(), self._number_of(job, matcher)
        ends = matcher.vocabulary.eos
        todo: list[_Open] = []
        state, previous, place, chance = matcher.state(), job.history[-1], -1, -1.0
        while len(draft) < most:
            followers = self._counts.find(number, state, previous)
            for share, token in followers.likely(self.floor) if followers else ():
                if token not in ends:
                    heappush(todo, (chance * share, place, token, share))
            if not todo:
                break
            chance, parent, previous, share = heappop(todo)
            place = draft.add(previous, parent, min(int(10 * share), 9))
            state = matcher.states_after(draft.tokens, draft.parents)[-1]
        return draft

    def _number_of(self, job: Job, matcher: Matcher) -> int:
        """Return our number for the automaton of a job; it stays."""
        number: int | None = job.notes.get(self)
        if number is None:
            number = job.notes[self] = self._number(matcher.automaton)
        return number

    def _number(self, automaton: Automaton) -> int:
        """Return our number for an automaton, a new one if it has begun a new table of states.

        It does so when its memory is full. Texts that are on the old table keep the old number.
        """
        states = automaton.stats()["states"]
        number, before = self._numbers.get(automaton, (-1, 0))
        if number < 0 or states < before:
            number, self._next = self._next, self._next + 1
        self._numbers[automaton] = number, states
        return number
