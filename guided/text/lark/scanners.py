"""Which terminal a scanner of Lark takes: the first in its order that matches, as regular nodes.

A scanner tries its terminals in their order, and the first that matches wins, with the end that
Python's `re` gives it. So a terminal is read where its own text begins with no text of an earlier
one, and where what follows goes on neither to one of those nor to a longer text of its own.

Strings that a pattern of the scanner matches as a whole are not scanned for: the pattern is, and
when what it matched is such a string it is that instead. So a keyword wins over a name.

A terminal that looks beyond its end makes for fewer texts than Lark takes, where what it sees there
would change which terminal it is; never for more.
"""

from __future__ import annotations

from dataclasses import dataclass

from guided._core import Arena
from guided.text.lark.rivals import Rivals, members
from guided.text.lark.terminals import Terminal


@dataclass(frozen=True, slots=True)
class Leaf:
    """One way to read a terminal.

    Attributes:
        name: the terminal, None where the scanner drops what it read.
        body: its texts.
        longer: the texts that what follows must not go on to, from the same start.
    """

    name: str | None
    body: int
    longer: int


class Scanners:
    """Makes the leaves of each set of terminals that a scanner may have."""

    def __init__(self, arena: Arena, terminals: list[Terminal], ignored: frozenset[str]) -> None:
        self.arena = arena
        self.terminals = terminals
        self.ignored = ignored
        self.rivals = Rivals(arena, terminals)
        self.ranks = {terminal.name: terminal.rank for terminal in terminals}
        self._leaves: dict[tuple[int, int, int, int], list[Leaf]] = {}
        self._matched: dict[int, int] = {}

    def leaves(self, known: int) -> list[Leaf]:
        """Return the leaves of a scanner that knows the terminals `known`, a set of ranks."""
        embedding = self.rivals.embedding
        scanned = known
        for rank in members(known):
            if embedding.get(rank, 0) & known:
                scanned ^= 1 << rank
        found = []
        for rank in members(scanned):
            earlier = scanned & ((1 << rank) - 1)
            key = (
                rank,
                self.rivals.prefixes(rank) & earlier,
                self.rivals.extensions(rank) & earlier,
                self.rivals.unless.get(rank, 0) & known,
            )
            leaves = self._leaves.get(key)
            if leaves is None:
                leaves = self._leaves[key] = self._make(*key)
            found += leaves
        return found

    def _make(self, rank: int, prefixes: int, extensions: int, unless: int) -> list[Leaf]:
        terminal = self.terminals[rank]
        body = self._without(terminal.node, [self._excluded(each) for each in members(prefixes)])
        longer = self._longer(terminal, extensions)
        leaves = []
        taken: list[int] = []
        for each in members(unless):
            string = self.terminals[each]
            leaves.append(
                Leaf(
                    self._name(string, terminal), self._meet(string, terminal, body, taken), longer
                )
            )
            taken.append(string.node)
        leaves.append(Leaf(self._name(terminal, terminal), self._without(body, taken), longer))
        return [leaf for leaf in leaves if leaf.body != 1]

    def _name(self, terminal: Terminal, matched: Terminal) -> str | None:
        """Return what is read; what is ignored is so before strings in it are told apart."""
        return None if matched.name in self.ignored else terminal.name

    def _longer(self, terminal: Terminal, extensions: int) -> int:
        nodes = [self.terminals[each].node for each in members(extensions)]
        if terminal.text is None:
            nodes.append(terminal.node)
        if terminal.forbidden is not None:
            nodes.append(terminal.forbidden)
        return self.arena.choice(nodes)

    def _excluded(self, rank: int) -> int:
        node = self._matched.get(rank)
        if node is None:
            node = self._matched[rank] = self.rivals.matched(self.terminals[rank])
        return node

    def _meet(self, string: Terminal, pattern: Terminal, body: int, taken: list[int]) -> int:
        """Return the texts of a string that `body` matches, without those told apart before."""
        if string.text is not None:
            # The pattern matches it, so only what was taken out of the pattern may lack it.
            whole = body == pattern.node or self.arena.matches(body, string.text)
            return string.node if whole else 1
        return self._without(self.arena.both(string.node, body), taken)

    def _without(self, node: int, others: list[int]) -> int:
        return self.arena.minus(node, self.arena.choice(others)) if others else node
