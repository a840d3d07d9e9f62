"""A regular node walked byte by byte: which texts it matches, and how many there are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice

from guided._core import Arena, Automaton, Matcher, Vocabulary
from guided.errors import GrammarError, TokenRejected

# As many as the core can count.
ENDLESS = 2**31 - 1

_MAX_LEVELS = 400
_MAX_STATES = 4_000


class _TooLong(Exception):
    """A text is too long to be listed."""


class ByteWalk:
    """An automaton whose tokens are bytes.

    Raises:
        LimitError: what is walked is too large.
    """

    def __init__(self, arena: Arena, node: int) -> None:
        try:
            self._automaton: Automaton | None = Automaton(arena, node, bytes_vocabulary())
        except GrammarError:
            self._automaton = None  # the node is void

    @property
    def is_void(self) -> bool:
        """Whether the node matches nothing."""
        return self._automaton is None

    def matches(self, text: str) -> bool:
        """Return True if the node matches the whole of a text."""
        if self._automaton is None:
            return False
        matcher = Matcher(self._automaton)
        try:
            matcher.accept_bytes(text.encode())
        except TokenRejected:
            return False
        return matcher.is_complete

    def ends(self, data: bytes, start: int) -> Iterator[int]:
        """Give the places where a text of the node ends that begins at a place of `data`."""
        if self._automaton is None:
            return
        matcher = Matcher(self._automaton)
        if matcher.is_complete:
            yield start
        for place in range(start, len(data)):
            if not matcher.can_accept(data[place]):
                return
            matcher.accept(data[place])
            if matcher.is_complete:
                yield place + 1

    def reach(self, data: bytes) -> int:
        """Return how many bytes of `data` may begin a text of the node."""
        if self._automaton is None:
            return 0
        matcher = Matcher(self._automaton)
        return matcher.accepted_prefix(list(data))

    def texts(self, limit: int) -> list[bytes] | None:
        """Return all texts, or None if there are more than `limit` or they are very long."""
        found: list[bytes] = []
        try:
            for text in self._texts():
                if text is None or len(found) == limit:
                    return None
                found.append(text)
        except _TooLong:
            return None
        return found

    def is_endless(self) -> bool:
        """Return True if it is proven that there are infinitely many texts, or ENDLESS."""
        if self._automaton is None:
            return False
        try:
            if any(text is None for text in islice(self._texts(), 64)):
                return True
        except _TooLong:
            pass
        # Each beginning that the automaton takes can be finished, and no two of one length are the
        # beginning of one text: so many texts there are at least.
        start = Matcher(self._automaton)
        level = {start.state(): (start, 1)}
        states = 0
        for _ in range(_MAX_LEVELS):
            following: dict[int, tuple[Matcher, int]] = {}
            for matcher, count in level.values():
                for byte in _some(matcher.allowed_bytes()):
                    after = _step(matcher, byte)
                    known = following.get(after.state(), (after, 0))
                    following[after.state()] = (known[0], known[1] + count)
            level = following
            states += len(level)
            if sum(count for _, count in level.values()) >= ENDLESS:
                return True
            if not level or states > _MAX_STATES:
                return False
        return False

    def _texts(self) -> Iterator[bytes | None]:
        """Yield the texts, the shorter of two that begin alike first; None ends it: no end."""
        if self._automaton is None:
            return
        start = Matcher(self._automaton)
        if start.is_complete:
            yield b""
        path = bytearray()
        states = [start.state()]
        stack = [(start, iter(start.allowed_bytes()))]
        while stack:
            matcher, following = stack[-1]
            byte = next(following, None)
            if byte is None:
                stack.pop()
                states.pop()
                del path[-1:]
                continue
            after = _step(matcher, byte)
            path.append(byte)
            if after.is_complete:
                yield bytes(path)
            # The way from a state to itself can be gone any number of times, and then finished.
            if after.state() in states:
                yield None
                return
            if len(path) > _MAX_STATES:
                raise _TooLong
            states.append(after.state())
            stack.append((after, iter(after.allowed_bytes())))


def _step(matcher: Matcher, byte: int) -> Matcher:
    after = Matcher(matcher)
    after.accept_bytes(bytes((byte,)))
    return after


def _some(allowed: bytes) -> bytes:
    """Return all of a few bytes, and some of many."""
    return allowed[:: 1 + len(allowed) // 64]


@cache
def bytes_vocabulary() -> Vocabulary:
    """Return a vocabulary whose tokens are the bytes."""
    return Vocabulary([bytes((byte,)) for byte in range(256)] + [None], eos=[256])
