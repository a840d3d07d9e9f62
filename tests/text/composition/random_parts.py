"""Random compositions, each with the same as a pattern of `re`, and read in a plain way."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from guided import Grammar

ALPHABET = "ab"
LEAVES = ["a", "b", "ab", "a*", "[ab]+", "b?a", "(?:ab)*", "a|bb", ""]
STOPS = ["b", "ab", "aa"]

# A name with the text that it spelled, in the order in which these begin.
Notes = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Built:
    """A composition; `pattern` matches the same, `tree` says how it is put together."""

    grammar: Grammar
    pattern: str
    tree: tuple[Any, ...]


def build(numbers: random.Random, depth: int) -> Built:
    """Return a random composition."""
    kind = numbers.choice(["leaf", "text", "until"] if not depth else KINDS)
    if kind in ("leaf", "text", "until"):
        return _plain(numbers, kind)
    parts = [build(numbers, depth - 1) for _ in range(numbers.randint(2, 3))]
    grammars, patterns = [each.grammar for each in parts], [each.pattern for each in parts]
    trees = tuple(each.tree for each in parts)
    first, second = parts[0], parts[1]
    if kind == "sequence":
        return Built(Grammar.sequence(*grammars), "".join(patterns), (kind, trees))
    if kind == "choice":
        return Built(Grammar.choice(*grammars), f"(?:{'|'.join(patterns)})", (kind, trees))
    if kind == "unordered":
        separated = numbers.random() < 0.5
        between = second if separated else Built(Grammar.sequence(""), "", ("text", ""))
        orders = [between.pattern.join(each) for each in itertools.permutations(patterns)]
        grammar = Grammar.unordered(*grammars, separator=between.grammar if separated else None)
        return Built(grammar, f"(?:{'|'.join(orders)})", (kind, trees, between.tree))
    if kind == "capture":
        name = numbers.choice(["x", "y"])
        return Built(first.grammar.capture(name), first.pattern, (kind, name, first.tree))
    low = numbers.randint(0, 2)
    high = numbers.choice([None, low, low + 1])
    if kind == "repeat":
        bounds = f"{{{low},{'' if high is None else high}}}"
        pattern = f"(?:{first.pattern}){bounds}"
        return Built(first.grammar.repeat(low, high), pattern, ("repeat", low, high, first.tree))
    grammar = first.grammar.repeat(low, high, separator=second.grammar)
    tree = ("separated", low, high, first.tree, second.tree)
    if high == 0:
        return Built(grammar, "", tree)
    bounds = f"{{{max(0, low - 1)},{'' if high is None else high - 1}}}"
    some = f"{first.pattern}(?:{second.pattern}{first.pattern}){bounds}"
    return Built(grammar, f"(?:{some})" if low else f"(?:{some})?", tree)


KINDS = [
    "leaf", "until", "sequence", "sequence", "choice", "repeat", "separated", "unordered",
    "capture",
]  # fmt: skip


def _plain(numbers: random.Random, kind: str) -> Built:
    if kind == "leaf":
        pattern = numbers.choice(LEAVES)
        return Built(Grammar.from_regex(pattern), f"(?:{pattern})", ("leaf", f"(?:{pattern})"))
    if kind == "text":
        text = numbers.choice(["", "a", "ba"])
        return Built(Grammar.sequence(text), text, ("leaf", text))
    stops = numbers.sample(STOPS, numbers.randint(1, 2))
    if stops in (["b", "ab"], ["ab", "b"]):
        stops = ["b"]
    inner = numbers.choice([None, "a*", "[ab]{0,2}"])
    before = None if inner is None else Grammar.from_regex(inner)
    is_captured = before is not None and numbers.random() < 0.5
    if before is not None and is_captured:
        before = before.capture("inner")
    never = "".join(f"(?!.*{stop}.)" for stop in stops)
    pattern = f"(?:{never}(?:{inner or '[ab]*'})(?:{'|'.join(stops)}))"
    # The first occurrence ends the text: found in each part by itself, so not a pattern of a whole.
    tree: tuple[Any, ...] = ("leaf", pattern)
    if is_captured:
        tree = ("until", pattern, f"(?:{inner})", stops)
    return Built(Grammar.until(stops, text=before), "\0", tree)


def every_text(length: int) -> Iterator[str]:
    """Give all texts up to a length."""
    for each in range(length + 1):
        yield from map("".join, itertools.product(ALPHABET, repeat=each))


def readings(tree: tuple[Any, ...], text: str, at: int) -> Iterator[tuple[int, Notes]]:
    """Give where a part may end that begins at a place, the reading that counts first."""
    kind, *rest = tree
    if kind in ("leaf", "text"):
        for end in range(len(text), at - 1, -1):
            if re.fullmatch(rest[0], text[at:end]):
                yield end, ()
    elif kind == "until":
        pattern, inner, stops = rest
        for middle, _ in readings(("leaf", inner), text, at):
            for stop in stops:
                end = middle + len(stop)
                if text.startswith(stop, middle) and re.fullmatch(pattern, text[at:end]):
                    yield end, (("inner", at, middle),)
    elif kind == "sequence":
        yield from _row(rest[0], text, at)
    elif kind == "choice":
        for part in rest[0]:
            yield from readings(part, text, at)
    elif kind == "capture":
        name, part = rest
        for end, notes in readings(part, text, at):
            yield end, ((name, at, end), *notes)
    elif kind == "repeat":
        low, high, part = rest
        yield from _times((part,), low, high, text, at, True)
    elif kind == "separated":
        low, high, part, between = rest
        if high != 0:
            most = None if high is None else high - 1
            for middle, notes in readings(part, text, at):
                for end, more in _times((between, part), max(0, low - 1), most, text, middle, True):
                    yield end, notes + more
        if not low:
            yield at, ()
    else:
        parts, between = rest
        yield from _any_order(parts, between, text, at)


def _row(parts: tuple[Any, ...], text: str, at: int) -> Iterator[tuple[int, Notes]]:
    if not parts:
        yield at, ()
        return
    for middle, notes in readings(parts[0], text, at):
        for end, more in _row(parts[1:], text, middle):
            yield end, notes + more


def _times(
    parts: tuple[Any, ...], low: int, high: int | None, text: str, at: int, moved: bool
) -> Iterator[tuple[int, Notes]]:
    if low > 0 or (moved and high != 0):
        for middle, notes in _row(parts, text, at):
            most = None if high is None else high - 1
            for end, more in _times(parts, low - 1, most, text, middle, middle > at):
                yield end, notes + more
    if low <= 0:
        yield at, ()


def _any_order(
    parts: tuple[Any, ...], between: tuple[Any, ...], text: str, at: int
) -> Iterator[tuple[int, Notes]]:
    for index, part in enumerate(parts):
        others = parts[:index] + parts[index + 1 :]
        for middle, notes in readings(part, text, at):
            if not others:
                yield middle, notes
                continue
            for begin, separating in readings(between, text, middle):
                for end, more in _any_order(others, between, text, begin):
                    yield end, notes + separating + more


def first_reading(tree: tuple[Any, ...], text: str) -> Notes | None:
    """Return what the reading of a whole text that counts notes down; None if there is none."""
    for end, notes in readings(tree, text, 0):
        if end == len(text):
            return notes
    return None
