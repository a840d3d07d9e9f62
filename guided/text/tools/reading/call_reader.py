"""One call in each style, read while it comes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from guided.text.tools.format import Template, ToolFormat, head_of
from guided.text.tools.kinds import OTHER, TEXT, Kind, Kinds, kinds_of
from guided.text.tools.reading.literals import LiteralReader, Slot
from guided.text.tools.reading.stream import Mismatch, Reading, Stream
from guided.text.tools.tool import Tool


class OpenCall:
    """A call of which something has come.

    Attributes:
        name: the name of the tool, None before it has come.
        id: that of the call.
        arguments: what has come of them.
    """

    def __init__(self) -> None:
        self.name: str | None = None
        self.id: str | None = None
        self.arguments = Slot()

    def values(self) -> dict[str, Any]:
        """Return the arguments that have come."""
        value = self.arguments.value()
        if isinstance(value, str):  # some models write JSON within a string
            try:
                value = json.loads(value)
            except ValueError:
                return {}
        return value if isinstance(value, dict) else {}


class CallReader:
    """Reads calls in the style of a format, after what opens them."""

    def __init__(self, stream: Stream, form: ToolFormat, tools: Mapping[str, Tool]) -> None:
        self._stream = stream
        self._form = form
        self._tools = tools
        self._kinds: dict[str, Kinds] = {}
        self._ends = [end.strip() for end in form.call_end]

    def heads(self) -> dict[str, int]:
        """Return the texts by which a call is known, and how much of each stands before it."""
        form = self._form
        if form.style == "python":
            names = self._tools or {}
            return {f"{name}(": 0 for name in names}
        if form.style == "object" and not form.call_begin:
            return {f'{{"{form.name_key}"': 0}
        heads = [head_of(each) for each in form.call_begin]
        if form.style == "object":  # a brace may follow the blanks of a marker, or the marker
            heads = [head.rstrip() for head in heads]
        return {head: len(head) for head in heads}

    def read(self, call: OpenCall, head: str) -> Reading[None]:
        """Read a call whose head was taken, up to its end.

        Raises:
            Mismatch: it is none.
        """
        style = self._form.style
        if style == "object":
            yield from self._object(call)
        elif style == "python":
            yield from self._python(call)
        else:
            yield from self._named(call, head)
            if style == "parameters":
                yield from self._parameters(call)
                return
            yield from LiteralReader(self._stream).value(call.arguments)
            if not isinstance(call.arguments.value(), dict):
                raise Mismatch
        yield from self._end()

    def _end(self) -> Reading[None]:
        """Read what closes a call; the end of the output will do, as it may have been a token."""
        if not self._ends:
            return
        yield from self._stream.skip_blanks()
        if (yield from self._stream.peek()):
            yield from self._stream.expect(*self._ends)

    def _named(self, call: OpenCall, head: str) -> Reading[None]:
        """Read name and id from where templates put them, up to the arguments."""
        form = self._form
        templates = [each[1:] for each in form.call_begin if head_of(each) == head]
        following = ["{"]
        if form.style == "parameters":
            following = [*self._ends, *(head_of(each) for each in form.parameter_begin)]
        found = yield from self._placeholders(templates, following)
        call.name = found["name"].strip()
        call.id = found.get("id")
        if not call.name:
            raise Mismatch

    def _placeholders(
        self, templates: Sequence[Template], following: Sequence[str]
    ) -> Reading[dict[str, str]]:
        """Read the rest of one of some templates, and return what stands in its places."""
        found: dict[str, str] = {}
        while any(templates):
            placeholder = next(each[0][0] for each in templates if each)
            behind = [each[1:] for each in templates if each]
            stops = {each[0][0] for each in behind if each}
            if not all(behind):
                stops |= set(following)
            found[placeholder] = yield from self._until(sorted(stops))
            stop = yield from self._stream.one_of(stops)
            if stop is None:
                raise Mismatch
            templates = [each[1:] for each in behind if each and each[0][0] == stop]
            if not templates:
                break
            self._stream.take(len(stop))
        return found

    def _until(self, stops: Sequence[str]) -> Reading[str]:
        """Read the text before one of some stops."""
        parts = []
        is_over = False
        while not is_over:
            part, is_over = yield from self._stream.until(stops)
            parts.append(part)
            if not is_over and not part:
                yield
        return "".join(parts)

    def _object(self, call: OpenCall) -> Reading[None]:
        """Read an object with name and arguments, in any order, other members left aside."""
        stream, reader = self._stream, LiteralReader(self._stream)
        yield from stream.skip_blanks()
        yield from stream.expect("{")
        while True:
            yield from stream.skip_blanks()
            key = yield from reader.key()
            slot = call.arguments if key in ("arguments", "parameters") else Slot()
            yield from reader.value(slot)
            value = slot.value() if slot is not call.arguments else None
            if key == self._form.name_key:
                call.name = value if isinstance(value, str) else None
            if key == "id" and isinstance(value, str):
                call.id = value
            yield from stream.skip_blanks()
            if (yield from stream.expect(",", "}")) == "}":
                break
        if not call.name or not call.arguments.is_there:
            raise Mismatch

    def _python(self, call: OpenCall) -> Reading[None]:
        """Read `name(key=value, ...)`."""
        stream, reader = self._stream, LiteralReader(self._stream, is_python=True)
        call.name = (yield from self._until(["("])).strip()
        yield from stream.expect("(")
        members = call.arguments.open_object()
        while True:
            yield from stream.skip_blanks()
            if (yield from stream.peek()) == ")":
                stream.take(1)
                return
            key = (yield from self._until(["=", ")", ",", "("])).strip()
            yield from stream.expect("=")
            members[key] = Slot()
            yield from reader.value(members[key])
            yield from stream.skip_blanks()
            if (yield from stream.expect(",", ")")) == ")":
                return

    def _parameters(self, call: OpenCall) -> Reading[None]:
        """Read arguments between markers, and what closes the call."""
        stream, form = self._stream, self._form
        members = call.arguments.open_object()
        heads = {head_of(each) for each in form.parameter_begin}
        assert call.name is not None
        kinds = self._kinds_of(call.name)
        while True:
            yield from stream.skip_blanks()
            head = yield from stream.expect(*heads, *self._ends)
            if head in self._ends:
                return
            templates = [each[1:] for each in form.parameter_begin if head_of(each) == head]
            found = yield from self._placeholders(templates, [form.parameter_end])
            slot = members[found["key"]] = Slot()
            kind = kinds.get(found["key"])
            if found.get("is_string") == "true":
                kind = TEXT
            elif "is_string" in found:
                kind = OTHER
            yield from self._parameter(slot, kind)

    def _parameter(self, slot: Slot, kind: Kind | None) -> Reading[None]:
        """Read a value up to its marker, and that; `kind`: what it may be, if that is known."""
        end = [self._form.parameter_end]
        first = (yield from self._stream.peek()) if kind else ""
        if (kind and not kind.is_text) or (first and kind and first in kind.brackets):
            # The marker may stand within a string in there.
            yield from LiteralReader(self._stream).value(slot)
        elif kind and not kind.is_other:
            parts = slot.open_text()
            is_over = False
            while not is_over:
                part, is_over = yield from self._stream.until(end)
                parts.append(part)
                if not is_over and not part:
                    yield
        else:
            slot.put(value_of((yield from self._until(end))))
        yield from self._stream.expect(*end)

    def _kinds_of(self, name: str) -> Kinds:
        if name not in self._kinds:
            tool = self._tools.get(name)
            self._kinds[name] = {} if tool is None else kinds_of(tool)
        return self._kinds[name]


def value_of(text: str) -> Any:
    """Return the value that a text between markers stands for, where it may be text or JSON."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, str) else value
