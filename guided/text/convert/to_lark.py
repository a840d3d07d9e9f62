"""GBNF to Lark: the same texts under Lark's Earley parser, which can try all lexings."""

from __future__ import annotations

from guided.errors import GrammarError, UnsupportedError
from guided.text.convert.spelling import distinct_names, lark_class, lark_name, lark_text
from guided.text.gbnf.checks import check
from guided.text.gbnf.reader import Reading, read
from guided.text.gbnf.syntax import (
    Characters,
    Choice,
    Expression,
    Reference,
    Repeat,
    Sequence,
    Text,
    Token,
    bottom_up,
    parts_of,
)

_HEADER = """\
// Made from GBNF. It has the same texts where all lexings are tried, as GBNF has no lexer:
// lark.Lark(text, lexer="dynamic_complete"), Grammar.from_lark(text, lexer="dynamic_complete").
"""


def to_lark(text: str, *, start: str = "root") -> str:
    """Write a GBNF grammar as one of Lark; its start is the rule `start`.

    Raises:
        GrammarError: the grammar is at fault.
        UnsupportedError: it names tokens of a vocabulary, which Lark does not know.
    """
    reading = read(text)
    if errors := check(reading, start):
        raise errors[0]
    names = distinct_names(reading.rules, start, "start", lark_name)
    rules = [
        f"{names[name]}: {_body(rule.body, names, reading).strip()}".rstrip()
        for name, rule in sorted(reading.rules.items(), key=lambda item: item[0] != start)
    ]
    return "\n".join([_HEADER, *rules, ""])


def _body(body: Expression, names: dict[str, str], reading: Reading) -> str:
    written: dict[int, str] = {}
    for part in bottom_up(body):
        parts = [(each, written[id(each)]) for each in parts_of(part)]
        written[id(part)] = _one(part, parts, names, reading)
    return written[id(body)]


def _one(
    part: Expression,
    parts: list[tuple[Expression, str]],
    names: dict[str, str],
    reading: Reading,
) -> str:
    match part:
        case Text(text=text):
            return lark_text(text) if text else ""
        case Characters(ranges=ranges):
            return lark_class(ranges)
        case Reference(name=name):
            return names[name]
        case Token():
            raise _token(part, reading)
        case Sequence():
            grouped = (f"({text})" if isinstance(each, Choice) else text for each, text in parts)
            return " ".join(text for text in grouped if text)
        case Choice():
            return " | ".join(text for _, text in parts)
        case Repeat(minimum=minimum, maximum=maximum):
            return _repeated(parts[0][1], minimum, maximum)


def _repeated(item: str, minimum: int, maximum: int | None) -> str:
    if not item or maximum == 0:
        return ""
    item = f"({item})"
    match minimum, maximum:
        case 0, None:
            return f"{item}*"
        case 1, None:
            return f"{item}+"
        case 0, 1:
            return f"{item}?"
        case _, None:
            return f"{item}~{minimum} {item}*"
    return f"{item}~{minimum}" if minimum == maximum else f"{item}~{minimum}..{maximum}"


def _token(token: Token, reading: Reading) -> UnsupportedError:
    end = reading.text.find(">", token.at) + 1
    shown = reading.text[token.at : end]
    fact = f"{shown} is a token of a vocabulary, which Lark does not know"
    place = GrammarError(fact, text=reading.text, index=token.at, length=len(shown)).place
    return UnsupportedError(
        fact, keyword=shown, place=place, page="docs/grammars.md", mend="keep the grammar in GBNF"
    )
