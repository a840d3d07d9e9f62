"""Whether a Lark grammar has the same texts without a lexer, where all lexings count.

It has if a lexer never has a choice: no text is one of two terminals; where a terminal may end,
what may follow does not go on with it or with another; and no terminal that is tried first ends
within one that is tried later. That is asked of all terminals, wherever they may stand, so some
grammars are refused that could be converted; none is converted that could not.
"""

from __future__ import annotations

from collections.abc import Iterable

from guided._core import Arena
from guided.errors import UnsupportedError
from guided.text.lark.reading import Reading
from guided.text.lark.terminals import Terminal
from guided.text.spelling import LAST_CODE_POINT


class Lexing:
    """The terminals of one grammar, in the order in which a lexer of Lark tries them."""

    def __init__(self, arena: Arena, reading: Reading, terminals: list[Terminal]) -> None:
        self.arena = arena
        self.reading = reading
        self.terminals = terminals
        self.ignored = [each for each in terminals if each.name in reading.ignored]
        self.read = [each for each in terminals if each.name not in reading.ignored]

    def check_alone(self, written: dict[str, int]) -> None:
        """Refuse what is not the same even if all lexings are tried.

        Args:
            written: all texts of the patterns, which may be more than `re` takes.

        Raises:
            UnsupportedError: a terminal has texts that are never taken; or what is ignored, which
                always is as long as can be, could end before.
        """
        for terminal in self.terminals:
            if not self._is_void(self.arena.minus(written[terminal.name], terminal.node)):
                raise self._refuse(
                    terminal, "has texts that `re` never takes, as it takes others before"
                )
        heads = _beginning(self.arena, self.read)
        for terminal in self.ignored:
            for other in self.ignored:
                self._check_end(terminal, other, heads)

    def check_together(self, *, by_table: bool) -> None:
        """Refuse a grammar in which it matters what a lexer does, or what a LALR parser prefers.

        Args:
            by_table: a LALR parser is meant, whose table may prefer one reading to another.

        Raises:
            UnsupportedError: it matters.
        """
        following = _following(self.reading, by_table=by_table)
        for terminal in self.terminals:
            follows = following.get(terminal.name, set())
            heads = _beginning(
                self.arena,
                [
                    each
                    for each in self.terminals
                    if each in self.ignored or terminal in self.ignored or each.name in follows
                ],
            )
            for other in self.terminals:
                if terminal in self.read or other in self.read:
                    self._check_choice(terminal, other)
                    self._check_end(terminal, other, heads)

    def _check_choice(self, terminal: Terminal, other: Terminal) -> None:
        if terminal is other:
            return
        common = self.arena.both(terminal.node, other.node)
        if not self._is_void(common):
            text = (self.arena.shortest(common) or b"").decode()
            raise self._refuse(terminal, f'and "{other.name}" both match {text!r}')
        something = [self.arena.char_class([(0, LAST_CODE_POINT)]), self.arena.any_text()]
        longer = self.arena.sequence([terminal.node, *something])
        if terminal.rank < other.rank and not self._is_void(self.arena.both(longer, other.node)):
            raise self._refuse(terminal, f'is tried first where "{other.name}" begins')

    def _check_end(self, terminal: Terminal, other: Terminal, heads: int) -> None:
        met = self.arena.both(self.arena.sequence([terminal.node, heads]), other.node)
        if not self._is_void(met):
            text = (self.arena.shortest(met) or b"").decode()
            raise self._refuse(terminal, f'could end within {text!r}, where "{other.name}" goes on')

    def _is_void(self, node: int) -> bool:
        return self.arena.is_void(node)

    def _refuse(self, terminal: Terminal, what: str) -> UnsupportedError:
        return self.reading.source.unsupported(
            f'terminal "{terminal.name}" {what}: a lexer decides what is read, and GBNF has none',
            "lexing",
            at=terminal.name,
            defined=True,
            mend='if all lexings may count, convert it with lexer="dynamic_complete"',
        )


def _beginning(arena: Arena, terminals: Iterable[Terminal]) -> int:
    """Return the texts that begin as one of these terminals does, as far as one byte tells."""
    first = 0
    for terminal in terminals:
        first |= terminal.first
    bytes_ = [(byte, byte, 1) for byte in range(256) if first >> byte & 1]
    return arena.dfa([(False, bytes_), (True, [(0, 255, 1)])])


def _following(reading: Reading, *, by_table: bool) -> dict[str, set[str]]:
    """Return the terminals that may follow each, by lark's own analysis.

    Raises:
        UnsupportedError: a LALR parser has to prefer one reading.
    """
    from lark.common import ParserConf
    from lark.exceptions import GrammarError as Conflict
    from lark.parsers.lalr_analysis import LALR_Analyzer

    rules = reading.rules
    analyzer = LALR_Analyzer(ParserConf(rules, {}, [reading.start]), strict=True)
    prefers = any(rule.options.priority for rule in rules)
    try:
        if by_table:
            analyzer.compute_lalr()  # type: ignore[no-untyped-call]
    except Conflict:
        prefers = True
    if by_table and prefers:
        raise reading.source.unsupported(
            "the rules have conflicts that a LALR parser decides, and GBNF has none that would",
            "LALR conflicts",
            at=reading.start,
            defined=True,
            mend='if all readings may count, convert it with lexer="dynamic_complete"',
        )
    return {
        symbol.name: {each.name for each in following}
        for symbol, following in analyzer.FOLLOW.items()
        if symbol.is_term
    }
