"""Grammar text to rules: escapes, classes and counts are resolved on the way.

Errors are collected, so that a grammar can be mended in one go: a rule that cannot be read is
blotted out and the rest is read again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from guided.errors import GrammarError, LimitError
from guided.text.gbnf.characters import Escapes
from guided.text.gbnf.messages import foreign
from guided.text.gbnf.parsing import parse
from guided.text.gbnf.syntax import (
    Characters,
    Choice,
    Expression,
    Reference,
    Repeat,
    Rule,
    Sequence,
    Text,
    Token,
)
from guided.text.regex.codepoints import ANY

if TYPE_CHECKING:
    from lark import Token as Lexeme
    from lark import Tree

MAX_ERRORS = 20
MAX_REPEAT = 100_000
# What was meant to begin a rule.
_HEAD = re.compile(r"^[ \t]*([A-Za-z0-9_-]+)[ \t]*(?:::?=|[=:])", re.MULTILINE)
_COUNTS = re.compile(r"\{[ \t]*([0-9]+)[ \t]*(?:(,)[ \t]*([0-9]*)[ \t]*)?\}")
_TOKEN = re.compile(r"(!?)<(?:\[([0-9]+)\]|((?!\[)[^>]+))>")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass
class Reading:
    """What was read of a grammar.

    Attributes:
        text: the grammar, without a byte-order mark.
        rules: by name, in the order of the text; those that are at fault are left out.
        errors: what is wrong, in the order of the text.
        lost: names of rules that are there but cannot be read.
    """

    text: str
    rules: dict[str, Rule] = field(default_factory=dict)
    errors: list[GrammarError] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)


def read(text: str) -> Reading:
    """Read a grammar; what is wrong with it is in `errors`.

    Raises:
        LimitError: groups are nested too deeply, or a count is too large.
    """
    text = text.removeprefix("\ufeff")
    reading = Reading(text)
    if found := _SURROGATE.search(text):
        shown = _SURROGATE.sub("\ufffd", text)
        fact = f"U+{ord(found[0]):04X} is half of a surrogate pair and no character"
        mend = "write the character itself, or \\U and eight hexadecimal digits"
        reading.errors.append(GrammarError(fact, text=shown, index=found.start(), mend=mend))
        return reading
    if other := foreign(text):
        reading.errors.append(other)
        return reading
    tree = _parse_all(reading)
    if tree is not None:
        _Reader(reading).read(tree)
    reading.errors.sort(key=lambda error: (error.line or 0, error.column or 0))
    return reading


def _parse_all(reading: Reading) -> Tree[Any] | None:
    """Parse the rules that can be; the others are blotted out one after the other."""
    text = reading.text
    while len(reading.errors) < MAX_ERRORS:
        try:
            return parse(text)
        except GrammarError as error:
            reading.errors.append(error)
            begin, end = _extent(text, error)
            reading.lost.update(head[1] for head in _HEAD.finditer(text, begin, end))
            blot = re.sub(r"[^\r\n]", " ", text[begin:end])
            if blot == text[begin:end]:
                return None
            text = text[:begin] + blot + text[end:]
    return None


def _extent(text: str, error: GrammarError) -> tuple[int, int]:
    """Return where what is at fault begins, a rule or only a line, and where the next rule does."""
    lines = text.split("\n")[: (error.line or 1) - 1]
    line = sum(len(each) + 1 for each in lines)
    index = line + (error.column or 1) - 1
    heads = [head.start() for head in _HEAD.finditer(text)]
    begin = max((head for head in heads if head <= index), default=0)
    end = min((head for head in heads if head > index), default=len(text))
    return begin if text[line:index].strip() else max(begin, line), end


class _Frame:
    """A node of lark's tree whose children are being read."""

    __slots__ = ("children", "kind", "next", "parts")

    def __init__(self, tree: Tree[Any]) -> None:
        self.kind = tree.data
        self.children: list[Any] = tree.children
        self.next = 0
        self.parts: list[Expression] = []


class _Reader:
    """Makes rules of one tree."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.escapes = Escapes(reading.text, reading.errors)
        self.atoms: dict[str, Callable[[Lexeme], Expression]] = {
            "TEXT": self._text,
            "CLASS": self._class,
            "DOT": lambda token: Characters(ANY, ".", _at(token)),
            "NAME": lambda token: Reference(str(token), _at(token)),
            "TOKEN": self._token,
        }

    def read(self, tree: Tree[Any]) -> None:
        children: list[Any] = tree.children
        for rule in children:
            if not hasattr(rule, "data"):  # a line break between two rules
                continue
            name, _, body = rule.children
            expression = self._expression(body, _at(name))
            if str(name) in self.reading.rules:
                first = self.reading.rules[str(name)]
                line = self.reading.text.count("\n", 0, first.at) + 1
                self._error(
                    f'rule "{name}" is defined twice, first in line {line}',
                    name,
                    mend='rename one, or join the two by "|"',
                )
            else:
                self.reading.rules[str(name)] = Rule(str(name), expression, _at(name))

    def _expression(self, tree: Tree[Any], at: int) -> Expression:
        """Read the right side of a rule; a loop, since groups may be nested deeply."""
        stack = [_Frame(tree)]
        while True:
            frame = stack[-1]
            if frame.next < len(frame.children):
                child = frame.children[frame.next]
                frame.next += 1
                if hasattr(child, "data"):
                    stack.append(_Frame(child))
                elif child.type in self.atoms:
                    frame.parts.append(self.atoms[child.type](child))
                elif child.type == "QUANTIFIER":
                    frame.parts[-1] = self._repeat(frame.parts[-1], child)
                elif child.type in ("OPEN", "BAR"):
                    at = _at(child)
                continue
            stack.pop()
            expression = _close(frame, at)
            if not stack:
                return expression
            stack[-1].parts.append(expression)

    def _text(self, token: Lexeme) -> Expression:
        at = _at(token)
        characters = self.escapes.characters(token[1:-1], at + 1, in_class=False)
        return Text("".join(chr(each.code_point) for each in characters), at)

    def _class(self, token: Lexeme) -> Expression:
        return Characters(self.escapes.ranges(token[1:-1], _at(token)), token[1:-1], _at(token))

    def _token(self, token: Lexeme) -> Expression:
        found = _TOKEN.fullmatch(token)
        if found is None:
            self._error(
                f"{token} names no token",
                token,
                mend="write a token as <text> or <[number]>, any other token as !<text>",
            )
            return Token(0, "", False, _at(token))
        negated, number, text = found[1] == "!", found[2], found[3] or ""
        if number is not None and int(number[:12]) >= 1 << 31:
            self._error(
                f"there is no token of the number {number}",
                token,
                mend="write one below 2147483648",
            )
            number = "0"
        named = None if number is None else int(number)
        return Token(named, f"<{text}>" if text else "", negated, _at(token))

    def _repeat(self, item: Expression, token: Lexeme) -> Expression:
        minimum, maximum = self._counts(token)
        for count in (minimum, maximum or 0):
            if count > MAX_REPEAT:
                raise LimitError(
                    f"a part of the grammar repeats {count} times",
                    limit="repetitions",
                    value=MAX_REPEAT,
                )
        if maximum is not None and maximum < minimum:
            self._error(
                f"{token} repeats at least {minimum} and at most {maximum} times",
                token,
                mend="swap the two counts",
            )
        return Repeat(item, minimum, maximum, item.at)

    def _counts(self, token: Lexeme) -> tuple[int, int | None]:
        if token in ("*", "+", "?"):
            return int(token == "+"), 1 if token == "?" else None
        found = _COUNTS.fullmatch(token)
        if found is None:
            self._error(
                f"{token} is no count", token, mend="write {2}, {2,} or {2,5}; {0,5} for at most 5"
            )
            return 0, None
        minimum = _number(found[1])
        if not found[2]:
            return minimum, minimum
        return minimum, _number(found[3]) if found[3] else None

    def _error(self, fact: str, token: Lexeme, *, mend: str) -> None:
        self.reading.errors.append(
            GrammarError(
                fact, text=self.reading.text, index=_at(token), length=len(token), mend=mend
            )
        )


def _close(frame: _Frame, at: int) -> Expression:
    """Return what a node of lark's tree stands for, given its parts."""
    parts = frame.parts
    if len(parts) == 1:
        return parts[0]
    if frame.kind == "alternatives":
        return Choice(tuple(parts), parts[0].at)
    return Sequence(tuple(parts), parts[0].at if parts else at)


def _at(token: Lexeme) -> int:
    return token.start_pos or 0


def _number(digits: str) -> int:
    """Return a count; one too long to be read is far above any limit."""
    digits = digits.lstrip("0")
    return 10**18 if len(digits) > 18 else int(digits or "0")
