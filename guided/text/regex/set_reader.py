"""Classes within classes, under the flag `v` of ECMA-262, to a set of code points."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from guided.text.regex.class_reader import read_range
from guided.text.regex.classes import Flags, fold
from guided.text.regex.codepoints import (
    EMPTY,
    Ranges,
    complement,
    intersect,
    single,
    subtract,
    union,
)
from guided.text.regex.escapes import member_ranges
from guided.text.regex.source import Source

if TYPE_CHECKING:
    from guided.text.regex.tables import Tree

_COMBINE = {"union": union, "intersection": intersect, "subtraction": subtract}


def read_set(source: Source, tree: Tree, flags: Flags) -> Ranges:
    """Return the set of a class and the classes in it, with variants in case.

    A loop with a stack of its own, as classes can be nested without end.

    Raises:
        GrammarError: a range is the wrong way round, or an escape is bad.
        UnsupportedError: a class holds strings, `\\q{abc}`.
    """
    results: list[Ranges] = []
    stack: list[tuple[Tree, bool]] = [(tree, False)]
    while stack:
        current, is_read = stack.pop()
        inner = [child for child in current.children if hasattr(child, "data")]
        if not is_read:
            stack.append((current, True))
            stack.extend((child, False) for child in reversed(inner))
            continue
        found = results[len(results) - len(inner) :]
        del results[len(results) - len(inner) :]
        results.append(_combine(source, current, found, flags))
    return results[0]


def _combine(source: Source, tree: Tree, inner: list[Ranges], flags: Flags) -> Ranges:
    """Return the set of one node of the tree, given those of the trees in it."""
    if tree.data not in _COMBINE:
        is_negated = str(tree.children[0]).endswith("^")
        return complement(inner[0]) if is_negated else inner[0]
    known = iter(inner)
    operands = [
        next(known) if hasattr(child, "data") else _member(source, child, flags)
        for child in tree.children
    ]
    return reduce(_COMBINE[tree.data], operands) if operands else EMPTY


def _member(source: Source, token: Any, flags: Flags) -> Ranges:
    index = token.start_pos or 0
    if token.startswith("\\q"):
        raise source.unsupported(
            f"strings in a class, {token}, are not supported",
            index,
            length=len(token),
            keyword="\\q",
            mend="write a choice, (?:...|...)",
        )
    if token.type == "RANGE":
        ranges, is_set = read_range(source, str(token), index, flags)
        if is_set:
            raise source.error(
                f"bad character range {token}: an end of it is a set",
                index,
                length=len(token),
                mend="escape the hyphen, \\-",
            )
        return fold(ranges, flags)
    if token[0] == "\\":
        return fold(member_ranges(source, str(token), index, flags), flags)
    return fold(single(ord(token)), flags)
