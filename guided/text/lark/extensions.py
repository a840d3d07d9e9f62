"""What guided adds to the language of Lark, taken out of a grammar before lark reads it.

    NAME[lazy]: /.../            the shortest matches: those that begin with no other match
    NAME[stop="..."]: /.../      a match, then the first occurrence of the text, which ends it
    name[capture]: ...           what the rule spells is kept by its name, or by capture="..."
    <|name|>  <think>  <[123]>   a token, by its text or number; with ! before it any other
    %json {...}                  a JSON text that fits the schema; wherever a name may stand
    %grammar "file"              what another grammar file matches, or one that is shipped
    %verbatim name words         a span of a text that the caller gives, or of a string
    unordered{a, b, c}           each of these once, in any order

In place of a value lark finds a terminal, declared and not defined; in place of `unordered` a
template of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from guided.text.lark.attributes import ATTRIBUTES, STRING, Attributes, read_attributes, read_string
from guided.text.lark.source import Source
from guided.text.lark.unordered import template_of, templates
from guided.text.lark.verbatim import Unit

_Value = TypeVar("_Value")
PREFIX = "GUIDED_EMBEDDED_"

# Where one of these may begin: at the start of a line, or by its first character.
_CANDIDATE = re.compile(
    r"(?P<line>^[ \t]*)(?=[?!A-Za-z_])|[/#\"<!%]|\bunordered(?=[ \t]*\{)", re.MULTILINE
)
_TOKEN = re.compile(r"!?<(?:\[(?P<number>\d{1,9})\]|[^\s<>\[\]=\"/]+)>")
_SCHEMA = re.compile(r"%json\s*(?=[{\[tf])")
_GRAMMAR = re.compile(rf"%grammar\b(?:\s*(?P<file>{STRING}))?")
_VERBATIM = re.compile(
    rf"%verbatim\b(?:\s*(?:(?P<text>{STRING})|\b(?P<name>[A-Za-z_][A-Za-z0-9_]*))"
    r"\s*\b(?P<unit>words|characters)\b)?"
)
_UNORDERED = re.compile(r"\bunordered(?=[ \t]*\{)")
# What may hold the like of an extension without being one.
_SKIPPED = re.compile(rf"//[^\n]*|\#[^\n]*|{STRING}|/(?!/)(?:\\[/\\]|[^/])*?/")


@dataclass(frozen=True, slots=True)
class NamedToken:
    """A token by its text or number, or any other one."""

    named: str | int
    negated: bool


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Spans of a text: one that the caller gives by a name, or one that is written."""

    text: str
    is_name: bool
    unit: Unit


@dataclass(slots=True)
class Extensions:
    """The extensions of one grammar.

    Attributes:
        text: the grammar without them.
        tokens, schemas, grammars, spans: what stands for the terminals that took their place.
        attributes: those of rules and terminals.
        orders: the numbers of parts of `unordered{...}`.
    """

    text: str = ""
    tokens: dict[str, NamedToken] = field(default_factory=dict)
    schemas: dict[str, str] = field(default_factory=dict)
    grammars: dict[str, str] = field(default_factory=dict)
    spans: dict[str, Verbatim] = field(default_factory=dict)
    attributes: Attributes = field(default_factory=Attributes)
    orders: set[int] = field(default_factory=set)

    @property
    def embedded(self) -> dict[str, str]:
        """The terminals that stand for something else, and what messages call it."""
        kinds = (
            (self.tokens, "a token"),
            (self.schemas, "a JSON Schema"),
            (self.grammars, "a grammar"),
            (self.spans, "a verbatim text"),
        )
        return {name: kind for names, kind in kinds for name in names}


def read_extensions(source: Source, *, allowed: bool) -> Extensions:
    """Take the extensions out of a grammar, and let `source` know how places have moved.

    Args:
        source: the grammar.
        allowed: whether there may be any.

    Raises:
        GrammarError: there may be none, or one is malformed.
        UnsupportedError: an attribute that guided does not know how to enforce.
        LimitError: too much is to come in any order.
    """
    try:
        return _take_out(source, allowed=allowed)
    except _NotAllowed as found:
        raise source.error(
            f"{found.shown} is an extension of guided, which lark does not know",
            found.index,
            length=len(found.shown),
            mend='leave it out, or give dialect="guided"',
        ) from None


def refuse_imported(source: Source) -> None:
    """Refuse the extensions of a file that is imported: lark gives what is in it other names.

    Raises:
        UnsupportedError: names the first of them, with its place in the file.
    """
    try:
        _take_out(source, allowed=False)
    except _NotAllowed as found:
        raise source.unsupported_here(
            f"{found.shown} stands in a grammar that is imported, where extensions are not read",
            found.shown,
            found.index,
            length=len(found.shown),
            mend="write it in the grammar that imports this one, or embed this one by"
            ' %grammar "file" and lexer="dynamic"',
        ) from None


class _NotAllowed(Exception):
    """There is an extension where there may be none."""

    def __init__(self, shown: str, index: int) -> None:
        self.shown = shown
        self.index = index


def _take_out(source: Source, *, allowed: bool) -> Extensions:
    found = Extensions()
    parts: list[str] = []
    moved: list[tuple[int, int]] = [(0, 0)]
    at = length = 0
    for start, end, text in _replacements(source, found, allowed=allowed):
        parts += [source.text[at:start], text]
        length += start - at + len(text)
        moved.append((length, end))
        at = end
    parts.append(source.text[at:])
    names = sorted(found.embedded)
    if names:
        parts.append(f"\n%declare {' '.join(names)}\n")
    parts.append(templates(found.orders))
    found.text = "".join(parts)
    source.moved = moved
    return found


def _replacements(
    source: Source, found: Extensions, *, allowed: bool
) -> Iterator[tuple[int, int, str]]:
    """Return from where to where there is an extension, and what lark is to see instead."""
    text = source.text
    at = 0
    while (candidate := _CANDIDATE.search(text, at)) is not None:
        at = candidate.start() if candidate["line"] is None else candidate.end()
        if skipped := _SKIPPED.match(text, at):
            at = skipped.end()
        elif match := ATTRIBUTES.match(text, at):
            start = match.start("list")
            _check(allowed, start, match["list"])
            read_attributes(source, match, found.attributes)
            yield start, match.end(), ""
            at = match.end()
        elif match := _UNORDERED.match(text, at):
            if _is_own_template(source):
                at = match.end()
                continue
            _check(allowed, at, match[0])
            count = _count_arguments(text, text.index("{", at) + 1)
            name = template_of(count)
            found.orders.add(count)
            yield at, match.end(), name
            at = match.end()
        elif value := _value(source, found, at, allowed=allowed):
            end, name = value
            yield at, end, name
            at = end
        else:
            at = max(candidate.end(), at + 1)


def _value(source: Source, found: Extensions, at: int, *, allowed: bool) -> tuple[int, str] | None:
    """Read what stands for a value at a place: where it ends, and the name that takes its place."""
    text = source.text
    if match := _TOKEN.match(text, at):
        _check(allowed, at, match[0])
        spelled = match[0].removeprefix("!")
        named = spelled if match["number"] is None else int(match["number"])
        token = NamedToken(named, match[0][0] == "!")
        return match.end(), _placeholder(source, found, found.tokens, token, at)
    if match := _SCHEMA.match(text, at):
        _check(allowed, at, "%json")
        end = _end_of_json(source, match.end())
        schema = text[match.end() : end]
        return end, _placeholder(source, found, found.schemas, schema, at)
    if match := _GRAMMAR.match(text, at):
        _check(allowed, at, "%grammar")
        file = read_string(match["file"])
        if not file:
            raise source.error(
                "%grammar has no file after it",
                at,
                length=len("%grammar"),
                mend='write %grammar "other.gbnf", or the name of a shipped grammar, "json"',
            )
        return match.end(), _placeholder(source, found, found.grammars, file, at)
    if match := _VERBATIM.match(text, at):
        _check(allowed, at, "%verbatim")
        span = _span(source, match)
        return match.end(), _placeholder(source, found, found.spans, span, at)
    return None


def _span(source: Source, match: re.Match[str]) -> Verbatim:
    written = match["name"] or read_string(match["text"])
    if not written:
        raise source.error(
            "%verbatim has no text after it, or does not say how it is cut",
            match.start(),
            length=len("%verbatim"),
            mend='write %verbatim name words, or %verbatim "some text" characters',
        )
    unit: Unit = "words" if match["unit"] == "words" else "characters"
    return Verbatim(written, match["name"] is not None, unit)


def _is_own_template(source: Source) -> bool:
    """Return True if the grammar has a template called `unordered` of its own."""
    named = (each for each in source.names() if each.text == "unordered")
    return any(each.defines or each.imports for each in named)


def _count_arguments(text: str, at: int) -> int:
    """Return how many arguments begin at a place, up to the bracket that closes them."""
    count, depth = 1, 1
    while at < len(text) and depth:
        if skipped := _SKIPPED.match(text, at) or _TOKEN.match(text, at):
            at = skipped.end()
            continue
        depth += text[at] in "{[("
        depth -= text[at] in "}])"
        count += text[at] == "," and depth == 1
        at += 1
    return count


def _placeholder(
    source: Source, found: Extensions, where: dict[str, _Value], value: _Value, index: int
) -> str:
    """Return the name of the terminal that takes the place of `value`, which is at `index`."""
    for name, known in where.items():
        if known == value:
            return f" {name} "
    name = f"{PREFIX}{len(found.embedded)}"
    where[name] = value
    source.embedded[name] = index
    return f" {name} "


def _check(allowed: bool, index: int, shown: str) -> None:
    if not allowed:
        raise _NotAllowed(shown, index)


def _end_of_json(source: Source, start: int) -> int:
    try:
        _, end = json.JSONDecoder().raw_decode(source.text, start)
    except (ValueError, RecursionError) as error:
        place = error.pos if isinstance(error, json.JSONDecodeError) else start
        raise source.error(
            f"the schema after %json is not JSON: {getattr(error, 'msg', 'nested too deeply')}",
            place,
            mend="write a JSON Schema, {...}",
        ) from None
    return end
