"""`name[capture]: ...`: what rules and terminals spelled in a text of the grammar.

A text is read once more when it is finished: by the LALR table of its grammar, which reads it in
one way only, the one of lark's tree. What a rule spelled reaches from the first of its terminals to
the end of the last; what is ignored before and after it is no part of it. `_INDENT` and `_DEDENT`
spell nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from guided import _core
from guided.errors import GuidedError, LimitError
from guided.text.lark.lalr import END
from guided.text.lark.reading import Reading
from guided.text.lark.scanners import Leaf
from guided.text.lark.tables import Table, optional_name

MAX_BYTES = 100_000_000
_EOS = 256


class _Misfit(Exception):
    """The text is not one of the grammar from this byte on."""

    def __init__(self, index: int) -> None:
        self.index = index


@dataclass(slots=True)
class _Part:
    """What is on the stack: a state, and the bytes of what led to it.

    Attributes:
        first: how many captures there were before it.
    """

    state: int
    start: int
    end: int
    first: int


class Captures:
    """Reads texts of one grammar for what its rules spelled.

    Args:
        arena: where the leaves of the table are.
        table: the parser of the grammar.
        names: by rule or terminal, the name to keep its texts under.
    """

    def __init__(self, arena: _core.Arena, table: Table, names: Mapping[str, str]) -> None:
        self._table = table
        self._names = list(dict.fromkeys(names.values()))
        self._captured = dict(_captured(table, names))
        self._rows = [
            {symbol: (bool(ends), target) for symbol, ends, target in row} for row in table.actions
        ]
        self._arena = arena

    @cached_property
    def _lexer(self) -> _Lexer:
        return _Lexer(self._arena, self._table)

    def find(self, text: str) -> dict[str, list[str]]:
        """Return the texts by name, each list in the order of their beginnings in the text.

        Raises:
            GuidedError: the text is not one of the grammar.
            LimitError: rules within rules spell more than 100 million bytes.

        Cost: some 10 microseconds for each byte of the text.
        """
        data = text.encode(errors="surrogatepass")  # which no text of a grammar has
        try:
            spans = self._parse(data)
        except _Misfit as misfit:
            before = data[: misfit.index].decode(errors="ignore")
            line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
            raise GuidedError(
                "the text does not fit the grammar, so its rules spell nothing",
                place=f"line {line}, column {column}",
                mend="give a whole text of the grammar",
            ) from None
        if sum(end - start for _, start, end in spans) > MAX_BYTES:
            raise LimitError(
                "what the rules spelled is too much, as they stand within each other",
                limit="bytes",
                value=MAX_BYTES,
            )
        found: dict[str, list[str]] = {name: [] for name in self._names}
        for name, start, end in spans:
            found[name].append(data[start:end].decode())
        return found

    def _parse(self, data: bytes) -> list[tuple[str, int, int]]:
        """Return the name, start and end of what was captured, outer before inner."""
        stack = [_Part(self._table.start, 0, 0, 0)]
        spans: list[tuple[str, int, int]] = []
        layout = _Layout(self._table)
        at = 0
        while at < len(data):
            read = self._lexer.read(stack[-1].state, data, at)
            if read is None:
                raise _Misfit(at)
            symbol, end = read
            if symbol is not None:
                fed = layout.feed(symbol, data[at:end])
                if fed is None:
                    raise _Misfit(at)
                for each in fed:
                    self._feed(stack, spans, each, at, end if each == symbol else at)
            at = end
        for symbol in (*layout.close(), self._table.symbols[END]):
            self._feed(stack, spans, symbol, at, at)
        return spans

    def _feed(
        self,
        stack: list[_Part],
        spans: list[tuple[str, int, int]],
        symbol: int,
        start: int,
        end: int,
    ) -> None:
        """Reduce as the table says before a terminal, and shift it."""
        while (action := self._rows[stack[-1].state].get(symbol)) is not None:
            ends, target = action
            if not ends:
                stack.append(_Part(target, start, end, len(spans)))
                self._keep(spans, symbol, stack[-1])
                return
            origin, size = self._table.rules[target]
            parts = stack[len(stack) - size :]
            del stack[len(stack) - size :]
            spelled = [part for part in parts if part.start < part.end]
            place = stack[-1].end
            reduced = _Part(
                self._rows[stack[-1].state][origin][1],
                spelled[0].start if spelled else place,
                spelled[-1].end if spelled else place,
                parts[0].first if parts else len(spans),
            )
            stack.append(reduced)
            self._keep(spans, origin, reduced)
            if symbol == self._table.symbols[END] and reduced.state == self._table.accept:
                return
        raise _Misfit(start)

    def _keep(self, spans: list[tuple[str, int, int]], symbol: int, part: _Part) -> None:
        if (name := self._captured.get(symbol)) is not None:
            spans.insert(part.first, (name, part.start, part.end))


def check_captures(reading: Reading) -> None:
    """Refuse to capture terminals that never stand by themselves in a text.

    Raises:
        GrammarError: a terminal is ignored, or only a part of others.
    """
    used = {symbol.name for rule in reading.rules for symbol in rule.expansion}
    for name in reading.extensions.attributes.captures:
        if not name.isupper():
            continue
        if name in reading.ignored:
            fact, mend = "is ignored", "leave the attribute out"
        elif name not in used:
            fact = "stands in no rule that the start leads to"
            mend = "capture a rule or terminal that it is used in, or leave the attribute out"
        else:
            continue
        raise reading.source.error_at(
            f'terminal "{name}" {fact}, so it has no text to capture', name, defined=True, mend=mend
        )


def _captured(table: Table, names: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Give the symbols to capture, with the names to keep them under."""
    for written, number in table.symbols.items():
        # The rules that lark makes of a template are called by it and its arguments.
        kept = names.get(written.split("{")[0], "")
        if kept and optional_name(written) not in table.symbols:
            yield number, kept
    for terminal, kept in names.items():
        if (name := optional_name(terminal)) in table.symbols:
            yield table.symbols[name], kept


class _Layout:
    """Feeds what lark's PythonIndenter feeds for a terminal; without indentation, the terminal."""

    def __init__(self, table: Table) -> None:
        self.rule = table.indentation
        self.columns = [0]
        self.depth = 0

    def feed(self, symbol: int, spelled: bytes) -> list[int] | None:
        """Return what the parser gets for a terminal, None if the text is badly indented."""
        if self.rule is None:
            return [symbol]
        newline, indent, dedent, opening, closing, tab = self.rule
        self.depth += (symbol in opening) - (symbol in closing)
        if self.depth < 0:
            return None
        if symbol != newline:
            return [symbol]
        if self.depth:
            return []
        blanks = spelled.rsplit(b"\n", 1)[1]
        column = blanks.count(b" ") + blanks.count(b"\t") * tab
        if column > self.columns[-1]:
            self.columns.append(column)
            return [newline, indent]
        fed = [newline]
        while column < self.columns[-1]:
            self.columns.pop()
            fed.append(dedent)
        return fed if column == self.columns[-1] else None

    def close(self) -> list[int]:
        """Return what the parser gets at the end of the text, before the end itself."""
        return [] if self.rule is None else [self.rule[2]] * (len(self.columns) - 1)


class _Lexer:
    """Reads the terminals of a table.

    One automaton holds all nodes that leaves are made of. For each there is a token that begins
    nothing but it, after which its texts are walked byte by byte.
    """

    def __init__(self, arena: _core.Arena, table: Table) -> None:
        leaves = {id(leaf): leaf for row in table.leaves for leaf in row}.values()
        nodes = list(dict.fromkeys(node for leaf in leaves for node in (leaf.body, leaf.longer)))
        own = arena.clone()
        choices = [
            own.sequence([own.token([_EOS + 1 + number]), node])
            for number, node in enumerate(nodes)
        ]
        tokens = [bytes([value]) for value in range(256)] + [None] * (1 + len(nodes))
        vocabulary = _core.Vocabulary(tokens, [_EOS])
        self._automaton = _core.Automaton(own, own.choice(choices), vocabulary)
        self._numbers = {node: _EOS + 1 + number for number, node in enumerate(nodes)}
        self._begun: dict[int, tuple[_core.Matcher, bytes]] = {}
        self._table = table

    def read(self, state: int, data: bytes, at: int) -> tuple[int | None, int] | None:
        """Return the terminal that is read in a state, and its end; None if there is none.

        The symbol is None for what is ignored.
        """
        for leaf in self._table.leaves[state]:
            if data[at] in self._begin(leaf.body)[1] and (end := self._end(leaf, data, at)):
                return None if leaf.name is None else self._table.symbols[leaf.name], end
        return None

    def _end(self, leaf: Leaf, data: bytes, at: int) -> int | None:
        """Return where a leaf ends: at most one place, as it must not go on to a longer text."""
        end = max(self._ends(leaf.body, data, at), default=0)
        if not end or end < max(self._ends(leaf.longer, data, at), default=0):
            return None
        return end

    def _ends(self, node: int, data: bytes, at: int) -> Iterable[int]:
        """Give the places where a text of a node ends that begins at `at`."""
        matcher = _core.Matcher(self._begin(node)[0])
        while at < len(data) and matcher.can_accept(data[at]):
            matcher.accept(data[at])
            at += 1
            if matcher.is_complete:
                yield at

    def _begin(self, node: int) -> tuple[_core.Matcher, bytes]:
        """Return a matcher at the beginning of a node, and the bytes that it may begin with."""
        if node not in self._begun:
            matcher = _core.Matcher(self._automaton)
            if matcher.can_accept(self._numbers[node]):  # else no text is left of it
                matcher.accept(self._numbers[node])
            self._begun[node] = matcher, matcher.allowed_bytes()
        return self._begun[node]
