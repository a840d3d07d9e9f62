"""What a parser tells of a turn, and all of that together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from guided.text.tools.call import ToolCall


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Some free text; `is_reasoning`: of what the model thinks first."""

    text: str
    is_reasoning: bool = False


@dataclass(frozen=True, slots=True)
class CallBegan:
    """The name of a tool has come; `index` counts the calls from 0."""

    index: int
    name: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class CallArguments:
    """More of the arguments has come: all that is there so far, see `read_partial_json`."""

    index: int
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CallFinished:
    """A call is whole."""

    index: int
    call: ToolCall


Event: TypeAlias = TextPiece | CallBegan | CallArguments | CallFinished


@dataclass(frozen=True, slots=True)
class ParsedCalls:
    """What a turn came to.

    Attributes:
        text: the free text, without calls.
        calls: the calls.
        reasoning: what the model thought first.
        unfinished: the text of a call that was cut short; "" if there is none.
    """

    text: str
    calls: list[ToolCall] = field(default_factory=list)
    reasoning: str = ""
    unfinished: str = ""


def gather(events: Iterable[Event], unfinished: str = "") -> ParsedCalls:
    """Put the events of a turn together."""
    free: list[str] = []
    thoughts: list[str] = []
    calls = []
    for event in events:
        if isinstance(event, TextPiece):
            (thoughts if event.is_reasoning else free).append(event.text)
        elif isinstance(event, CallFinished):
            calls.append(event.call)
    return ParsedCalls("".join(free), calls, "".join(thoughts), unfinished)


def joined(events: Iterable[Event]) -> Iterator[Event]:
    """Join pieces of text that follow each other."""
    last: TextPiece | None = None
    for event in events:
        if isinstance(event, TextPiece) and last and last.is_reasoning == event.is_reasoning:
            last = TextPiece(last.text + event.text, event.is_reasoning)
            continue
        if last is not None:
            yield last
        last = event if isinstance(event, TextPiece) else None
        if last is None:
            yield event
    if last is not None:
        yield last
