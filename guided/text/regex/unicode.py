"""Unicode properties and case classes, from the table `unicode.txt`.

The table is shipped because the standard library knows no scripts, its version of Unicode changes
with the interpreter, and a scan over all code points takes a tenth of a second.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cache
from importlib.resources import files

from guided.text.regex.codepoints import ANY, EMPTY, Ranges, complement, normalize

_CATEGORY_KEYS = ("General_Category", "gc")
_SCRIPT_KEYS = ("Script", "sc")
_EXTENSION_KEYS = ("Script_Extensions", "scx")


@cache
def _table() -> dict[tuple[str, str], str]:
    """Return the text of each set by kind ("category", "script", ...) and name."""
    table = {}
    text = files("guided.text.regex").joinpath("unicode.txt").read_text("ascii")
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        heading, _, ranges = line.partition(": ")
        kind, *names = heading.split()
        for name in names or [""]:
            table[kind, name] = ranges
    return table


@cache
def _ranges(kind: str, name: str) -> Ranges | None:
    text = _table().get((kind, name))
    if text is None:
        return None
    pairs = (part.partition("-") for part in text.split())
    return normalize((int(low, 16), int(high or low, 16)) for low, _, high in pairs)


@cache
def property_ranges(name: str) -> Ranges | None:
    """Return the code points of a property as written between the braces of `\\p{...}`.

    `name` is a general category (`Lu`, `Letter`, `gc=Lu`), a script (`Script=Greek`, `scx=Grek`)
    or a binary property (`Alphabetic`); names are those of ECMA-262. None if there is no such.
    """
    key, equals, value = name.partition("=")
    if equals:
        if key in _CATEGORY_KEYS:
            return _ranges("category", value)
        if key in _SCRIPT_KEYS:
            return _ranges("script", value)
        if key in _EXTENSION_KEYS:
            extended = _ranges("extensions", value)
            return _ranges("script", value) if extended is None else extended
        return None
    match name:
        case "Any":
            return ANY
        case "Assigned":
            return complement(_ranges("category", "Cn") or EMPTY)
        case _:
            category = _ranges("category", name)
            return _ranges("binary", name) if category is None else category


def closest_property(name: str) -> str | None:
    """Return the known property whose name differs from `name` in case, `_`, blank or `-` only."""
    key, equals, value = name.partition("=")

    def folded(text: str) -> str:
        return text.replace("_", "").replace(" ", "").replace("-", "").lower()

    wanted = folded(value if equals else key)
    for kind, known in _table():
        if folded(known) == wanted and known:
            if kind in ("script", "extensions"):
                prefix = "scx" if folded(key) in ("scx", "scriptextensions") else "Script"
                return f"{prefix}={known}"
            return known
    return None


@cache
def _case_classes() -> tuple[list[int], list[tuple[int, ...]]]:
    """Return the sorted code points that have variants in case, and next to each all of them."""
    variants = {}
    for entry in _table()["case", ""].split():
        members = tuple(int(code, 16) for code in entry.split(","))
        variants.update(dict.fromkeys(members, members))
    codes = sorted(variants)
    return codes, [variants[code] for code in codes]


@cache
def close_over_case(ranges: Ranges) -> Ranges:
    """Add to a set whatever differs from a member in case only, by Unicode simple case folding."""
    codes, variants = _case_classes()
    added: list[tuple[int, int]] = []
    for low, high in ranges:
        for at in range(bisect_left(codes, low), len(codes)):
            if codes[at] > high:
                break
            added.extend((code, code) for code in variants[at])
    return normalize([*ranges, *added])
