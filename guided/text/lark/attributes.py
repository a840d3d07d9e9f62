"""Attributes of terminals: `NAME[lazy]: ...` and `NAME[stop="..."]: ...`."""

from __future__ import annotations

import json
import re

from guided.text.lark.source import Source

KNOWN = ("lazy", "stop")
# Of llguidance's dialect: they say how to sample, or what to keep, and not which texts there are.
REFUSED = ("capture", "max_tokens", "temperature", "suffix")
ATTRIBUTES = re.compile(
    r"(?P<name>[?!]*[A-Za-z_][A-Za-z0-9_]*)"
    r"(?P<list>\[\s*[a-z_]+\s*(?:=[^\n]*?)?\])(?=\s*(?:\.\d+\s*)?:)"
)

_ATTRIBUTE = re.compile(r"\s*([a-z_]+)\s*(?:=\s*(\"(?:\\.|[^\"\\\n])*\"|[^,\]\s]+))?\s*(,|$)")


def read_attributes(
    source: Source, match: re.Match[str], lazy: set[str], stops: dict[str, str]
) -> None:
    """Read the attributes of one definition, found by `ATTRIBUTES`, into `lazy` and `stops`.

    Raises:
        GrammarError: there is no such attribute, or it is malformed.
        UnsupportedError: guided does not know how to enforce it.
    """
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
        key, value = attribute[1], attribute[2]
        _check(source, name, key, index)
        if key == "lazy" and value in (None, "true"):
            lazy.add(name)
        elif key == "stop" and (stop := read_string(value)):
            stops[name] = stop
        else:
            raise source.error(
                f'the attribute "{key}" of "{name}" has a wrong value',
                index,
                length=len(key),
                mend='write them as in NAME[lazy] or NAME[stop="..."]',
            )
        at = attribute.end()


def read_string(value: str | None) -> str | None:
    """Return the text of a string as JSON writes it, None if it is none that can be matched."""
    try:
        text = json.loads(value or "")
        return text if isinstance(text, str) and text.encode() else None
    except ValueError:
        return None


def _check(source: Source, name: str, key: str, index: int) -> None:
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
