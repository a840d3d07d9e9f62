"""The members of a character class, `[...]`, to a set of code points."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from guided.text.regex.classes import Flags, fold
from guided.text.regex.codepoints import EMPTY, Ranges, complement, normalize, single, union
from guided.text.regex.escapes import escaped_character, escaped_set, member_ranges
from guided.text.regex.source import Source

if TYPE_CHECKING:
    from guided.text.regex.tables import Token

_RANGE_OR_CHARACTER = re.compile(r"(.)-(.)|(.)", re.DOTALL)


_MAX_KNOWN = 4096
_known: dict[tuple[str, Flags], Ranges] = {}


def read_class(source: Source, tokens: Sequence[Token], flags: Flags) -> Ranges:
    """Return the set of a class, from its opening bracket on, with variants in case.

    Classes recur within a pattern and from one to the next, so the sets are kept.

    Raises:
        GrammarError: a range is the wrong way round or ends in a set, or an escape is bad.
    """
    key = ("".join(tokens), flags)
    ranges = _known.get(key)
    if ranges is None:
        if len(_known) >= _MAX_KNOWN:
            _known.clear()
        ranges = _known[key] = _read_class(source, tokens, flags)
    return ranges


def _read_class(source: Source, tokens: Sequence[Token], flags: Flags) -> Ranges:
    letters = EMPTY
    sets = EMPTY
    for token in tokens[1:-1]:
        index = token.start_pos or 0
        kind = token.type
        if kind == "MEMBERS":
            letters = union(letters, _plain_members(source, str(token), index))
        elif kind in ("RANGE", "FIRST_RANGE"):
            ranges, is_set = read_range(source, str(token), index, flags)
            letters, sets = _add(letters, sets, ranges, is_set)
        elif kind == "MEMBER_ESCAPE":
            ranges = member_ranges(source, str(token), index, flags)
            letters, sets = _add(letters, sets, ranges, token[1] in "dDsSwWpP")
        else:
            letters = union(letters, single(ord(token)))
    result = union(fold(letters, flags), sets)
    if flags.dialect == "ecma":
        result = fold(result, flags)  # ECMA-262 folds the sets as well
    return complement(result) if tokens[0].endswith("^") else result


def _add(letters: Ranges, sets: Ranges, ranges: Ranges, is_set: bool) -> tuple[Ranges, Ranges]:
    return (letters, union(sets, ranges)) if is_set else (union(letters, ranges), sets)


def _plain_members(source: Source, text: str, index: int) -> Ranges:
    ranges = _parse_plain_members(text)
    if ranges is None:
        for match in _RANGE_OR_CHARACTER.finditer(text):
            if match[1] and match[1] > match[2]:
                raise _reversed(source, match[0], index + match.start())
        raise AssertionError("no range is the wrong way round")
    return ranges


def _parse_plain_members(text: str) -> Ranges | None:
    """Return the set of ranges and characters without escapes, None if a range is reversed."""
    pairs = []
    for first, last, character in _RANGE_OR_CHARACTER.findall(text):
        if character:
            pairs.append((ord(character), ord(character)))
        elif first <= last:
            pairs.append((ord(first), ord(last)))
        else:
            return None
    return normalize(pairs)


def _reversed(source: Source, text: str, index: int) -> Exception:
    return source.error(
        f"bad character range {text}: it ends before it begins",
        index,
        length=len(text),
        mend="swap its ends, or escape the hyphen, \\-",
    )


def read_range(source: Source, text: str, index: int, flags: Flags) -> tuple[Ranges, bool]:
    """Return the set of `first-last`, and whether it holds a set such as `\\w`."""
    first, last, at = _split_range(text)
    ends = []
    for end, where in ((first, index), (last, index + at)):
        if end[0] != "\\":
            ends.append(ord(end))
            continue
        ranges = escaped_set(source, end, where, flags)
        if ranges is not None:
            return _range_with_set(source, text, index, flags), True
        code_point = escaped_character(source, end, where, in_class=True)
        ends.append(ord("c") if code_point is None else code_point)
    if ends[0] > ends[1]:
        raise _reversed(source, text, index)
    return normalize([(ends[0], ends[1])]), False


def _split_range(text: str) -> tuple[str, str, int]:
    """Cut `first-last` at the hyphen between them, which is not the first character."""
    at = 1
    if text[0] == "\\":
        at = next(
            match.start()
            for match in re.finditer("-", text)
            if match.start() >= 2 and _is_end(text[match.start() + 1 :])
        )
    return text[:at], text[at + 1 :], at + 1


def _is_end(text: str) -> bool:
    return len(text) == 1 or (len(text) > 1 and text[0] == "\\")


def _range_with_set(source: Source, text: str, index: int, flags: Flags) -> Ranges:
    r"""Return what `[\w-.]` holds: an error in Python, in Annex B the three members."""
    if source.dialect == "python":
        raise source.error(
            f"bad character range {text}: an end of it is a set",
            index,
            length=len(text),
            mend="escape the hyphen, \\-, or put it last",
        )
    first, last, at = _split_range(text)
    total: Ranges = single(ord("-"))
    for end, where in ((first, index), (last, index + at)):
        member = single(ord(end)) if end[0] != "\\" else member_ranges(source, end, where, flags)
        total = union(total, member)
    return total
