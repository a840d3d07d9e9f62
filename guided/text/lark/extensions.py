"""What guided adds to the language of Lark, taken out of a grammar before lark reads it.

    NAME[lazy]: /.../            the shortest matches: those that begin with no other match
    NAME[stop="..."]: /.../      a match, then the first occurrence of the text, which ends it
    <|name|>  <think>  <[123]>   a token, by its text or number; with ! before it any other
    %json {...}                  a JSON text that fits the schema; wherever a name may stand

In place of a token or a schema lark finds a terminal, declared and not defined.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from guided.text.lark.source import Source

_Value = TypeVar("_Value")
PREFIX = "GUIDED_EMBEDDED_"
KNOWN = ("lazy", "stop")
# Of llguidance's dialect: they say how to sample, or what to keep, and not which texts there are.
REFUSED = ("capture", "max_tokens", "temperature", "suffix")

_ATTRIBUTES = re.compile(
    r"(?P<name>[?!]*[A-Za-z_][A-Za-z0-9_]*)"
    r"(?P<list>\[\s*[a-z_]+\s*(?:=[^\n]*?)?\])(?=\s*(?:\.\d+\s*)?:)"
)
_ATTRIBUTE = re.compile(r"\s*([a-z_]+)\s*(?:=\s*(\"(?:\\.|[^\"\\\n])*\"|[^,\]\s]+))?\s*(,|$)")
# Where one of these may begin: at the start of a line, or by its first character.
_CANDIDATE = re.compile(r"^(?=[?!A-Za-z_])|[/#\"<!%]", re.MULTILINE)
_TOKEN = re.compile(r"!?<(?:\[(?P<number>\d{1,9})\]|[^\s<>\[\]=\"/]+)>")
_SCHEMA = re.compile(r"%json\s*(?=[{\[tf])")
# What may hold the like of an extension without being one.
_SKIPPED = re.compile(r"//[^\n]*|\#[^\n]*|\"(?:\\.|[^\"\\\n])*\"|/(?!/)(?:\\[/\\]|[^/])*?/")


@dataclass(frozen=True, slots=True)
class NamedToken:
    """A token by its text or number, or any other one."""

    named: str | int
    negated: bool


@dataclass(slots=True)
class Extensions:
    """The extensions of one grammar.

    Attributes:
        text: the grammar without them.
        tokens, schemas: what stands for the terminals that took their place.
        lazy: terminals of shortest matches.
        stops: by terminal, the text that ends it.
    """

    text: str = ""
    tokens: dict[str, NamedToken] = field(default_factory=dict)
    schemas: dict[str, str] = field(default_factory=dict)
    lazy: set[str] = field(default_factory=set)
    stops: dict[str, str] = field(default_factory=dict)

    @property
    def embedded(self) -> frozenset[str]:
        """The terminals that stand for tokens and schemas."""
        return frozenset({*self.tokens, *self.schemas})


def take_out(source: Source, *, allowed: bool) -> Extensions:
    """Take the extensions out of a grammar, and let `source` know how places have moved.

    Args:
        source: the grammar.
        allowed: whether there may be any.

    Raises:
        GrammarError: there may be none, or one is malformed.
        UnsupportedError: an attribute that guided does not know how to enforce.
    """
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
        at = candidate.start()
        if skipped := _SKIPPED.match(text, at):
            at = skipped.end()
        elif match := _ATTRIBUTES.match(text, at):
            start = match.start("list")
            _check(source, allowed, start, match["list"])
            _attributes(source, found, match)
            yield start, match.end(), ""
            at = match.end()
        elif match := _TOKEN.match(text, at):
            _check(source, allowed, at, match[0])
            spelled = match[0].removeprefix("!")
            named = spelled if match["number"] is None else int(match["number"])
            token = NamedToken(named, match[0][0] == "!")
            yield at, match.end(), _placeholder(source, found, found.tokens, token, at)
            at = match.end()
        elif match := _SCHEMA.match(text, at):
            _check(source, allowed, at, "%json")
            end = _end_of_json(source, match.end())
            schema = text[match.end() : end]
            yield at, end, _placeholder(source, found, found.schemas, schema, at)
            at = end
        else:
            at = max(candidate.end(), at + 1)


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


def _check(source: Source, allowed: bool, index: int, shown: str) -> None:
    if not allowed:
        raise source.error(
            f"{shown} is an extension of guided, which lark does not know",
            index,
            length=len(shown),
            mend='leave it out, or give dialect="guided"',
        )


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


def _attributes(source: Source, found: Extensions, match: re.Match[str]) -> None:
    name = match["name"].lstrip("?!")
    inner = match["list"][1:-1]
    at = 0
    while at < len(inner):
        attribute = _ATTRIBUTE.match(inner, at)
        index = match.start("list") + 1 + at
        if attribute is None:
            raise source.error(
                f"the attributes of {name!r} are malformed".replace("'", '"'),
                index,
                mend='write them as in NAME[lazy] or NAME[stop="..."]',
            )
        _one_attribute(source, found, name, attribute[1], attribute[2], index)
        at = attribute.end()


def _string(value: str | None) -> str | None:
    """Return the text of a string as JSON writes it, None if it is none that can be matched."""
    try:
        text = json.loads(value or "")
        return text if isinstance(text, str) and text.encode() else None
    except ValueError:
        return None


def _one_attribute(
    source: Source, found: Extensions, name: str, key: str, value: str | None, index: int
) -> None:
    if key in REFUSED:
        raise source.unsupported(
            f'the attribute "{key}" of "{name}" is not supported', key, at=name, defined=True,
            mend="leave it out; options of sampling are those of guided.generate",
        )  # fmt: skip
    if key not in KNOWN:
        raise source.error(
            f'there is no attribute "{key}"',
            index,
            length=len(key),
            mend=f"the attributes are {', '.join(KNOWN)}",
        )
    if not name.isupper():
        raise source.error(
            f'the attribute "{key}" is one of terminals, and "{name}" is a rule',
            index,
            length=len(key),
            mend="write the name in upper case",
        )
    if key == "lazy" and value in (None, "true"):
        found.lazy.add(name)
    elif key == "stop" and (stop := _string(value)):
        found.stops[name] = stop
    else:
        raise source.error(
            f'the attribute "{key}" of "{name}" has a wrong value',
            index,
            length=len(key),
            mend='write them as in NAME[lazy] or NAME[stop="..."]',
        )
