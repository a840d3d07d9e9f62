"""The outline of a GBNF grammar, from the reader of GBNF."""

from __future__ import annotations

import re

from guided.text.checks.outline import (
    Characters,
    Choice,
    Opaque,
    Outline,
    Part,
    Reference,
    Repeat,
    Rule,
    Sequence,
    Text,
)
from guided.text.gbnf import syntax
from guided.text.gbnf.reader import read

# An atom as it is written, to tell how long it is.
_ATOM = re.compile(
    r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|!?<[^>\r\n]*>|[A-Za-z0-9_-]+|\.', re.DOTALL
)


def outline_gbnf(text: str, *, start: str = "root") -> Outline:
    """Return the rules of a GBNF grammar; those that cannot be read are external.

    Raises:
        LimitError: groups are nested too deeply, or a count is too large.
    """
    reading = read(text)
    rules = {
        name: Rule(name, _part(rule.body, reading.text), rule.at)
        for name, rule in reading.rules.items()
    }
    return Outline(reading.text, start, rules, external=frozenset(reading.lost))


def _part(part: syntax.Expression, text: str) -> Part:
    index = part.at
    match part:
        case syntax.Sequence(parts=parts):
            return Sequence(tuple(_part(each, text) for each in parts), index=index)
        case syntax.Choice(alternatives=parts):
            return Choice(tuple(_part(each, text) for each in parts), index=index)
        case syntax.Repeat(item=item, minimum=minimum, maximum=maximum):
            inner = _part(item, text)
            return Repeat(inner, minimum, maximum, index=index, length=inner.length)
    found = _ATOM.match(text, index)
    written = found[0] if found else ""
    length = len(written)
    match part:
        case syntax.Text():
            return Text(part.text, written, index=index, length=length)
        case syntax.Characters():
            return Characters(part.ranges, written, index=index, length=length)
        case syntax.Reference():
            return Reference(part.name, index=index, length=length)
    return Opaque(written, index=index, length=length)
