"""Characters and sets of them, as a reader of a message sees them."""

from __future__ import annotations

from collections.abc import Iterable

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
_LAST = 0x10FFFF
# Some classes have hundreds of ranges, such as that of all letters.
_MOST_RANGES = 24


def character(code_point: int, special: str = "") -> str:
    """Write one character, escaped where it would not show."""
    shown = chr(code_point)
    if shown in _NAMED:
        return _NAMED[shown]
    if shown in special:
        return f"\\{shown}"
    if shown.isprintable():
        return shown
    if code_point < 0x100:
        return f"\\x{code_point:02X}"
    return f"\\u{code_point:04X}" if code_point < 0x10000 else f"\\U{code_point:08X}"


def quoted(text: str) -> str:
    """Write a text in quotes, escaped; in single ones if that saves escapes."""
    quote = "'" if '"' in text and "'" not in text else '"'
    return f"{quote}{''.join(character(ord(each), quote) for each in text)}{quote}"


def char_class(ranges: Iterable[tuple[int, int]]) -> str:
    """Write a set of characters as a class in brackets, the rest of them where that is shorter."""
    known = sorted(ranges)
    rest = _complement(known)
    if not rest:
        return "any character"
    if known and known[-1][1] == _LAST and len(rest) <= len(known):
        return f"[^{_members(rest)}]"
    more = len(known) - _MOST_RANGES
    if more > 0:
        return f"[{_members(known[:_MOST_RANGES])}] and {more} more ranges of characters"
    return f"[{_members(known)}]"


def _members(ranges: Iterable[tuple[int, int]]) -> str:
    written = []
    for first, last in ranges:
        low, high = character(first, "^]-["), character(last, "^]-[")
        if last - first > 1:
            written.append(f"{low}-{high}")
        else:
            written.append(low if first == last else low + high)
    return "".join(written)


def _complement(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return all other characters; surrogates, which no text has, belong to either."""
    gaps, after = [], 0
    for first, last in [*ranges, (_LAST + 1, _LAST + 1)]:
        if after < first and not (after >= 0xD800 and first <= 0xE000):
            gaps.append((after, first - 1))
        after = max(after, last + 1)
    return gaps
