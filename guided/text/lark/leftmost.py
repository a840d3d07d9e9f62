"""Terminals of Lark as `re` matches them: leftmost-first, so that order and laziness matter.

Lark's lexer takes what `re.match` takes. That is not the longest text that the pattern matches but
the first that backtracking comes to: `a|ab` never takes `ab`, and `".*?"` ends at the next quote.

    leftmost_order       patterns for which it plainly makes no difference
    leftmost_threads     what `re` has still to match, in the order in which it tries it
    leftmost_automaton   a state for each such order: the subset construction, with lists for sets
    leftmost_minimal     fewer states
    leftmost_bytes       characters to bytes
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from guided._core import Arena
from guided.errors import GrammarError
from guided.text.lark.leftmost_automaton import Automaton, AutomatonBuilder
from guided.text.lark.leftmost_bytes import ByteWriter, Table
from guided.text.lark.leftmost_minimal import minimal
from guided.text.lark.leftmost_order import is_longest
from guided.text.regex import compile_regex, groups
from guided.text.regex.classes import Flags
from guided.text.regex.parsing import parse
from guided.text.regex.reader import _Frame, _Reader
from guided.text.regex.source import Source
from guided.text.regex.syntax import Expression, sequence
from guided.text.regex.verbose import blot_ignored

_FLAG_NAMES = {
    "i": "ignore_case",
    "m": "multiline",
    "s": "dot_all",
    "u": "unicode",
    "x": "verbose",
}


@dataclass(frozen=True, slots=True)
class Leftmost:
    """The texts that `re` matches for a pattern, as nodes.

    On a text that begins at the pattern `re` matches up to the last place where `node` matches and
    no longer text is of `node` or of `not_before`.

    Attributes:
        node: the texts w with `re.match(pattern, w).end() == len(w)`, which is regular.
        not_before: texts that begin with one of `node` and show that it is no match, as a
            look-ahead beyond its end fails; None if there are none.
        is_exact: False if `not_before` also forbids what `re` would match: `0+(?![1-9])` takes `0`
            out of `001`, but having passed over it for `00` it cannot be returned to.
        looks_before: what the pattern matches depends on what is before the start of the text; the
            nodes hold for nothing being there.
    """

    node: int
    not_before: int | None = None
    is_exact: bool = True
    looks_before: bool = False


@dataclass(frozen=True, slots=True)
class _Compiled:
    """What is known of a pattern in any arena; `body` is None where its order does not matter."""

    body: Table | None
    fatal: Table | None
    is_exact: bool
    looks_before: bool


def leftmost_first(arena: Arena, pattern: str, flags: str = "") -> Leftmost:
    """Write what Python's `re` matches for a pattern, as it matches it, into `arena`.

    Args:
        arena: where the nodes go.
        pattern: a pattern of `re` with the meaning of `str` patterns, which is Unicode's.
        flags: letters out of "imsux".

    Raises:
        GrammarError: the pattern is at fault; with place and mend.
        UnsupportedError: it is valid but not regular, has an atomic group, or requires text beyond
            the end of the match.
        LimitError: the automaton is too large, or the pattern is nested too deeply.

    Cost: a few milliseconds for a pattern not seen before.
    """
    letters = "".join(sorted({*flags, "u"}))
    compiled = _compile(pattern, letters)
    if compiled.body is None:
        return Leftmost(compile_regex(arena, pattern, flags=letters))
    return Leftmost(
        arena.dfa(compiled.body),
        None if compiled.fatal is None else arena.dfa(compiled.fatal),
        compiled.is_exact,
        compiled.looks_before,
    )


@lru_cache(maxsize=1024)
def _compile(pattern: str, letters: str) -> _Compiled:
    source = Source(pattern, "python")
    expression = _read(source, letters)
    if is_longest(expression):
        return _Compiled(None, None, True, False)
    builder = AutomatonBuilder(expression, source)
    automaton = builder.build()
    if not automaton.is_ordered and not expression.peeks:
        # No thread was ever dropped for one before it, so the order changes nothing.
        return _Compiled(None, None, True, False)
    writer = ByteWriter(builder.threads.classes)
    fatal = _table(writer, automaton, automaton.fatal) if any(automaton.fatal) else None
    return _Compiled(
        _table(writer, automaton, automaton.body),
        fatal,
        automaton.is_exact,
        builder.threads.looks_before,
    )


def _table(writer: ByteWriter, automaton: Automaton, accepting: Sequence[bool]) -> Table:
    return writer.table(*minimal(accepting, automaton.rows))


def _read(source: Source, letters: str) -> Expression:
    unknown = next((letter for letter in letters if letter not in _FLAG_NAMES), None)
    if unknown is not None:
        raise GrammarError(
            f'there is no flag "{unknown}" for a terminal', mend="the flags are i, m, s, u, x"
        )
    flags = Flags("python", **{_FLAG_NAMES[letter]: True for letter in letters})
    groups.check_nesting(source)
    text = blot_ignored(source.pattern, flags.verbose)
    return _OrderedReader(source, text, flags).read(parse(source, text, "python"))


class _OrderedReader(_Reader):
    """Leaves conditions on neighbours where they are: narrowing what is next to them may change
    the order in which that is matched."""

    def _close(self, frame: _Frame) -> Expression:
        return sequence(frame.parts) if frame.kind == "sequence" else super()._close(frame)
