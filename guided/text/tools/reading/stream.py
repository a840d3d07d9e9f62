"""Characters that come in pieces, and readers that wait for them.

A reader is a generator that yields when it needs more than has come. It decides by the text alone
and never by how that was cut: where more could change its mind it waits.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Sequence
from typing import TypeVar

Thing = TypeVar("Thing")
Reading = Generator[None, None, Thing]


class Mismatch(Exception):
    """What has come is not what must be there."""


class Stream:
    """The text of an output.

    Attributes:
        closed: nothing more will come.
    """

    def __init__(self) -> None:
        self.closed = False
        self._buffer = ""
        self._at = 0
        self._taken: list[str] = []

    def feed(self, piece: str) -> None:
        """Add a piece."""
        self._buffer = self._buffer[self._at :] + piece
        self._at = 0

    @property
    def left(self) -> str:
        """What has come and was not taken."""
        return self._buffer[self._at :]

    def take(self, count: int) -> str:
        """Take so many characters, which have come."""
        text = self._buffer[self._at : self._at + count]
        self._at += count
        self._taken.append(text)
        return text

    def mark(self) -> None:
        """Forget what was taken before."""
        self._taken.clear()

    def since_mark(self) -> str:
        """Return what was taken since `mark`."""
        return "".join(self._taken)

    def peek(self) -> Reading[str]:
        """Return the next character, "" at the end."""
        while self._at >= len(self._buffer) and not self.closed:
            yield
        return self._buffer[self._at] if self._at < len(self._buffer) else ""

    def run(self, pattern: re.Pattern[str]) -> str:
        """Take those of the characters that have come which a pattern matches; it may be none."""
        found = pattern.match(self._buffer, self._at)
        return self.take(found.end() - self._at) if found else ""

    def skip_blanks(self) -> Reading[None]:
        """Take white space."""
        while (yield from self.peek()).isspace():
            self.run(_BLANKS)

    def one_of(self, texts: Iterable[str]) -> Reading[str | None]:
        """Return which text comes next, the longest if several do; None if none does.

        Nothing is taken.
        """
        longest_first = sorted(set(texts), key=len, reverse=True)
        while True:
            have = len(self._buffer) - self._at
            for text in longest_first:
                if self._buffer.startswith(text, self._at):
                    return text
                if (
                    not self.closed
                    and text.startswith(self._buffer[self._at :])
                    and have < len(text)
                ):
                    break  # it may still come
            else:
                return None
            yield

    def expect(self, *texts: str) -> Reading[str]:
        """Take one of some texts, the longest that is there.

        Raises:
            Mismatch: none is there.
        """
        found = yield from self.one_of(texts)
        if found is None:
            raise Mismatch
        return self.take(len(found))

    def until(self, stops: Sequence[str]) -> Reading[tuple[str, bool]]:
        """Take text that comes before one of some texts, as far as it has come.

        Returns:
            some text, and whether a stop or the end comes next. The stop is not taken.
        """
        first = re.compile("|".join(sorted({re.escape(stop[0]) for stop in stops})))
        while True:
            start = self._at
            while found := first.search(self._buffer, start):
                place = found.start()
                here = [stop for stop in stops if self._buffer.startswith(stop, place)]
                rest = self._buffer[place:]
                may_come = not self.closed and any(stop.startswith(rest) for stop in stops)
                if here or may_come:
                    return self.take(place - self._at), bool(here)
                start = place + 1
            text = self.take(len(self._buffer) - self._at)
            if text or self.closed:
                return text, self.closed
            yield


_BLANKS = re.compile(r"\s+")
