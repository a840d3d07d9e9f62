"""A turn of a model, read while it comes: thoughts, text, calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from guided.text.tools.call import call_of
from guided.text.tools.call_writer import first_line
from guided.text.tools.format import DEFAULT, ToolFormat, find_format, head_of
from guided.text.tools.reading.call_reader import CallReader, OpenCall
from guided.text.tools.reading.events import (
    CallArguments,
    CallBegan,
    CallFinished,
    Event,
    ParsedCalls,
    TextPiece,
    gather,
    joined,
)
from guided.text.tools.reading.literals import LiteralReader, Slot
from guided.text.tools.reading.stream import Mismatch, Reading, Stream
from guided.text.tools.tool import Tool, read_tools
from guided.text.tools.turn import Reasoning


class CallParser:
    """Reads what a model writes, in pieces of any size: the calls do not depend on them.

    ```python
    parser = guided.CallParser("hermes")
    for piece in pieces:
        for event in parser.feed(piece): ...
    for event in parser.close(): ...
    ```
    What looks like a call and turns out to be none is text. The time is linear in that text.

    Args:
        format: the name of the wire format.
        tools: the tools, as for `Grammar.from_tools`. They tell strings from other values where a
            format writes both alike, and go with the calls. Pythonic calls are known by the names.
        reasoning: "open" for an output that begins within the thoughts of the model.

    Raises:
        GuidedError: there is no such format.
    """

    def __init__(
        self,
        format: str = DEFAULT,
        *,
        tools: Sequence[Any] | None = None,
        reasoning: Reasoning = "optional",
    ) -> None:
        read = [] if tools is None else read_tools(tools)
        self._tools: Mapping[str, Tool] = {tool.name: tool for tool in read}
        self._form: ToolFormat = find_format(format)
        self._stream = Stream()
        self._reader = CallReader(self._stream, self._form, self._tools)
        self._events: list[Event] = []
        self._open: OpenCall | None = None
        self._shown: dict[str, Any] | None = None
        self._began = False
        self._count = 0
        self._is_over = self._is_cut = False
        self._reasoning = reasoning
        self._running = self._turn()

    @property
    def unfinished(self) -> str:
        """The text of the call that has begun and is not whole; "" if there is none."""
        is_open = self._open is not None or self._is_cut
        return self._stream.since_mark() + self._stream.left if is_open else ""

    def feed(self, piece: str) -> list[Event]:
        """Read a piece, and return what it brought."""
        self._stream.feed(piece)
        return self._go_on()

    def close(self) -> list[Event]:
        """Return what there is at the end of the output: text that was held back, a last call."""
        self._stream.closed = True
        return self._go_on()

    def _go_on(self) -> list[Event]:
        if not self._is_over:
            try:
                next(self._running)
            except StopIteration:
                self._is_over = True
        self._show()
        events, self._events = self._events, []
        return list(joined(events))

    def _show(self) -> None:
        """Tell what has come of the call that is open."""
        call = self._open
        if call is None or call.name is None:
            return
        if not self._began:
            self._began = True
            self._events.append(CallBegan(self._count, call.name, call.id))
        if call.arguments.is_there:
            values = call.values()
            if values != self._shown:
                self._shown = values
                self._events.append(CallArguments(self._count, values))

    def _turn(self) -> Reading[None]:
        if self._form.messages is not None:
            yield from self._messages()
            return
        yield from self._thoughts()
        triggers = self._triggers()
        while True:
            yield from self._text_until(triggers)
            if not (yield from self._stream.peek()):
                return
            self._stream.mark()
            yield from self._attempt(self._calls())

    def _thoughts(self) -> Reading[None]:
        """Read the block in which a model thinks first."""
        if self._reasoning == "none":
            return
        begin, end = self._form.reasoning
        if self._reasoning == "optional":
            found = yield from self._stream.one_of([begin, "\n" + begin])
            if found is None:
                return
            self._stream.take(len(found))
        yield from self._text_until([end], is_reasoning=True)
        if (yield from self._stream.peek()):
            self._stream.take(len(end))
            yield from self._stream.skip_blanks()

    def _text_until(self, stops: Sequence[str], *, is_reasoning: bool = False) -> Reading[None]:
        """Hand out text up to one of some stops or the end."""
        is_over = False
        while not is_over:
            if not stops:
                text, is_over = self._stream.take(len(self._stream.left)), self._stream.closed
            else:
                text, is_over = yield from self._stream.until(stops)
            if text:
                self._events.append(TextPiece(text, is_reasoning))
            elif not is_over:
                yield

    def _attempt(self, reading: Reading[None]) -> Reading[None]:
        """Read calls; if they are none, what was read is text."""
        try:
            yield from reading
        except Mismatch:
            if self._stream.closed and not self._stream.left:
                self._is_cut = True
                return
            self._open = None
            text = self._stream.since_mark()
            # So that what begins where it failed is looked at, but not what led here.
            self._events.append(TextPiece(text or self._stream.take(1)))
        self._stream.mark()

    def _triggers(self) -> list[str]:
        """Return the texts at which calls may begin."""
        form = self._form
        if form.style == "message":
            return ['{"role"']
        begins = [head_of(each) for each in form.begin] or [""]
        calls = list(self._reader.heads())
        if form.style == "python":
            first = [f"{begin}{call}" for begin in begins for call in calls]
            return first
        whole = [begin for begin in begins if begin]
        return [first_line(each) for each in (whole + (calls if "" in begins else []))]

    def _calls(self) -> Reading[None]:
        """Read calls one after the other, from a trigger on."""
        form, stream = self._form, self._stream
        if form.style == "message":
            yield from self._message()
            return
        begins = [head_of(each) for each in form.begin] or [""]
        heads = self._reader.heads()
        begin = yield from stream.one_of([each for each in begins if each])
        if begin is not None:
            stream.take(len(begin))
        elif "" not in begins:
            raise Mismatch
        is_block = bool(form.end)
        yield from self._head(heads, [""])
        while True:
            if is_block:
                yield from stream.skip_blanks()
                end = yield from stream.one_of([each.strip() for each in form.end])
                if end is not None or not (yield from stream.peek()):
                    stream.take(len(end or ""))
                    stream.mark()
                    return
                dividers = {each.strip() for each in form.between} | {""}
                divider = yield from stream.one_of(dividers)
                stream.take(len(divider or ""))
                yield from stream.skip_blanks()
                yield from self._head(heads, [""])
                continue
            between = {*form.between, ""}
            more = [each + head for each in between for head in heads]
            if (yield from stream.one_of(more)) is None:
                return
            yield from self._head(heads, sorted(between))

    def _head(self, heads: Mapping[str, int], between: Iterable[str]) -> Reading[None]:
        """Read what divides two calls, and a call."""
        ways = {each + head: (head, each) for each in between for head in heads}
        if "" in ways:
            way: str | None = ""
        else:
            way = yield from self._stream.one_of(ways)
        if way is None:
            raise Mismatch
        head, divider = ways[way]
        self._stream.take(len(divider) + heads[head])
        yield from self._call(head)

    def _call(self, head: str) -> Reading[None]:
        call = self._open = OpenCall()
        self._began, self._shown = False, None
        yield from self._reader.read(call, head)
        assert call.name is not None
        self._finish(call)

    def _finish(self, call: OpenCall) -> None:
        self._open = call
        self._show()
        assert call.name is not None
        made = call_of(call.name, call.values(), call.id, self._tools)
        self._events.append(CallFinished(self._count, made))
        self._open = None
        self._count += 1
        self._stream.mark()

    def _message(self) -> Reading[None]:
        """Read a message of the OpenAI API."""
        slot = Slot()
        yield from LiteralReader(self._stream).value(slot)
        message = slot.value()
        self._stream.mark()
        if isinstance(text := message.get("content"), str) and text:
            self._events.append(TextPiece(text))
        for each in message.get("tool_calls") or ():
            call, inner = OpenCall(), each.get("function", {})
            call.name, call.id = str(inner.get("name")), each.get("id")
            call.arguments.put(inner.get("arguments"))
            self._began, self._shown = False, None
            self._finish(call)

    def _messages(self) -> Reading[None]:
        """Read messages with headers; those before the last but one are thoughts."""
        form, stream = self._form, self._stream
        messages = form.messages
        assert messages is not None
        before = dict(messages.before)
        heads = self._reader.heads()
        while (yield from stream.peek()):
            found = yield from stream.one_of([*before, messages.begin, *heads])
            if found is None:
                yield from self._text_until([messages.begin, *before, *heads])
                continue
            stream.mark()
            if found in heads:
                yield from self._attempt(self._head(heads, [""]))
                continue
            stream.take(len(found))
            ends = [before[found]] if found in before else list(messages.ends)
            is_reasoning = found in before and "analysis" in found
            yield from self._text_until(ends, is_reasoning=is_reasoning)
            if (end := (yield from stream.one_of(ends))) is not None:
                stream.take(len(end))


def parse_calls(
    text: str,
    format: str = DEFAULT,
    *,
    tools: Sequence[Any] | None = None,
    reasoning: Reasoning = "optional",
) -> ParsedCalls:
    """Read the calls in what a model wrote, and the text around them.

    Args:
        text: the output, with those special tokens in it that mark calls.
        format, tools, reasoning: as for `CallParser`.

    Raises:
        GuidedError: there is no such format.
    """
    parser = CallParser(format, tools=tools, reasoning=reasoning)
    events = [*parser.feed(text), *parser.close()]
    return gather(events, parser.unfinished)
