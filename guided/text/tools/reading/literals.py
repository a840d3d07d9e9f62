"""Values of JSON and of Python, read while they come.

What has come of a value can be looked at before it is whole: strings up to their last whole
character, arrays and objects with what is in them. Numbers, words and keys come whole or not at
all, for what follows may change them: `1.` may become 1.5.
"""

from __future__ import annotations

import json
import re
from typing import Any

from guided.text.tools.reading.stream import Mismatch, Reading, Stream

_PLAIN = {'"': re.compile(r'[^"\\\x00-\x1f]+'), "'": re.compile(r"[^'\\\x00-\x1f]+")}
_LOOSE = {'"': re.compile(r'[^"\\\n]+'), "'": re.compile(r"[^'\\\n]+")}
_NUMBER = re.compile(r"[-+0-9.eE_]+")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD = re.compile(r"[A-Za-z]+")
_WORDS = {"null": None, "true": True, "false": False}
_PYTHON_WORDS = {"None": None, "True": True, "False": False}
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_PYTHON_ESCAPES = {"'": "'", "a": "\a", "v": "\v", "0": "\0", "\n": ""}
_DIGITS = {"u": 4, "x": 2, "U": 8}
# As deep as Python's own reader of JSON goes, or less.
MAX_DEPTH = 200


class Slot:
    """Where a value goes, and what has come of it."""

    def __init__(self) -> None:
        self._value: Any = None
        self._parts: list[str] | None = None
        self._items: list[Slot] | None = None
        self._members: dict[str, Slot] | None = None
        self._is_there = False

    @property
    def is_there(self) -> bool:
        """Whether something of the value can be shown."""
        return self._is_there

    def put(self, value: Any) -> None:
        """Give it a value that is whole."""
        self._value, self._is_there = value, True

    def open_text(self) -> list[str]:
        """Make it a string, whose parts are to be added to what is returned."""
        self._parts, self._is_there = [], True
        return self._parts

    def open_array(self) -> list[Slot]:
        """Make it an array."""
        self._items, self._is_there = [], True
        return self._items

    def open_object(self) -> dict[str, Slot]:
        """Make it an object."""
        self._members, self._is_there = {}, True
        return self._members

    def value(self) -> Any:
        """Return what has come."""
        if self._parts is not None:
            return "".join(self._parts)
        if self._items is not None:
            return [item.value() for item in self._items if item.is_there]
        if self._members is not None:
            return {key: slot.value() for key, slot in self._members.items() if slot.is_there}
        return self._value


class LiteralReader:
    """Reads values from a stream: JSON, or with `is_python` what Python writes as well."""

    def __init__(self, stream: Stream, *, is_python: bool = False) -> None:
        self._stream = stream
        self._is_python = is_python
        self._words = _WORDS | (_PYTHON_WORDS if is_python else {})

    def value(self, slot: Slot, depth: int = 0) -> Reading[None]:
        """Read a value into a slot.

        Raises:
            Mismatch: it is none.
        """
        if depth > MAX_DEPTH:
            raise Mismatch
        yield from self._stream.skip_blanks()
        first = yield from self._stream.peek()
        if first == "{":
            yield from self._object(slot.open_object(), depth)
        elif first == "[" or (first == "(" and self._is_python):
            yield from self._array(slot.open_array(), depth, "]" if first == "[" else ")")
        elif first == '"' or (first == "'" and self._is_python):
            yield from self.string(slot.open_text())
        elif first and first in "-+0123456789.":
            slot.put(self._number((yield from self._all_of(_NUMBER))))
        else:
            word = yield from self._all_of(_WORD)
            if word not in self._words:
                raise Mismatch
            slot.put(self._words[word])

    def string(self, parts: list[str]) -> Reading[None]:
        """Read a string with its quotes; `parts` gets what is in it, while it comes."""
        stream = self._stream
        quote = stream.take(1)
        plain = (_LOOSE if self._is_python else _PLAIN)[quote]
        half = ""  # the first half of a surrogate pair
        while True:
            character = yield from stream.peek()
            if half and character != "\\":
                parts.append(half)
                half = ""
            if character == quote:
                stream.take(1)
                return
            if character != "\\":
                text = stream.run(plain)
                if not text:
                    raise Mismatch
                parts.append(text)
                continue
            escaped = yield from self._escape()
            if half and "\udc00" <= escaped <= "\udfff":
                pair = (half + escaped).encode("utf-16", "surrogatepass").decode("utf-16")
                parts.append(pair)
                half = ""
                continue
            if half:
                parts.append(half)
            half = escaped if "\ud800" <= escaped <= "\udbff" else ""
            if not half:
                parts.append(escaped)

    def _escape(self) -> Reading[str]:
        """Read an escape, and return the character that it stands for."""
        stream = self._stream
        stream.take(1)
        letter = yield from self._next()
        if letter == "u" or (letter in _DIGITS and self._is_python):
            digits = ""
            for _ in range(_DIGITS[letter]):
                digits += yield from self._next()
            if not re.fullmatch("[0-9a-fA-F]+", digits) or int(digits, 16) > 0x10FFFF:
                raise Mismatch
            return chr(int(digits, 16))
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        if self._is_python:
            return _PYTHON_ESCAPES.get(letter, "\\" + letter)
        raise Mismatch

    def _next(self) -> Reading[str]:
        character = yield from self._stream.peek()
        if not character:
            raise Mismatch
        return self._stream.take(1)

    def _all_of(self, pattern: re.Pattern[str]) -> Reading[str]:
        """Take all that a pattern matches; it is whole when something else comes."""
        parts = []
        while (yield from self._stream.peek()) and (part := self._stream.run(pattern)):
            parts.append(part)
        return "".join(parts)

    def _number(self, text: str) -> int | float:
        found = _JSON_NUMBER.fullmatch(text)
        if found is not None:
            return json.loads(text)  # type: ignore[no-any-return]
        if not self._is_python:
            raise Mismatch
        try:
            return int(text)
        except ValueError:
            pass
        try:
            return float(text)
        except ValueError:
            raise Mismatch from None

    def _array(self, items: list[Slot], depth: int, bracket: str) -> Reading[None]:
        stream = self._stream
        stream.take(1)
        while True:
            yield from stream.skip_blanks()
            if (yield from stream.peek()) == bracket and (not items or self._is_python):
                stream.take(1)
                return
            item = Slot()
            items.append(item)
            yield from self.value(item, depth + 1)
            yield from stream.skip_blanks()
            if (yield from stream.expect(",", bracket)) == bracket:
                return

    def _object(self, members: dict[str, Slot], depth: int) -> Reading[None]:
        stream = self._stream
        stream.take(1)
        while True:
            yield from stream.skip_blanks()
            if (yield from stream.peek()) == "}" and (not members or self._is_python):
                stream.take(1)
                return
            key = yield from self.key()
            slot = members[key] = Slot()
            yield from self.value(slot, depth + 1)
            yield from stream.skip_blanks()
            if (yield from stream.expect(",", "}")) == "}":
                return

    def key(self) -> Reading[str]:
        """Read a key and the colon after it."""
        first = yield from self._stream.peek()
        if first != '"' and not (first == "'" and self._is_python):
            raise Mismatch
        parts: list[str] = []
        yield from self.string(parts)
        yield from self._stream.skip_blanks()
        yield from self._stream.expect(":")
        return "".join(parts)


def read_partial_json(text: str) -> Any:
    """Return what can be told of a JSON value of which only the beginning has come.

    Strings are there up to their last whole character, a half of a surrogate pair and an unfinished
    escape left out. Numbers, `true`, `false`, `null` and keys are there when what follows shows
    that they are whole; nothing that was not written is made up.

    Raises:
        ValueError: it cannot be the beginning of a JSON value.
    """
    stream, slot = Stream(), Slot()
    stream.feed(text)
    reading = LiteralReader(stream).value(slot)
    try:
        next(reading)
    except StopIteration:
        if stream.left.strip():
            raise ValueError(f"there is more after the value: {stream.left!r:.40}") from None
    except Mismatch:
        raise ValueError(f"it is not JSON before {stream.left!r:.40}") from None
    return slot.value()
