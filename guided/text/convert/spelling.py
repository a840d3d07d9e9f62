"""Names, strings and character classes, as each notation writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from guided.text.regex.codepoints import ANY, Ranges, only_member

_CONTROLS = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def distinct_names(
    names: Iterable[str], start: str, root: str, shape: Callable[[str], str]
) -> dict[str, str]:
    """Give each name one of another notation: `root` to `start`, and no two the same."""
    given = {start: root}
    taken = {root}
    for name in names:
        if name in given:
            continue
        shaped = candidate = shape(name)
        number = 2
        while candidate in taken:
            candidate = shape(f"{shaped}-{number}")
            number += 1
        taken.add(candidate)
        given[name] = candidate
    return given


def lark_name(name: str) -> str:
    """Return a name for a rule of Lark: small letters, digits and underscores, a letter first."""
    shaped = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return shaped if shaped[:1].isalpha() else f"rule_{shaped}"


def gbnf_name(name: str) -> str:
    """Return a name for a rule of GBNF: letters, digits and dashes, which all readers know."""
    shaped = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return shaped if shaped[:1].isalpha() else f"rule-{shaped}"


def gbnf_text(text: str) -> str:
    """Write a string of GBNF."""
    return '"' + "".join(_escape(each, '\\"', _number) for each in text) + '"'


def gbnf_class(ranges: Ranges) -> str:
    """Write a character class of GBNF."""
    if ranges == ANY:
        return "."
    if (single := only_member(ranges)) is not None:
        return gbnf_text(chr(single))
    return f"[{_members(ranges, lambda each: _escape(each, _IN_GBNF_CLASS, _number))}]"


def lark_text(text: str) -> str:
    """Write a string of Lark."""
    return '"' + "".join(_escape(each, '\\"', _number) for each in text) + '"'


def lark_class(ranges: Ranges) -> str:
    """Write a character class of Lark, a pattern."""
    return f"/[{_members(ranges, lambda each: _escape(each, _IN_PATTERN_CLASS, _number))}]/"


_IN_GBNF_CLASS = "\\[]-"
_IN_PATTERN_CLASS = "\\[]-^/&~|"


def _members(ranges: Ranges, write: Callable[[str], str]) -> str:
    members = []
    for low, high in ranges:
        first, last = write(chr(low)), write(chr(high))
        members.append(first if low == high else f"{first}-{last}")
    # In front it would make the complement of the class.
    joined = "".join(members)
    return f"\\x5E{joined[1:]}" if joined.startswith("^") else joined


def _escape(character: str, special: str, number: Callable[[int], str]) -> str:
    if character in _CONTROLS:
        return _CONTROLS[character]
    if character in special:
        return f"\\{character}"
    return character if character.isprintable() else number(ord(character))


def _number(code_point: int) -> str:
    if code_point < 0x100:
        return f"\\x{code_point:02X}"
    return f"\\u{code_point:04X}" if code_point < 0x10000 else f"\\U{code_point:08X}"
