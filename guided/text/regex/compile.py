"""A pattern to one node: the public door of the regex front end."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from guided._core import Arena
from guided.errors import GrammarError
from guided.text.regex.classes import Dialect, Flags
from guided.text.regex.lookaround import Rests, Weaver
from guided.text.regex.reader import read
from guided.text.regex.source import Source
from guided.text.regex.windows import ANYTHING_BEFORE
from guided.text.regex.writer import EMPTY_NODE, Writer, shorten
from guided.text.spelling import PLAIN, Spelling

_PYTHON_FLAGS = {
    "a": "",
    "i": "ignore_case",
    "m": "multiline",
    "s": "dot_all",
    "u": "unicode",
    "x": "verbose",
}
# Reading takes most of the time, and one pattern is often compiled into several arenas.
_read = lru_cache(maxsize=512)(read)

_ECMA_FLAGS = {"i": "ignore_case", "m": "multiline", "s": "dot_all", "u": "", "v": "sets"}


def compile_regex(
    arena: Arena,
    pattern: str,
    *,
    dialect: Literal["python", "ecma"] = "python",
    search: bool = False,
    flags: str = "",
    spelling: Spelling = PLAIN,
) -> int:
    """Write a pattern into `arena` and return its node, which is regular.

    Args:
        arena: where the nodes go.
        pattern: the pattern, without delimiters.
        dialect: "python" reads the syntax of `re` with the meaning of `re.ASCII` (flag `u`, or
            `(?u)`, gives the Unicode meaning), and also `(?<name>...)` and `\\p{...}`. "ecma" reads
            ECMA-262 with the flag `u`; what is an error there has the meaning of Annex B.
        search: the pattern may match anywhere in the text, as `pattern` in JSON Schema does;
            otherwise it matches the whole text.
        flags: letters that hold for the whole pattern: a, i, m, s, u, x in Python; i, m, s, u, v in
            ECMA (u changes nothing).
        spelling: how a character is spelled in the text.

    Raises:
        GrammarError: the pattern is at fault; with place and mend.
        UnsupportedError: the pattern is valid but not regular, or looks around in a way that cannot
            be enforced exactly.
        LimitError: the pattern is nested too deeply, or counts too far.
        ValueError: there is no such dialect.

    Source for look-around: intersection and complement of regular languages, as in Miyazaki and
    Minamide, "Derivatives of regular expressions with lookahead", JIP 2019.
    """
    if dialect not in ("python", "ecma"):
        raise ValueError(f'dialect must be "python" or "ecma", not {dialect!r}')
    expression = _read(pattern, dialect, _flags(flags, dialect))
    writer = Writer(arena, spelling)
    if search:
        expression = shorten(shorten(expression, front=True), front=False)
    if not expression.peeks:
        node = writer.write(expression)
        if not search:
            return node
        return arena.sequence([writer.any_text, node, writer.any_text]) if node else writer.any_text
    weaver = Weaver(writer, Source(pattern, dialect))
    after = writer.any_text if search else EMPTY_NODE
    rests = weaver.put(expression, {ANYTHING_BEFORE: after})
    return _begin(writer, rests, search)


def _begin(writer: Writer, rests: Rests, search: bool) -> int:
    """Return the texts that start with nothing, or when searching with any text, before a rest."""
    nodes = []
    for window, rest in rests.items():
        if not search:
            if not window.sets:
                nodes.append(rest)
            continue
        before = [] if window.edge else [writer.any_text]
        before += [writer.characters(each) for each in window.sets]
        if rest == writer.any_text and before == [rest]:
            before = []
        nodes.append(writer.arena.sequence([*before, rest]))
    return writer.arena.choice(nodes)


def _flags(letters: str, dialect: Dialect) -> Flags:
    known = _ECMA_FLAGS if dialect == "ecma" else _PYTHON_FLAGS
    chosen = {}
    for letter in letters:
        if letter not in known:
            raise GrammarError(
                f'there is no flag "{letter}" in the dialect "{dialect}"',
                mend=f"the flags are {', '.join(sorted(known))}",
            )
        if known[letter]:
            chosen[known[letter]] = True
    return Flags(dialect, **chosen)
