"""Lark to GBNF: what is ignored is written out before each terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from guided._core import Arena
from guided.text.convert.lexing import Lexing
from guided.text.convert.spelling import distinct_names, gbnf_class, gbnf_name, gbnf_text
from guided.text.lark.reading import Reading, read_grammar
from guided.text.lark.terminals import compile_terminals
from guided.text.regex.classes import Flags
from guided.text.regex.reader import read as read_pattern
from guided.text.regex.syntax import Chars, Choice, Expression, Repeat, Sequence
from guided.text.regex.syntax import Literal as Characters
from guided.text.regex.writer import Writer
from guided.text.spelling import PLAIN

if TYPE_CHECKING:
    from lark.lexer import TerminalDef

LexerName = Literal["basic", "contextual", "dynamic", "dynamic_complete"]


def to_gbnf(text: str, *, start: str = "start", lexer: LexerName = "contextual") -> str:
    """Write a Lark grammar in GBNF; its start is the rule `root`.

    GBNF has no lexer: all lexings count. That is the meaning of "dynamic_complete"; for the other
    lexers a grammar is converted if it has the same texts without one.

    Raises:
        GrammarError: the grammar is at fault.
        UnsupportedError: a terminal looks around, is declared and not defined, or it matters that
            a lexer takes the longest match or prefers one terminal to another.
    """
    reading = read_grammar(text, start=start)
    _check_extensions(reading)
    arena = Arena()
    terminals = compile_terminals(arena, reading.source, reading.terminals, reading.extensions)
    patterns = {each.name: _pattern(reading, each) for each in reading.terminals}
    _check_declared(reading)
    writer = Writer(arena, PLAIN)
    written = {name: writer.write(pattern) for name, pattern in patterns.items()}
    lexing = Lexing(arena, reading, terminals)
    lexing.check_alone(written)
    if lexer != "dynamic_complete":
        lexing.check_together(by_table=lexer != "dynamic")
    return _write(reading, patterns)


def _pattern(reading: Reading, terminal: TerminalDef) -> Expression:
    """Return the syntax tree of a terminal."""
    flags = Flags("python", unicode=True)
    expression = read_pattern(terminal.pattern.to_regexp(), "python", flags)
    if expression.peeks:
        raise reading.source.unsupported(
            f'terminal "{terminal.name}" looks around, which GBNF cannot say',
            "look-around",
            at=terminal.name,
            defined=True,
            mend="write the terminal without it, or keep the grammar in Lark",
        )
    return expression


def _check_extensions(reading: Reading) -> None:
    """Refuse what guided adds to Lark, other than parts in any order, which are rules by now."""
    found = reading.extensions
    attributes = {name: "is lazy" for name in found.attributes.lazy}
    attributes |= {name: "has a stop" for name in found.attributes.stops}
    attributes |= {name: "is captured" for name in found.attributes.captures}
    facts = {name: f"{what} stands in the grammar" for name, what in found.embedded.items()}
    facts |= {name: f'"{name}" {what}' for name, what in attributes.items()}
    for name, fact in facts.items():
        raise reading.source.unsupported(
            f"{fact}, which is not carried over to GBNF",
            "extensions",
            at=name,
            defined=True,
            mend="keep the grammar in Lark, or leave it out",
        )


def _check_declared(reading: Reading) -> None:
    for name in sorted(reading.declared):
        raise reading.source.unsupported(
            f'terminal "{name}" is declared and not defined: what it matches, a post-lexer knows',
            "%declare",
            at=name,
            mend="keep the grammar in Lark",
        )


def _write(reading: Reading, patterns: dict[str, Expression]) -> str:
    rules: dict[str, list[str]] = {}
    for rule in reading.rules:
        rules.setdefault(rule.origin.name, [])
    names = distinct_names([*rules, *patterns, "ignored"], reading.start, "root", gbnf_name)
    gap = f"{names['ignored']} " if reading.ignored else ""
    for rule in reading.rules:
        symbols = [
            f"{gap}{names[symbol.name]}" if symbol.is_term else names[symbol.name]
            for symbol in rule.expansion
        ]
        rules[rule.origin.name].append(" ".join(symbols) or '""')
    lines = ["# Made from a Lark grammar."]
    for name, alternatives in sorted(rules.items(), key=lambda item: item[0] != reading.start):
        body = _alternatives(names[name], list(dict.fromkeys(alternatives)))
        if name == reading.start and gap:
            body = f"({body}) {gap}".rstrip()
        lines.append(f"{names[name]} ::= {body}")
    if gap:
        ignored = " | ".join(names[name] for name in reading.ignored)
        lines.append(f"{names['ignored']} ::= ({ignored})*")
    lines += [f"{names[name]} ::= {_expression(each)}" for name, each in patterns.items()]
    return "\n".join([*lines, ""])


def _alternatives(name: str, alternatives: list[str]) -> str:
    """Join the alternatives of a rule; one that begins with the rule itself is a repetition.

    Lark writes its repetitions so, and llama.cpp refuses left recursion.
    """
    steps = [each.removeprefix(f"{name} ") for each in alternatives if each.startswith(f"{name} ")]
    others = [each for each in alternatives if each.split(" ", 1)[0] != name]
    if not steps or not others:
        return " | ".join(alternatives)
    return f"({' | '.join(others)}) ({' | '.join(steps)})*"


def _expression(expression: Expression) -> str:
    """Write a pattern; patterns are as deep as lark could read them, which is not deep."""
    match expression:
        case Chars(ranges=ranges):
            return gbnf_class(ranges)
        case Characters(text=text):
            return gbnf_text(text)
        case Sequence(items=parts):
            return " ".join(_grouped(part) for part in parts)
        case Choice(alternatives=alternatives):
            return " | ".join(_expression(each) for each in alternatives)
        case Repeat(item=item, minimum=minimum, maximum=maximum):
            counts = {
                (0, None): "*",
                (1, None): "+",
                (0, 1): "?",
                (minimum, minimum): f"{{{minimum}}}",
            }
            wide = f"{{{minimum},{'' if maximum is None else maximum}}}"
            return _single(item) + counts.get((minimum, maximum), wide)
    raise AssertionError(type(expression).__name__)


def _grouped(expression: Expression) -> str:
    written = _expression(expression)
    return f"({written})" if isinstance(expression, Choice) else written


def _single(expression: Expression) -> str:
    written = _expression(expression)
    return written if isinstance(expression, Chars | Characters) else f"({written})"
