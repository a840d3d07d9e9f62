"""Where lark stops to parse a grammar, as errors of ours: with a place and with a mend."""

from __future__ import annotations

import re
from typing import Any

from guided.errors import GrammarError
from guided.text.lark.source import Source

# What lark's examples of mistakes tell apart, in our words: what lark calls it, the fact, the mend.
_SYNTAX = {
    "Incorrect type of value": (
        "a value is a name, a string or a pattern",
        'put quotes around it, as in "1"',
    ),
    "Unclosed parenthesis": ("a bracket is not closed", 'close it: ")" for "(", "]" for "["'),
    "Unmatched closing parenthesis": (
        "a bracket is closed that was not opened",
        "remove it, or open one before",
    ),
    "Expecting rule or terminal definition (missing colon)": (
        "a definition needs a colon after its name",
        "write `name: ...`; a rule has a lower-case name, a terminal an upper-case one",
    ),
    "Illegal name for rules or terminals": (
        "a name is neither one of a rule nor one of a terminal",
        "write a rule in lower case, a terminal in upper case",
    ),
    "Alias expects lowercase name": (
        "an alias, after `->`, is a lower-case name",
        "write `-> name`",
    ),
    "Unexpected colon": (
        "a colon stands where none may",
        'begin each definition on a line of its own, or quote the colon, ":"',
    ),
    "Misplaced operator": (
        "an operator has nothing before it to apply to",
        "put it right after one item; two operators need a group, as in (a?)*",
    ),
    'Expecting option ("|") or a new rule or terminal definition': (
        "a line begins with what is no definition",
        "begin it with | to go on with the rule before",
    ),
    "Terminal names cannot contain dots": (
        "after the dot of a definition stands a number, its priority",
        "write `NAME.2: ...`",
    ),
    "Expecting rule or terminal definition": (
        "a line begins with what is no definition",
        "write `name: ...`, or begin the line with | to go on with the rule before",
    ),
    "%import expects a name": ("%import takes a name", "write `%import common.NUMBER`"),
    "%ignore expects a value": (
        "%ignore takes a terminal, a string or a pattern",
        'write `%ignore " "`',
    ),
}


def explain_syntax(source: Source, error: Any) -> GrammarError:
    """Make the error for the place at which lark stopped to read a grammar."""
    from lark.exceptions import UnexpectedCharacters

    index = source.place_of(error.pos_in_stream or 0)
    if (known := _explain_line(source, index)) is not None:
        return known
    if isinstance(error, UnexpectedCharacters):
        return _unexpected_character(source, index)
    if (unbalanced := _explain_brackets(source, index)) is not None:
        return unbalanced
    if error.token.type == "$END" or index >= len(source.text):
        return source.error(
            "the grammar ends in the middle of a definition",
            max(0, len(source.text.rstrip()) - 1),
            mend="write `name: ...` with what the name stands for",
        )
    found = str(error.token)
    fact, mend = _SYNTAX.get(_category(error) or "", (None, None))
    if fact == _SYNTAX["Incorrect type of value"][0] and error.token.type != "NUMBER":
        fact = None
    shown = "the end of the line" if not found.strip() else f'"{found.strip()}"'
    if fact is None:
        fact, mend = f"{shown} is not expected here", _expected(error)
    return source.error(fact, index, length=len(found.strip()) or 1, mend=mend)


_MIXED = re.compile(r"[A-Za-z0-9_]*[a-z][A-Z][A-Za-z0-9_]*|[A-Za-z0-9_]*[A-Z][a-z][A-Za-z0-9_]*")


def _explain_line(source: Source, index: int) -> GrammarError | None:
    """Explain what the line tells at a glance: another language, or a name that is none."""
    text = source.text
    start = text.rfind("\n", 0, index) + 1
    line = text[start:].split("\n", 1)[0]
    if "::=" in line:
        return source.error(
            "this looks like GBNF, not like a Lark grammar",
            start + line.index("::="),
            length=3,
            mend="use Grammar.from_gbnf, or write `name: ...` for a definition",
        )
    for word in re.finditer(r"\w+", line):
        if not start + word.start() <= index <= start + word.end():
            continue
        if _MIXED.fullmatch(word[0]):
            fact, mend = _SYNTAX["Illegal name for rules or terminals"]
            fact = f'the name "{word[0]}" mixes upper and lower case'
            return source.error(fact, start + word.start(), length=len(word[0]), mend=mend)
        if word[0].startswith("__") and word[0].isidentifier():
            return source.error(
                f'the name "{word[0]}" is reserved: it begins with __',
                start + word.start(),
                length=len(word[0]),
                mend="take another",
            )
    if text[index : index + 1] == "%" and line[: index - start].strip():
        return source.error(
            "a statement that begins with % stands within another",
            index,
            mend="begin a line with it; it has to be one that lark knows, such as %import",
        )
    return None


_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_SKIPPED = re.compile(
    r'//[^\n]*|\#[^\n]*|"(?:\\.|[^"\\\n])*"|/(?:\\.|[^/\\\n])+/|[][(){}]|\n(?=\s*[\w?!%]+[^\n]*:)'
)


def _explain_brackets(source: Source, index: int) -> GrammarError | None:
    """Explain a bracket that is not closed, or not opened, before the place where lark stopped."""
    opened: list[tuple[str, int]] = []
    for token in _SKIPPED.finditer(source.text, 0, index + 1):
        mark = token[0][0]
        if mark == "\n":
            opened = []
        elif mark in _BRACKETS:
            opened.append((mark, token.start()))
        elif mark in ")]}":
            if not opened or _BRACKETS[opened[-1][0]] != mark:
                fact, mend = _SYNTAX["Unmatched closing parenthesis"]
                return source.error(fact, token.start(), mend=mend)
            opened.pop()
    ends = not source.text[index : index + 1].strip()
    if opened and ends:
        mark, place = opened[-1]
        return source.error(
            "a bracket is not closed", place, mend=f'close it by "{_BRACKETS[mark]}"'
        )
    return None


def _category(error: Any) -> str | None:
    from lark.load_grammar import _get_parser, _translate_parser_exception

    parser = _get_parser()  # type: ignore[no-untyped-call]
    try:
        found = _translate_parser_exception(parser.parse, error)  # type: ignore[no-untyped-call]
    except TypeError:  # lark fails to write its log where examples differ in what they accept
        return None
    return None if found is None else str(found)


_WORDS = {
    "RULE": "the name of a rule",
    "TERMINAL": "the name of a terminal",
    "STRING": "a string",
    "REGEXP": "a pattern",
    "NUMBER": "a number",
    "_COLON": "a colon",
    "_NL": "the end of the line",
    "_RPAR": '")"',
    "_RBRA": '"]"',
    "_RBRACE": '"}"',
}


def _expected(error: Any) -> str:
    names = sorted({_WORDS[name] for name in error.accepts or error.expected if name in _WORDS})
    return f"write {' or '.join(names)}" if names else "look at what stands before"


def _unexpected_character(source: Source, index: int) -> GrammarError:
    text = source.text
    character = text[index] if index < len(text) else ""
    if character == '"':
        mend = "close the string on the same line; within it write \\n for a new line"
    elif character == "'":
        mend = 'strings stand in double quotes, "..."'
    elif character == "/":
        mend = "close the pattern on the same line, /.../; a slash in it is written \\/"
    elif character == "\\":
        mend = "a backslash stands in strings and patterns only"
    elif character in "<>=;":
        mend = "write `name: ...` for a definition, and quote what is text"
    else:
        mend = "put what is text in double quotes"
    return source.error(f"unexpected character {character!r}", index, mend=mend)
