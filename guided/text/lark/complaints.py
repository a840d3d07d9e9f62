"""What lark says of a grammar that it could parse, as errors of ours: with place and mend."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable

from guided.errors import GrammarError
from guided.text.lark.source import Source

COMPARE = "compare it with https://lark-parser.readthedocs.io/en/stable/grammar.html"

Explain = Callable[[Source, re.Match[str], list[str]], GrammarError]


def explain(source: Source, message: str, names: Iterable[str]) -> GrammarError:
    """Make the error for what lark says of a grammar that it could parse.

    Args:
        source: the grammar.
        message: what lark says.
        names: the rules and terminals that are defined.
    """
    known = sorted(names)
    for pattern, make in _MEANING:
        if match := re.match(pattern, message, re.DOTALL):
            return make(source, match, known)
    return source.error(f"lark refuses the grammar: {message.strip()}", mend=COMPARE)


def did_you_mean(name: str, names: Iterable[str], otherwise: str) -> str:
    """Return the mend for a name that is not defined."""
    upper = name.isupper()
    same = [known for known in names if known.isupper() == upper]
    close = difflib.get_close_matches(name, same, 1, 0.6)
    return f'did you mean "{close[0]}"?' if close else otherwise


def kind_of(name: str) -> str:
    """Return what a name is the name of."""
    return "terminal" if name.isupper() else "rule"


def _undefined(source: Source, match: re.Match[str], names: list[str]) -> GrammarError:
    name = match["name"]
    kind = kind_of(name)
    mend = did_you_mean(name, names, f"define it, `{name}: ...`")
    if any(each.imports and each.text == name for each in source.names()):
        fact = f'the grammar that {kind} "{name}" is imported from has none of that name'
        return source.error_at(fact, name, mend="look it up there, or define it here")
    if kind == "terminal" and f" {name} " in _COMMON:
        mend = f"import it, `%import common.{name}`"
    return source.error_at(f'{kind} "{name}" is not defined', name, mend=mend)


_COMMON = (  # the terminals of lark's common.lark
    " CNAME CPP_COMMENT CR C_COMMENT DECIMAL DIGIT ESCAPED_STRING FLOAT HEXDIGIT INT LCASE_LETTER"
    " LETTER LF NEWLINE NUMBER SH_COMMENT SIGNED_FLOAT SIGNED_INT SIGNED_NUMBER SQL_COMMENT"
    " UCASE_LETTER WORD WS WS_INLINE "
)


def _at(fact: str, mend: str, *, defined: bool = False) -> Explain:
    """Return what explains a message that names one thing, `name`, in its pattern."""

    def make(source: Source, match: re.Match[str], names: list[str]) -> GrammarError:
        groups = {key: value or "" for key, value in match.groupdict().items()}
        return source.error_at(
            fact.format(**groups), groups["name"], defined=defined, mend=mend.format(**groups)
        )

    return make


def _twice(source: Source, match: re.Match[str], names: list[str]) -> GrammarError:
    name = match["name"]
    places = [each.index for each in source.names() if each.text == name and each.defines]
    fact = f'{kind_of(name)} "{name}" is defined more than once'
    mend = "write both as alternatives of one definition, or use %extend or %override"
    return source.error(fact, places[-1] if places else None, length=len(name), mend=mend)


def _same_expansion(source: Source, match: re.Match[str], names: list[str]) -> GrammarError:
    name = match["name"]
    return source.error_at(
        f'rule "{name}" has the same alternative twice: {match["expansion"] or "nothing"}',
        name,
        defined=True,
        mend="remove one; optional parts, [] and ?, may come to the same when left out",
    )


def _literal(fact: str, mend: str) -> Explain:
    def make(source: Source, match: re.Match[str], names: list[str]) -> GrammarError:
        literal = match.groupdict().get("name")
        if literal is None:
            return source.error(fact, mend=mend)
        return source.error_at(fact, literal, mend=mend)

    return make


# What lark says once it could parse the grammar, by the beginning of its message.
_MEANING: list[tuple[str, Explain]] = [
    (r"(?:Rule|Terminal) '(?P<name>[^']+)' used but not defined", _undefined),
    (r"Terminal used but not defined: (?P<name>\S+)", _undefined),
    (r"Using an undefined rule: NonTerminal\('(?P<name>[^']+)'\)", _undefined),
    (r"Template '(?P<name>[^']+)' used but not defined", _undefined),
    (r"Terminals \{'(?P<name>[^']+)'.*were marked to ignore but were not defined", _undefined),
    (r"(?:Rule|Terminal) '(?P<name>[^']+)' defined more than once", _twice),
    (
        r"Cannot override a nonexisting (?P<kind>\w+) (?P<name>\S+)",
        _at('there is no {kind} "{name}" to override', "leave out %override", defined=True),
    ),
    (
        r"Names starting with double-underscore are reserved \(Error at (?P<name>[^)]+)\)",
        _at('the name "{name}" is reserved: it begins with __', "take another", defined=True),
    ),
    (
        r"Can't extend (?P<kind>\w+) (?P<name>\S+)",
        _at(
            'there is no {kind} "{name}" to extend',
            "import it first, or leave out %extend",
            defined=True,
        ),
    ),
    (
        r"Cannot extend (?P<kind>\w+) with different parameters: (?P<name>\S+)",
        _at('"{name}" is extended with other parameters', "give it the same", defined=True),
    ),
    (
        r"Wrong number of template arguments used for (?P<name>\S+)"
        r" \(expected (?P<wanted>\d+), got (?P<found>\d+)\)",
        _at(
            'template "{name}" takes {wanted} arguments, found {found}',
            "write it as {name}{{...}} with {wanted} arguments",
        ),
    ),
    (
        r"Template Parameter conflicts with rule (?P<name>\S+) \(in template (?P<in>[^)]+)\)",
        _at('a parameter of template "{in}" is called as rule "{name}" is', "rename one"),
    ),
    (
        r"Duplicate Template Parameter (?P<name>\S+) \(in template (?P<in>[^)]+)\)",
        _at('template "{in}" has two parameters "{name}"', "rename one", defined=True),
    ),
    (
        r"Rules aren't allowed inside terminals \((?:NonTerminal\('(?P<name>[^']+)'\)|\S+)"
        r" in (?P<in>[^)]+)\)",
        _at(
            'terminal "{in}" uses rule "{name}": a terminal is made of terminals only',
            'write "{in}" in lower case, as a rule, or "{name}" in upper case, as a terminal',
        ),
    ),
    (
        r"Recursion in terminal '(?P<name>[^']+)'",
        _at(
            'terminal "{name}" is part of itself',
            "write it as a rule, in lower case: only rules may be recursive",
            defined=True,
        ),
    ),
    (
        r"Terminals cannot be empty \(__IGNORE",
        lambda source, match, names: source.error(
            "%ignore has nothing to ignore",
            source.text.find("%ignore"),
            length=7,
            mend='write `%ignore " "`, or leave it out',
        ),
    ),
    (
        r"Terminals cannot be empty \((?P<name>[^)]+)\)",
        _at('terminal "{name}" is empty', "give it a text, or leave it out", defined=True),
    ),
    (
        r"Rule (?P<name>\S+) is marked for expansion .* \(alias=(?P<alias>[^)]+)\)",
        _at(
            'rule "{name}" cannot have the alias "{alias}": a name that begins with _ has no node',
            "leave out the alias, or the underscore",
            defined=True,
        ),
    ),
    (
        r"Rules defined twice: \s*\*? ?<(?P<name>\S+) : (?P<expansion>[^>\n]*)>",
        _same_expansion,
    ),
    (
        r"Empty terminals are not allowed \((?P<name>.+)\)$",
        _literal("an empty string is no terminal", "make the item optional, as in (...)?"),
    ),
    (
        r"Conflicting flags for the same terminal: (?P<pattern>.+)",
        _literal(
            "the same text is written with different flags",
            "give it the same flags everywhere",
        ),
    ),
    (
        r"Aliasing not allowed in terminals",
        _literal("an alias, after `->`, stands in a terminal", "leave it out; rules have aliases"),
    ),
    (
        r"Inlined rules \(_rule\) cannot use the \?rule modifier",
        _literal("a rule has both ? and a name that begins with _", "leave out one of them"),
    ),
    (
        r"Bad Range for .* \((?P<low>-?\d+)\.\.(?P<high>-?\d+) isn't allowed\)",
        lambda source, match, names: source.error(
            f"a repetition from {match['low']} to {match['high']} is none",
            source.text.find("~"),
            mend="write the smaller number first, and none below 0",
        ),
    ),
    (
        r"Cannot import '(?P<name>[^']+)' from '(?P<file>[^']+)': Symbol already defined",
        _at('"{name}" is imported from "{file}" and defined already', "import it as another name"),
    ),
    (
        r"Nothing was imported from grammar `(?P<name>[^`]+)`",
        _at('%import names the grammar "{name}" and nothing in it', "write `%import {name}.NAME`"),
    ),
    (
        r"You cannot put newlines in string literals",
        _literal("a string goes over the end of a line", "write \\n for a new line"),
    ),
    (
        r"You can only use newlines in regular expressions",
        lambda source, match, names: source.error(
            "a pattern goes over the end of a line",
            next((each.index for each in source.names() if "\n" in each.text), None),
            mend="write \\n for a new line, or give it the flag x",
        ),
    ),
]
