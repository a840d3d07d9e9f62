"""What a model writes in one turn: thoughts, free text or an answer, and calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from guided._core import Arena
from guided.text.json_schema import Whitespace
from guided.text.tags import Marker
from guided.text.tags.markers import EMPTY
from guided.text.tags.occurrences import Occurrences
from guided.text.tools.call_writer import CallWriter, Opening

# "none": the output does not think first. "optional": it may. "open": the prompt ends within it.
Reasoning = Literal["none", "optional", "open"]

# Line breaks between the end of the thoughts and a call.
MAX_BREAKS = 2


@dataclass(frozen=True, slots=True)
class Turn:
    """What an output may be.

    Attributes:
        may_call, must_call: whether there may be, and must be, calls.
        is_parallel: there may be several.
        reasoning: whether the model may think first.
        whitespace: the blanks within JSON, as for a schema.
    """

    may_call: bool = True
    must_call: bool = False
    is_parallel: bool = True
    reasoning: Reasoning = "none"
    whitespace: Whitespace = "flexible"


class TurnWriter:
    """Writes a turn around the calls of a writer."""

    def __init__(self, calls: CallWriter, turn: Turn) -> None:
        self._calls = calls
        self._text = calls.text
        self._arena: Arena = calls.text.arena
        self._turn = turn
        self._is_parallel = turn.is_parallel and calls.form.is_parallel

    def write(self, answer: int | None) -> int:
        """Return the node of a turn.

        Args:
            answer: the node of what is written without calls; None for free text.
        """
        if self._calls.form.messages is not None:
            return self._messages(answer)
        if self._turn.must_call or answer is not None:
            ways = [] if self._turn.must_call or answer is None else [answer]
            if self._turn.may_call:
                ways += [self._text.marker(each.head, each.node) for each in self._strict()]
            main = self._arena.choice(ways)
        else:
            main = self._free()
        return self._arena.sequence([self._thoughts(), main])

    def _strict(self) -> list[Opening]:
        """Return the ways to write calls and nothing else."""
        return self._calls.openings(EMPTY, is_parallel=self._is_parallel, is_free=False)

    def _free(self) -> int:
        """Match free text with calls in it."""
        arena, form = self._arena, self._calls.form
        again = EMPTY
        if form.is_text_after:
            again = arena.rule("text after a call")
        opened = self._calls.openings(
            again, is_parallel=self._is_parallel, is_free=form.is_text_after
        )
        occurrences = Occurrences(arena, [each.trigger for each in opened])
        nothing_more = occurrences.without()
        start = nothing_more
        if self._turn.may_call:
            ways = [
                self._text.text_before(each.head, occurrences, each.trigger, each.node)
                for each in opened
            ]
            start = arena.choice([nothing_more, *ways])
        if form.is_text_after:
            arena.define(again, start if self._is_parallel else nothing_more)
        return start

    def _thoughts(self) -> int:
        """Match what a model thinks first, which may hold anything but the closing marker."""
        if self._turn.reasoning == "none":
            return EMPTY
        arena = self._arena
        begin, end = self._calls.form.reasoning
        occurrences = Occurrences(arena, [end])
        inside = self._text.rule(Marker(end, occurrences.without(), occurrences.first(end)))
        breaks = arena.repeat(arena.literal("\n"), 0, MAX_BREAKS)
        block = arena.sequence([inside, breaks])
        if self._turn.reasoning == "open":
            return block
        # Some templates have a line break before it.
        opening = arena.repeat(arena.literal("\n"), 0, 1)
        return arena.repeat(arena.sequence([opening, self._text.marker(begin, block)]), 0, 1)

    def _messages(self, answer: int | None) -> int:
        """Match messages with headers: thoughts and the like, then an answer or a call."""
        arena, text = self._arena, self._text
        messages = self._calls.form.messages
        assert messages is not None
        before = []
        for begin, end in messages.before:
            occurrences = Occurrences(arena, [end])
            free, closed = occurrences.without(), occurrences.first(end)
            inside = text.rule(Marker(end, free, closed, may_lack=True))
            before.append(text.marker(begin, inside))
        last = []
        if not self._turn.must_call:
            last.append(text.marker(messages.begin, self._answer(answer, messages.ends)))
        if self._turn.may_call:
            last += [text.marker(each.head, each.node) for each in self._strict()]
        return arena.sequence([arena.repeat(arena.choice(before)), arena.choice(last)])

    def _answer(self, answer: int | None, ends: tuple[str, ...]) -> int:
        """Match the text of a last message, up to its end or that of the output."""
        arena, text = self._arena, self._text
        if answer is not None:
            closed = [text.marker(end, may_end=True) for end in ends]
            return arena.sequence([answer, arena.choice([EMPTY, *closed])])
        occurrences = Occurrences(arena, ends)
        free = occurrences.without()
        ways = [text.rule(Marker(end, free, occurrences.first(end), EMPTY, True)) for end in ends]
        return arena.choice([free, *ways])
