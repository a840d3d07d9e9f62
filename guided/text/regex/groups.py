"""The kinds of groups, their names and numbers, and the flags that they switch."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from guided.errors import LimitError
from guided.text.regex.classes import Flags
from guided.text.regex.source import Source
from guided.text.regex.syntax import Expression, atomic, look

if TYPE_CHECKING:
    from guided.text.regex.tables import Token

_CAPTURE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(\((?!\?)|\(\?P?<(?![=!]))", re.DOTALL)
_FLAG_NAMES = {
    "i": "ignore_case",
    "m": "multiline",
    "s": "dot_all",
    "u": "unicode",
    "x": "verbose",
}


_BRACKET = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|([()])", re.DOTALL)
MAX_NESTING = 1_000


def check_nesting(source: Source) -> None:
    """Refuse a pattern whose groups are nested too deeply, before any work is spent on it.

    Raises:
        LimitError: more than `MAX_NESTING` groups are open at one place.
    """
    if source.pattern.count("(") <= MAX_NESTING:
        return
    depth = 0
    for bracket in _BRACKET.finditer(source.pattern):
        if bracket[1]:
            depth = depth + 1 if bracket[1] == "(" else max(0, depth - 1)
            if depth > MAX_NESTING:
                raise LimitError(
                    "the groups of the pattern are nested too deeply",
                    limit="groups within groups",
                    value=MAX_NESTING,
                )


class Groups:
    """The groups of one pattern, in the order in which they open."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.names: set[str] = set()
        self._total: int | None = None

    @property
    def total(self) -> int:
        """The number of groups that capture, also of those that open later."""
        if self._total is None:
            self._total = sum(map(bool, _CAPTURE.findall(self.source.pattern)))
        return self._total

    def has(self, number: int) -> bool:
        """Return True if there is a group of this number."""
        return number <= self.total

    def open(self, token: Token, flags: Flags) -> Flags:
        """Take note of a group that opens; return the flags within.

        Raises:
            GrammarError: a bad name or an unknown flag.
            UnsupportedError: a recursion or a condition.
        """
        index = token.start_pos or 0
        inner = token[2:]
        if inner.startswith(("P<", "<")) and inner not in ("<=", "<!"):
            self._add_name(inner.removeprefix("P")[1:-1], index, len(token))
        elif inner.startswith(("(", "P>", "&", "R")):
            kind = "a condition on a group" if inner.startswith("(") else "a recursion"
            raise self.source.unsupported(
                f"{kind}, {token}, is not supported", index, length=len(token), keyword=str(token)
            )
        elif inner.endswith(":") and inner != ":":
            on, _, off = inner[:-1].partition("-")
            return self._switch(flags, on, off, token, index)
        return flags

    def _switch(self, flags: Flags, on: str, off: str, token: Token, index: int) -> Flags:
        if flags.dialect == "ecma":
            raise self.source.unsupported(
                f"flags within a pattern, {token}, are not part of ECMA-262 as JSON Schema uses it",
                index,
                length=len(token),
                keyword=str(token),
                mend="write out both cases, [aA], or use the Python dialect",
            )
        return switch_flags(self.source, flags, on, off, index)

    def _add_name(self, name: str, index: int, length: int) -> None:
        plain = name.replace("$", "_") if self.source.dialect == "ecma" else name
        if not plain.isidentifier():
            raise self.source.error(
                f'bad group name "{name}"',
                index,
                length=length,
                mend="use letters, digits and _, and no digit first",
            )
        if name in self.names:
            raise self.source.error(
                f'two groups have the name "{name}"', index, length=length, mend="rename one"
            )
        self.names.add(name)

    def close(self, token: Token, body: Expression) -> Expression:
        """Return what a group with this body matches."""
        index = token.start_pos or 0
        match str(token):
            case "(?=" | "(?!":
                return look(body, ahead=True, negative=token[2] == "!", index=index)
            case "(?<=" | "(?<!":
                return look(body, ahead=False, negative=token[3] == "!", index=index)
            case "(?>":
                return atomic(body, index)
            case _:
                return body


def switch_flags(source: Source, flags: Flags, on: str, off: str, index: int) -> Flags:
    """Return `flags` with the letters of `on` set and those of `off` taken away.

    Raises:
        GrammarError: the dialect has no such flag, or it cannot be switched so.
    """
    changes: dict[str, Any] = {}
    for letter in on:
        if letter not in "aimsux":
            raise _unknown_flag(source, letter, index)
        changes["unicode" if letter == "a" else _FLAG_NAMES[letter]] = letter != "a"
    if "a" in on and "u" in on:
        raise source.error(
            'flags "a" and "u" exclude each other', index, mend="keep one of the two"
        )
    for letter in off:
        if letter not in "imsx":
            raise _unknown_flag(source, letter, index)
        if letter in on:
            raise source.error(
                f'flag "{letter}" is switched on and off', index, mend="keep one of the two"
            )
        changes[_FLAG_NAMES[letter]] = False
    return replace(flags, **changes)


def _unknown_flag(source: Source, letter: str, index: int) -> Exception:
    return source.error(
        f'flag "{letter}" cannot be switched here', index, mend="the flags are a, i, m, s, u, x"
    )
