"""Attributes of rules and terminals: `NAME[lazy]: ...`, `NAME[stop="..."]: ...`, `name[capture]:`.

Those of the dialect of llguidance that say how to sample are refused by their names: the states of
an automaton do not tell the rule that is being written, nor how many tokens it has by now.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from guided.text.lark.source import Source

KNOWN = ("lazy", "stop", "capture")
REFUSED = {
    "max_tokens": "leave it out, and bound the characters instead, as in /.{0,200}/ or item~1..20;"
    " guided.generate(..., max_tokens=...) bounds the whole output",
    "temperature": "leave it out; guided.generate(..., temperature=...) is for the whole output",
    "suffix": 'write stop="...", which the text of the terminal then ends with',
}
STRING = r"\"(?:\\.|[^\"\\\n])*\""
ATTRIBUTES = re.compile(
    r"(?:%(?:override|extend)[ \t]+)?(?P<name>[?!]*[A-Za-z_][A-Za-z0-9_]*)"
    r"(?:\{[^{}\n]*\})?"
    rf"(?P<list>\[\s*[a-z_]+\s*(?:[=,](?:{STRING}|[^\"\]\n])*)?\])(?=\s*(?:\.\d+\s*)?:)"
)

_ATTRIBUTE = re.compile(rf"\s*([a-z_]+)\s*(?:=\s*({STRING}|[^,\]\s]+))?\s*(,|$)")
_MEND = 'write them as in NAME[lazy], NAME[stop="..."], name[capture] or name[capture="..."]'


@dataclass(slots=True)
class Attributes:
    """The attributes of a grammar.

    Attributes:
        lazy: terminals of shortest matches.
        stops: by terminal, the text that ends it.
        captures: by rule or terminal, the name under which its texts are kept.
    """

    lazy: set[str] = field(default_factory=set)
    stops: dict[str, str] = field(default_factory=dict)
    captures: dict[str, str] = field(default_factory=dict)


def read_attributes(source: Source, match: re.Match[str], found: Attributes) -> None:
    """Read the attributes of one definition, found by `ATTRIBUTES`, into `found`.

    Raises:
        GrammarError: there is no such attribute, or it is malformed or given twice.
        UnsupportedError: guided does not know how to enforce it.
    """
    name = match["name"].lstrip("?!")
    inner = match["list"][1:-1]
    seen = set()
    at = 0
    while at < len(inner):
        attribute = _ATTRIBUTE.match(inner, at)
        index = match.start("list") + 1 + at
        if attribute is None:
            raise source.error(f'the attributes of "{name}" are malformed', index, mend=_MEND)
        key, value = attribute[1], attribute[2]
        index = match.start("list") + 1 + attribute.start(1)
        _check(source, name, key, index)
        if key in seen:
            raise source.error(
                f'"{name}" has the attribute "{key}" twice',
                index,
                length=len(key),
                mend="leave one out",
            )
        seen.add(key)
        _keep(source, name, key, value, index, found)
        at = attribute.end()


def _keep(
    source: Source, name: str, key: str, value: str | None, index: int, found: Attributes
) -> None:
    is_bare = value in (None, "true")
    if key == "lazy" and is_bare:
        found.lazy.add(name)
    elif key == "stop" and (stop := read_string(value)):
        found.stops[name] = stop
    elif key == "capture" and (called := name if is_bare else read_string(value)):
        found.captures[name] = called
    else:
        raise source.error(
            f'the attribute "{key}" of "{name}" has a wrong value',
            index,
            length=len(key),
            mend=_MEND,
        )


def read_string(value: str | None) -> str | None:
    """Return the text of a string as JSON writes it, None if it is none that can be matched."""
    try:
        text = json.loads(value or "")
        return text if isinstance(text, str) and text.encode() else None
    except ValueError:
        return None


def _check(source: Source, name: str, key: str, index: int) -> None:
    if key in REFUSED:
        raise source.unsupported_here(
            f'the attribute "{key}" of "{name}" is not supported',
            key,
            index,
            length=len(key),
            mend=REFUSED[key],
        )
    if key not in KNOWN:
        raise source.error(
            f'there is no attribute "{key}"',
            index,
            length=len(key),
            mend=f"the attributes are {', '.join(KNOWN)}",
        )
    if not name.isupper() and key != "capture":
        raise source.error(
            f'the attribute "{key}" is one of terminals, and "{name}" is a rule',
            index,
            length=len(key),
            mend="write the name in upper case",
        )
