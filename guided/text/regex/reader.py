"""A pattern to its syntax tree: flags, shorthands and escapes are resolved on the way.

The walk over the tree is a loop with a stack of its own, since 100,000 brackets are easily
written; brackets that hold one thing only vanish.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from guided.text.regex import groups
from guided.text.regex.class_reader import read_class
from guided.text.regex.classes import Dialect, Flags, dot, fold, newlines, shorthand
from guided.text.regex.codepoints import EMPTY as NO_RANGES
from guided.text.regex.codepoints import Ranges, complement, single
from guided.text.regex.escapes import escaped_character, escaped_set
from guided.text.regex.narrowing import settle
from guided.text.regex.parsing import parse
from guided.text.regex.set_reader import read_set
from guided.text.regex.source import Source
from guided.text.regex.syntax import (
    Expression,
    Look,
    Neighbour,
    atomic,
    chars,
    choice,
    literal,
    look,
    neighbour,
    repeat,
    sequence,
)
from guided.text.regex.verbose import BLOT, blot_ignored

if TYPE_CHECKING:
    from guided.text.regex.tables import Token, Tree

_SURROGATE = re.compile("[\ud800-\udfff]")


def read(pattern: str, dialect: Dialect, flags: Flags) -> Expression:
    """Return the syntax tree of a pattern.

    Raises:
        GrammarError: the pattern is no pattern of the dialect.
        UnsupportedError: it holds what no automaton can match, such as a back-reference.
        LimitError: a count is too large.
    """
    source = Source(pattern, dialect)
    if found := _SURROGATE.search(pattern):
        source = Source(_SURROGATE.sub("\ufffd", pattern), dialect)  # so that it can be printed
        raise source.error(
            f"U+{ord(found[0]):04X} is half of a surrogate pair and no character",
            found.start(),
            mend="write the character itself, or \\u{1F600} in the ECMA dialect",
        )
    groups.check_nesting(source)
    text = blot_ignored(pattern, flags.verbose) if dialect == "python" else pattern
    tree = parse(source, text, "ecma_sets" if flags.sets else dialect)
    return _Reader(source, text, flags).read(tree)


class _Frame:
    """A node of the tree whose children are being read."""

    __slots__ = ("at", "children", "kind", "opened", "outer", "parts")

    def __init__(self, tree: Tree, outer: Flags) -> None:
        self.kind = tree.data
        self.children = tree.children
        self.at = 0
        self.parts: list[Expression] = []
        self.opened: Token | None = None
        self.outer = outer


class _Reader:
    """Reads one pattern; holds the flags in force and the groups met so far."""

    def __init__(self, source: Source, text: str, flags: Flags) -> None:
        self.source = source
        self.text = text
        self.flags = flags
        self.groups = groups.Groups(source)

    def read(self, tree: Tree) -> Expression:
        stack = [_Frame(tree, self.flags)]
        while True:
            frame = stack[-1]
            if frame.at == len(frame.children):
                stack.pop()
                expression = self._close(frame)
                if not stack:
                    return expression
                stack[-1].parts.append(expression)
                continue
            child: Any = frame.children[frame.at]
            frame.at += 1
            if hasattr(child, "data"):
                if child.data == "class":
                    frame.parts.append(chars(self._class(child)))
                else:
                    stack.append(_Frame(child, self.flags))
            elif child.type == "GROUP_OPEN":
                frame.opened = child
                self.flags = self.groups.open(child, self.flags)
            elif child.type == "QUANTIFIER":
                frame.parts[-1] = self._quantify(frame, child)
            elif child.type != "GROUP_CLOSE":
                frame.parts.append(self._token(child))

    def _close(self, frame: _Frame) -> Expression:
        if frame.kind == "sequence":
            return settle(sequence(frame.parts))
        if frame.kind == "alternatives":
            return choice(frame.parts)
        if frame.kind == "group" and frame.opened is not None:
            self.flags = frame.outer
            return self.groups.close(frame.opened, frame.parts[0])
        return frame.parts[0]

    def _token(self, token: Token) -> Expression:
        index = token.start_pos or 0
        match token.type:
            case "TEXT" | "CHAR":
                return self._text(str(token))
            case "DOT":
                return chars(dot(self.flags))
            case "ANCHOR":
                return self._line_start() if token == "^" else self._line_end()
            case "ESCAPE":
                return self._escape(str(token), index)
            case "BACK_REFERENCE":
                raise self._back_reference(token, index)
            case _:
                self.flags = self._global_flags(token, index)
                return literal("")

    def _class(self, tree: Tree) -> Ranges:
        if self.flags.sets:
            return read_set(self.source, tree, self.flags)
        tokens: list[Any] = tree.children
        return read_class(self.source, tokens, self.flags)

    def _text(self, text: str) -> Expression:
        if not self.flags.ignore_case:
            return literal(text)
        return sequence(chars(fold(single(ord(each)), self.flags)) for each in text)

    def _line_start(self) -> Expression:
        lines = newlines(self.flags.dialect) if self.flags.multiline else NO_RANGES
        return neighbour(lines, edge=True, ahead=False)

    def _line_end(self) -> Expression:
        if self.flags.multiline:
            return neighbour(newlines(self.flags.dialect), edge=True, ahead=True)
        end = neighbour(NO_RANGES, edge=True, ahead=True)
        if self.flags.dialect == "ecma":
            return end
        # Python's `$` also matches before a newline that ends the text.
        last_newline = sequence([literal("\n"), end])
        return choice([end, look(last_newline, ahead=True, negative=False, index=0)])

    def _escape(self, token: str, index: int) -> Expression:
        letter = token[1]
        if letter in "bB":
            return self._word_boundary(inside=letter == "B")
        if self.flags.dialect == "python" and letter in "AZz":
            # `\z` came with Python 3.14; before, it was an error.
            return neighbour(NO_RANGES, edge=True, ahead=letter != "A")
        if letter in "123456789" and not (self.flags.dialect == "python" and len(token) == 4):
            return self._numbered(token, index)
        if letter == "k" and self.flags.dialect == "ecma" and (len(token) > 2 or self._is_named()):
            raise self._back_reference(token, index)
        ranges = escaped_set(self.source, token, index, self.flags)
        if ranges is not None:
            return chars(ranges)
        code_point = escaped_character(self.source, token, index, in_class=False)
        if code_point is None or 0xD800 <= code_point <= 0xDFFF:
            return chars(NO_RANGES)
        return self._text(chr(code_point))

    def _is_named(self) -> bool:
        return re.search(r"\(\?<[^=!]", self.source.pattern) is not None

    def _word_boundary(self, *, inside: bool) -> Expression:
        word = shorthand("w", self.flags)
        other = complement(word)
        return choice(
            sequence(
                [
                    neighbour(word if before else other, edge=not before, ahead=False),
                    neighbour(word if after else other, edge=not after, ahead=True),
                ]
            )
            for before, after in [(False, not inside), (True, inside)]
        )

    def _numbered(self, token: str, index: int) -> Expression:
        r"""Read `\1`: a back-reference, or in Annex B an octal escape if there is no such group."""
        number = int(token[1:]) if len(token) < 8 else 1 << 30
        if self.groups.has(number):
            raise self._back_reference(token, index)
        if self.flags.dialect == "python":
            raise self.source.error(
                f"invalid group reference {token}",
                index,
                length=len(token),
                mend=f"there are {self.groups.total} groups; a character is \\x and two digits",
            )
        octal = re.match(r"[0-3][0-7]{0,2}|[4-7][0-7]?", token[1:])
        if octal is None:
            return self._text(token[1:])
        return self._text(chr(int(octal[0], 8)) + token[1 + octal.end() :])

    def _back_reference(self, token: str, index: int) -> Exception:
        return self.source.unsupported(
            f"back-reference {token} is not regular: no automaton can match it",
            index,
            length=len(token),
            keyword=str(token),
            mend="write out the texts that the group may hold",
        )

    def _global_flags(self, token: Token, index: int) -> Flags:
        if token == "(?R)":
            raise self.source.unsupported(
                "a recursion, (?R), is not supported", index, length=4, keyword="(?R)"
            )
        before = self.text[:index].replace(BLOT, "")
        if not re.fullmatch(r"(?:\(\?[A-Za-z]+\))*", before):
            raise self.source.error(
                "global flags not at the start of the pattern",
                index,
                length=len(token),
                mend=f"move {token} to the start, or write {token[:-1]}:...)",
            )
        return groups.switch_flags(self.source, self.flags, token[2:-1], "", index)

    def _quantify(self, frame: _Frame, token: Token) -> Expression:
        item = frame.parts[-1]
        first = frame.children[frame.at - 2]
        kind = getattr(first, "type", "")
        index = token.start_pos or 0
        is_boundary = kind == "ESCAPE" and isinstance(item, Neighbour) | (
            str(first) in ("\\b", "\\B")
        )
        looks_behind = isinstance(item, Look | Neighbour) and not item.ahead
        if (
            kind in ("ANCHOR", "FLAGS")
            or is_boundary
            or (self.flags.dialect == "ecma" and looks_behind)
        ):
            raise self.source.error(
                f"nothing to repeat: {first if kind else 'a look-behind'} matches no text",
                index,
                length=len(token),
                mend="remove the quantifier",
            )
        minimum, maximum, suffix = self._counts(str(token), index)
        repeated = repeat(item, minimum, maximum, lazy=suffix == "?")
        return atomic(repeated, index) if suffix == "+" else repeated

    def _counts(self, token: str, index: int) -> tuple[int, int | None, str]:
        suffix = token[-1] if len(token) > 1 and token[-1] in "?+" else ""
        body = token.removesuffix(suffix)
        match body[0]:
            case "*":
                counts: tuple[int, int | None] = (0, None)
            case "+":
                counts = (1, None)
            case "?":
                counts = (0, 1)
            case _:
                counts = _braces(body)
        minimum, maximum = counts
        if maximum is not None and maximum < minimum:
            raise self.source.error(
                f"{body} repeats at least {minimum} and at most {maximum} times",
                index,
                length=len(token),
                mend="swap the two counts",
            )
        return minimum, maximum, suffix


def _braces(body: str) -> tuple[int, int | None]:
    low, comma, high = body[1:-1].partition(",")
    minimum = _number(low)
    if not comma:
        return minimum, minimum
    return minimum, _number(high) if high else None


def _number(digits: str) -> int:
    """Return a count; one too long to be read is far above any limit."""
    digits = digits.lstrip("0")
    return 10**18 if len(digits) > 18 else int(digits or "0")
