"""The outline of a regular expression: one rule, whose parts have no places of their own."""

from __future__ import annotations

from typing import Literal

from guided.text.checks.outline import (
    Characters,
    Choice,
    Opaque,
    Outline,
    Part,
    Repeat,
    Rule,
    Sequence,
    Text,
)
from guided.text.checks.spelled import char_class, quoted
from guided.text.regex import syntax
from guided.text.regex.classes import Flags
from guided.text.regex.codepoints import only_member
from guided.text.regex.reader import read

RULE = "pattern"
_FLAGS = {
    "i": "ignore_case",
    "m": "multiline",
    "s": "dot_all",
    "u": "unicode",
    "x": "verbose",
}


def outline_regex(pattern: str, *, dialect: Literal["python", "ecma"] = "python") -> Outline:
    """Return a pattern as the only rule of an outline.

    Raises:
        GrammarError, UnsupportedError, LimitError: as on compiling it.
    """
    body = _part(read(pattern, dialect, Flags(dialect)))
    return Outline(pattern, RULE, {RULE: Rule(RULE, body, 0)})


def pattern_parts(pattern: str, flags: str) -> Part:
    """Return the parts of a pattern in the syntax of `re`, with letters for flags."""
    chosen = {_FLAGS[letter]: True for letter in flags if letter in _FLAGS}
    return _part(read(pattern, "python", Flags("python", **chosen)))


def _part(part: syntax.Expression) -> Part:
    match part:
        case syntax.Chars(ranges=ranges):
            code_point = only_member(ranges)
            if code_point is None:
                return Characters(tuple(ranges), char_class(ranges))
            return Text(chr(code_point), quoted(chr(code_point)))
        case syntax.Literal(text=text):
            return Text(text, quoted(text))
        case syntax.Sequence(items=items):
            return Sequence(tuple(map(_part, items)))
        case syntax.Choice(alternatives=alternatives):
            return Choice(tuple(map(_part, alternatives)))
        case syntax.Repeat(item=item, minimum=minimum, maximum=maximum):
            return Repeat(_part(item), minimum, maximum)
        case syntax.Atomic(item=item):
            return _part(item)
        case syntax.Neighbour(ahead=ahead) | syntax.Look(ahead=ahead):
            return Opaque("look-ahead" if ahead else "look-behind", is_nullable=True)
    raise AssertionError(f"a part of a pattern without a case: {part!r}")
