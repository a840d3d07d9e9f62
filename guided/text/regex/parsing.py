"""Pattern text to a tree, by the grammar of its dialect, and what to say where that fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from guided.errors import GrammarError
from guided.text.regex.source import Source
from guided.text.regex.tables import END, Stuck, Tree, read_table


@contextmanager
def no_search_for_collisions() -> Iterator[None]:
    """Keep lark from comparing all terminals with each other, for which it has no option.

    It does so where interegular is installed, and takes 300 ms for it, most of them for the grammar
    of its own grammars. Our terminals overlap on purpose; their priorities decide.
    """
    import lark.lexer

    known = lark.lexer.has_interegular
    lark.lexer.has_interegular = False
    try:
        yield
    finally:
        lark.lexer.has_interegular = known


def parse(source: Source, text: str, grammar: str) -> Tree:
    """Parse `text`, which is the pattern with what verbose mode ignores blotted out.

    Raises:
        GrammarError: it is not a pattern of this dialect.
    """
    try:
        return read_table(grammar).parse(text)
    except Stuck as stuck:
        raise _explain(source, stuck) from None


def _explain(source: Source, stuck: Stuck) -> GrammarError:
    """Make the sentence and the mend for the place where the parser stopped."""
    token, index = stuck.token, stuck.index
    kind = "" if token is None else token.type
    if kind == END:
        return _explain_end(source, stuck)
    length = 1 if token is None else len(token)
    if kind == "QUANTIFIER" or source.pattern[index] in "*+?{":
        follows = stuck.before is not None and stuck.before.type == "QUANTIFIER"
        return _explain_quantifier(source, index, length, follows)
    return _explain_place(source, kind, index)


def _explain_quantifier(source: Source, index: int, length: int, follows: bool) -> GrammarError:
    if follows:
        return source.error(
            "multiple repeat: a quantifier follows a quantifier",
            index,
            length=length,
            mend="put what is to be repeated in a group, (?:...)",
        )
    return source.error(
        "nothing to repeat: a quantifier stands where it has nothing before it",
        index,
        length=length,
        mend=f"write \\{source.pattern[index]} for the character itself",
    )


def _explain_place(source: Source, kind: str, index: int) -> GrammarError:
    pattern = source.pattern
    rest = pattern[index:]
    if rest[0] == ")":
        return source.error(
            'unbalanced parenthesis: ")" without "("',
            index,
            mend='remove it, or write "\\)" for the character itself',
        )
    opened = pattern.rfind("[", 0, index)
    if rest[0] == "[" or (kind in ("", "MEMBER") and opened >= 0 and rest[0] in "(){}/|-&"):
        if rest[0] != "[":
            return source.error(
                f"unexpected {rest[0]!r} in a character class",
                index,
                mend="escape it by a backslash",
            )
        return _unterminated_class(source, index)
    if rest == "\\":
        return source.error(
            "the pattern ends with a backslash", index, mend='write "\\\\" for the character itself'
        )
    if rest.startswith("(?"):
        return source.error(
            f"unknown kind of group {rest[:3]!r}",
            index,
            length=min(3, len(rest)),
            mend="write (?:...) for a plain group, or \\(\\? for the characters themselves",
        )
    return source.error(f"unexpected {rest[0]!r}", index, mend="escape it by a backslash")


def _unterminated_class(source: Source, index: int) -> GrammarError:
    return source.error(
        'unterminated character class: "[" without "]"',
        index,
        mend='close it by "]", or write "\\[" for the character itself',
    )


def _explain_end(source: Source, stuck: Stuck) -> GrammarError:
    """Name the innermost bracket that is open where the pattern ends."""
    opened = [
        value
        for value in stuck.values
        if getattr(value, "type", None) in ("GROUP_OPEN", "CLASS_OPEN")
    ]
    if not opened:
        return source.error(
            "the pattern ends too early", len(source.pattern), mend="complete the pattern"
        )
    if opened[-1].type == "CLASS_OPEN":
        return _unterminated_class(source, opened[-1].start_pos)
    return source.error(
        'unbalanced parenthesis: "(" without ")"',
        opened[-1].start_pos,
        length=len(opened[-1]),
        mend='close it by ")", or write "\\(" for the character itself',
    )
