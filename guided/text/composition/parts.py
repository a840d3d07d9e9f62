"""What a grammar is put together of: a tree. Equal trees are equal, and so are their grammars."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Union

from guided._core import Arena
from guided.text.lark.verbatim import Unit
from guided.text.tags import Marker, NamedToken


@dataclass(frozen=True, slots=True)
class Leaf:
    """A grammar with nodes of its own.

    Attributes:
        key: what tells it from others.
        arena, start: its nodes.
        late: the rules that a vocabulary is to define.
    """

    key: Hashable
    arena: Arena = field(compare=False, repr=False)
    start: int = field(compare=False, repr=False)
    late: Mapping[int, NamedToken | Marker] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a vocabulary, or any other one."""

    named: str | int
    negated: bool


@dataclass(frozen=True, slots=True)
class Until:
    """A text up to the first occurrence of one of some texts, and that; `inner` fits before it."""

    stops: tuple[str, ...]
    inner: Part | None


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A span of a text."""

    text: str
    unit: Unit


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after the other."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the parts; where several fit, the first counts."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part some times, with another one between each two."""

    part: Part
    minimum: int
    maximum: int | None
    separator: Part | None


@dataclass(frozen=True, slots=True)
class Unordered:
    """Each of the parts once, in any order, with another one between each two."""

    parts: tuple[Part, ...]
    separator: Part | None


@dataclass(frozen=True, slots=True)
class Capture:
    """A part whose texts are kept by a name."""

    name: str
    part: Part


Part = Union[Leaf, Token, Until, Verbatim, Sequence, Choice, Repeat, Unordered, Capture]  # noqa: UP007  (of classes that refer to each other)


def literal(text: str) -> Leaf:
    """Return the part that is exactly this text."""
    arena = Arena()
    return Leaf(("text", text), arena, arena.literal(text), {})


def sequence(parts: Iterable[Part]) -> Part:
    """Return parts in a row; rows in it are laid out, so that a long row of sums is one row."""
    flat: list[Part] = []
    for part in parts:
        flat += part.parts if isinstance(part, Sequence) else [part]
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def choice(parts: Iterable[Part]) -> Part:
    """Return one of some parts; choices in it are laid out."""
    flat: list[Part] = []
    for part in parts:
        flat += part.parts if isinstance(part, Choice) else [part]
    return flat[0] if len(flat) == 1 else Choice(tuple(dict.fromkeys(flat)))


def has_captures(part: Part) -> bool:
    """Return True if a part, or one within it, is captured."""
    return any(isinstance(each, Capture) for each in all_parts(part))


def all_parts(part: Part) -> Iterator[Part]:
    """Give a part and all those within it."""
    waiting = [part]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(reversed(parts_of(each)))


def parts_of(part: Part) -> tuple[Part, ...]:
    """Return what a part is made of."""
    match part:
        case Sequence(parts) | Choice(parts):
            return parts
        case Repeat(inner, _, _, separator):
            return (inner,) if separator is None else (inner, separator)
        case Unordered(parts, separator):
            return parts if separator is None else (*parts, separator)
        case Capture(_, inner):
            return (inner,)
        case Until(_, inner):
            return () if inner is None else (inner,)
    return ()
