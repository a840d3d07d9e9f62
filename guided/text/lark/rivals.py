"""Which terminals can get in each other's way: found once for each pair, before any scanner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from guided._core import Arena
from guided.errors import LimitError
from guided.text.lark.terminals import Terminal


class Rivals:
    """The pairs of terminals of a grammar that matter to each other.

    Sets of terminals are ints, bit r standing for the terminal of rank r.
    """

    def __init__(self, arena: Arena, terminals: Sequence[Terminal]) -> None:
        self.arena = arena
        self.terminals = terminals
        self.any_text = arena.any_text()
        self._prefixes: dict[int, int] = {}
        self._extensions: dict[int, int] = {}
        # Strings are compared with each other through these, as there may be thousands of them:
        # by text, the strings that are it and the strings that go on from it.
        self._same: dict[str, int] = {}
        self._going_on: dict[str, int] = {}
        self._patterns = [each for each in terminals if each.text is None]
        for each in terminals:
            if each.text is not None:
                bit = 1 << each.rank
                self._same[each.text] = self._same.get(each.text, 0) | bit
                for end in range(1, len(each.text)):
                    begun = each.text[:end]
                    self._going_on[begun] = self._going_on.get(begun, 0) | bit

    def prefixes(self, rank: int) -> int:
        """Return the terminals tried before `rank` that match at the beginning of a text of it."""
        found = self._prefixes.get(rank)
        if found is None:
            text = self.terminals[rank].text
            found = self._earlier(rank, self._begins)
            if text is not None:
                for end in range(1, len(text) + 1):
                    found |= self._same.get(text[:end], 0) & ((1 << rank) - 1)
            self._prefixes[rank] = found
        return found

    def extensions(self, rank: int) -> int:
        """Return the terminals tried before `rank` with a text that goes on from one of it."""
        found = self._extensions.get(rank)
        if found is None:
            text = self.terminals[rank].text
            found = self._earlier(rank, self._goes_on)
            if text is not None:
                found |= self._going_on.get(text, 0) & ((1 << rank) - 1)
            self._extensions[rank] = found
        return found

    @cached_property
    def unless(self) -> dict[int, int]:
        """The strings that each pattern matches, of equal priority: lark tells them apart later."""
        strings = [each for each in self.terminals if each.is_string]
        found = {}
        for pattern in self.terminals:
            if pattern.is_string:
                continue
            bits = 0
            for string in strings:
                if string.priority == pattern.priority and self._has(pattern, string.value):
                    bits |= 1 << string.rank
            if bits:
                found[pattern.rank] = bits
        return found

    @cached_property
    def embedding(self) -> dict[int, int]:
        """The patterns in whose presence each string is not scanned for itself."""
        found: dict[int, int] = {}
        for pattern, bits in self.unless.items():
            for string in members(bits):
                if self.terminals[string].flags <= self.terminals[pattern].flags:
                    found[string] = found.get(string, 0) | 1 << pattern
        return found

    def matched(self, rival: Terminal) -> int:
        """Return the texts in which `rival` may match at the beginning, whatever comes after them.

        Where it looks beyond its end, the texts in which that forbids it are left out, if it is
        certain which: if no text of it goes on to another. So these are never too few.
        """
        node = self.arena.sequence([rival.node, self.any_text])
        if rival.forbidden is None or self._begins(rival, rival, proper=True):
            return node
        return self.arena.minus(node, self.arena.sequence([rival.forbidden, self.any_text]))

    def _earlier(self, rank: int, matters: Callable[[Terminal, Terminal], bool]) -> int:
        """Return the earlier terminals that matter; strings to a string are left to the caller."""
        one = self.terminals[rank]
        bits = 0
        for other in self.terminals[:rank] if one.text is None else self._patterns:
            if other.rank < rank and one.first & other.first and matters(one, other):
                bits |= 1 << other.rank
        return bits

    def _goes_on(self, one: Terminal, other: Terminal) -> bool:
        return self._begins(other, one, proper=True)

    def _begins(self, one: Terminal, other: Terminal, *, proper: bool = False) -> bool:
        """Return True if a text of `one` begins with a text of `other`, and `proper`: goes on."""
        if one.text is not None:
            ends = range(1, len(one.text) + (not proper))
            return any(self._has(other, one.text[:end]) for end in ends)
        arena = self.arena
        after = [arena.char_class([(0, 0x10FFFF)])] if proper else []
        begun = arena.sequence([other.node, *after, self.any_text])
        try:
            return not arena.is_void(arena.both(one.node, begun))
        except LimitError:
            return True  # too large to tell, so it is taken into account

    def _has(self, terminal: Terminal, text: str) -> bool:
        return self.arena.matches(terminal.node, text)


def members(bits: int) -> list[int]:
    """Return the ranks in a set, in their order."""
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found
