"""An LALR table worked by the book, to test tables against lark without the core's own machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from guided._core import Arena
from guided.text.lark.lalr import END
from guided.text.lark.reading import read_grammar
from guided.text.lark.scanners import Leaf
from guided.text.lark.tables import Table, make_table
from guided.text.lark.terminals import compile_terminals


class Simulation:
    """Parses texts by the table of a grammar, and by what a leaf is defined to be."""

    def __init__(
        self,
        text: str,
        *,
        start: str = "start",
        contextual: bool = True,
        import_paths: Sequence[str | Path] = (),
        path: str | Path | None = None,
    ) -> None:
        reading = read_grammar(text, start=start, import_paths=import_paths, path=path)
        self.arena = Arena()
        terminals = compile_terminals(
            self.arena, reading.source, reading.terminals, reading.extensions
        )
        self.table: Table = make_table(self.arena, reading, terminals, contextual=contextual)
        self.rows = [
            {symbol: (kind, target) for symbol, kind, target in row} for row in self.table.actions
        ]

    def accepts(self, text: str) -> bool:
        """Return True if the table accepts the text."""
        stack, indents, depth, at = [self.table.start], [0], 0, 0
        while at < len(text):
            found = self.terminal(stack[-1], text, at)
            if found is None:
                return False
            name, end = found
            if name is not None:
                fed = self._symbols(name, text[at:end], indents, depth)
                if fed is None or not all(self._feed(stack, symbol) for symbol in fed):
                    return False
                depth = self._depth(name, depth)
                if depth < 0:
                    return False
            at = end
        closing = [self.table.symbols["_DEDENT"]] * (len(indents) - 1) if len(indents) > 1 else []
        fed_all = all(self._feed(stack, symbol) for symbol in closing)
        return fed_all and self._feed(stack, self.table.symbols[END]) and self._ended(stack)

    def _ended(self, stack: list[int]) -> bool:
        return stack[-1] == self.table.accept

    def terminal(self, state: int, text: str, at: int) -> tuple[str | None, int] | None:
        """Return the terminal read in a state, None for ignored, and its end; None if none is.

        That there is one at most is what the leaves are made for.
        """
        found = {
            (leaf.name, end)
            for leaf in self.table.leaves[state]
            for end in self._ends(leaf, text, at)
        }
        assert len(found) <= 1, f"{found} are all read at {text[at:]!r}"
        return found.pop() if found else None

    def _ends(self, leaf: Leaf, text: str, at: int) -> list[int]:
        ends = range(at + 1, len(text) + 1)
        bodies = [end for end in ends if self.arena.matches(leaf.body, text[at:end])]
        last = max((e for e in ends if self.arena.matches(leaf.longer, text[at:e])), default=0)
        return [end for end in bodies if end >= last]

    def _symbols(self, name: str, text: str, indents: list[int], depth: int) -> list[int] | None:
        """Return what is fed for a terminal: itself, and after a new line indents or dedents."""
        symbol = self.table.symbols[name]
        if self.table.indentation is None or symbol != self.table.indentation[0]:
            return [symbol]
        if depth > 0:
            return []
        newline, indent, dedent, _, _, tab = self.table.indentation
        blanks = text.rsplit("\n", 1)[1]
        width = blanks.count(" ") + blanks.count("\t") * tab
        if width > indents[-1]:
            indents.append(width)
            return [newline, indent]
        fed = [newline]
        while width < indents[-1]:
            indents.pop()
            fed.append(dedent)
        return fed if width == indents[-1] else None

    def _depth(self, name: str, depth: int) -> int:
        if self.table.indentation is None:
            return depth
        symbol = self.table.symbols[name]
        _, _, _, opening, closing, _ = self.table.indentation
        return depth + (symbol in opening) - (symbol in closing)

    def _feed(self, stack: list[int], symbol: int) -> bool:
        while True:
            kind, target = self.rows[stack[-1]].get(symbol, (2, 0))
            if kind == 2:
                return False
            if kind == 0:
                stack.append(target)
                return True
            origin, size = self.table.rules[target]
            del stack[len(stack) - size :]
            stack.append(self.rows[stack[-1]][origin][1])
            if symbol == self.table.symbols[END] and stack[-1] == self.table.accept:
                return True
