"""What to say where a grammar cannot be parsed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from guided.errors import GrammarError

if TYPE_CHECKING:
    from lark import Token

_LARK_RULE = re.compile(
    r"^[?!]?[A-Za-z_][A-Za-z0-9_]*(?:\.-?\d+)?(?:\{[^}]*\})?[ \t]*:(?![:=])"
    r"|^%(?:import|ignore|declare|override|extend)\b",
    re.MULTILINE,
)
_QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*")|\[(?:[^\]\\]|\\.)*\]|#[^\r\n]*""", re.DOTALL)
_ELSEWHERE = {
    "'": "write strings in double quotes",
    "/": "write a class such as [a-z] and counts; GBNF has no regular expressions",
    ",": "parts of a sequence stand side by side, without a comma",
    ";": "a rule ends at the end of its line, without a semicolon",
    "=": 'a rule is written: name ::= "text"',
    ":": 'a rule is written: name ::= "text"',
    "{": 'write a count as {2}, {2,} or {2,5}, and "{" in double quotes for the character itself',
    "~": "write a count in braces, {2,5}",
    "]": 'write "]" in double quotes for the character itself',
    "}": 'write "}" in double quotes for the character itself',
}


def foreign(text: str) -> GrammarError | None:
    """Return the error for a text that is JSON or a Lark grammar; None if it may be GBNF."""
    start = len(text) - len(text.lstrip())
    if text[start : start + 1] == "{":
        return GrammarError(
            "this looks like a JSON schema, not like a GBNF grammar",
            text=text,
            index=start,
            mend="use Grammar.from_json_schema, or the option schema=",
        )
    if (found := _LARK_RULE.search(text)) and "::=" not in text:
        return GrammarError(
            "this looks like a Lark grammar, not like a GBNF grammar",
            text=text,
            index=found.start(),
            length=found.end() - found.start(),
            mend="use Grammar.from_lark",
        )
    return None


def explain(text: str, error: Any) -> GrammarError:
    """Make the sentence and the mend for the place where lark stopped."""
    from lark.exceptions import UnexpectedCharacters

    index = error.pos_in_stream if isinstance(error, UnexpectedCharacters) else None
    place = error.token.start_pos if index is None else index
    if (quote := _string_over_lines(text, len(text) if place is None else place)) is not None:
        return _unterminated_string(text, quote)
    if index is not None:
        return _unknown_character(text, index)
    token: Token = error.token
    stack = error.interactive_parser.parser_state.value_stack
    opened = [value for value in stack if getattr(value, "type", None) == "OPEN"]
    if opened and token.type in ("$END", "DEFINES"):
        return GrammarError(
            'unbalanced parenthesis: "(" without ")"',
            text=text,
            index=opened[-1].start_pos,
            mend='close it by ")"',
        )
    if _is_head(stack):
        return _no_definition(text, stack[-1])
    return _misplaced(text, token, [getattr(value, "type", "") for value in stack])


def _is_head(stack: list[Any]) -> bool:
    """Return True if the last thing read is the name at the start of a rule."""
    names = [getattr(value, "type", "") for value in stack[-2:]]
    return names in (["NAME"], ["LINE", "NAME"])


def _no_definition(text: str, name: Token) -> GrammarError:
    return GrammarError(
        f'after the name of the rule "{name}" stands no "::="',
        text=text,
        index=name.start_pos,
        length=len(name),
        mend=f'write {name} ::= "text"; a rule that goes on in a new line does so by "|",'
        " or within brackets",
    )


def _string_over_lines(text: str, end: int) -> int | None:
    """Return where a string starts that holds a line break: if something is wrong after it, then
    most likely that its second quote is missing.
    """
    for found in _QUOTED.finditer(text, 0, end):
        if found[1] and "\n" in found[1]:
            return found.start()
    return None


def _unterminated_string(text: str, index: int) -> GrammarError:
    return GrammarError(
        "unterminated string: a double quote without a second one",
        text=text,
        index=index,
        mend='close it by ", or write "\\"" for the character itself and "\\n" for a line break',
    )


def _unknown_character(text: str, index: int) -> GrammarError:
    """Explain a character that begins nothing."""
    character = text[index]
    if character == '"':
        return _unterminated_string(text, index)
    if character == "[":
        return GrammarError(
            'unterminated character class: "[" without "]"',
            text=text,
            index=index,
            mend='close it by "]", or write "[" in double quotes for the character itself',
        )
    if character in "<!":
        return GrammarError(
            f"unexpected {character!r}",
            text=text,
            index=index,
            mend="write a token as <text> or <[number]>, any other token as !<text>",
        )
    mend = _ELSEWHERE.get(character, "write the characters of the text in double quotes")
    return GrammarError(f"unexpected {character!r}", text=text, index=index, mend=mend)


def _misplaced(text: str, token: Token, stack: list[str]) -> GrammarError:
    """Explain something that may stand in a grammar, but not here."""
    index = token.start_pos or 0
    length = len(token)
    if token.type == "CLOSE":
        return GrammarError(
            'unbalanced parenthesis: ")" without "("', text=text, index=index, mend="remove it"
        )
    if token.type == "QUANTIFIER":
        return GrammarError(
            f"nothing to repeat: {token} stands where it has nothing before it",
            text=text,
            index=index,
            length=length,
            mend=f'write "{token}" in double quotes for the characters themselves',
        )
    if token.type == "DEFINES":
        mend = "begin each rule in a line of its own, by its name"
        if stack[-2:] == ["DEFINES", "NAME"]:
            mend = 'a rule that matches the empty text is written: name ::= ""'
        return GrammarError(
            'a second "::=" in one rule', text=text, index=index, length=length, mend=mend
        )
    return GrammarError(
        f"unexpected {str(token)!r} where a rule begins",
        text=text,
        index=index,
        length=length,
        mend='begin a rule by its name and "::="; go on with one by "|", or within brackets',
    )
