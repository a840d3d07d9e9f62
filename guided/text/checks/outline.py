"""The rules of a grammar file as they are written: what checks and drawings look at.

    Part
        Text         these characters
        Characters   one character out of a set
        Pattern      a regular expression, with its own parts
        Reference    another rule, with arguments where it is a template
        Opaque       what has no parts to look at: a token by its number, a look-around, a schema
        Sequence     one after the other
        Choice       one of them
        Unordered    each of them once, in any order
        Repeat       from minimum to maximum times

Each part knows where it stands and how it is written there. Readers of GBNF, Lark and regular
expressions make it; nothing is simplified on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a rule.

    Attributes:
        index, length: where it stands in the text of the file; length 0 where that is not known.
    """

    index: int = field(default=0, kw_only=True)
    length: int = field(default=0, kw_only=True)


@dataclass(frozen=True, slots=True)
class Text(Part):
    """These characters, `written` as in the file."""

    text: str
    written: str


@dataclass(frozen=True, slots=True)
class Characters(Part):
    """One character out of inclusive ranges of code points."""

    ranges: Ranges
    written: str


@dataclass(frozen=True, slots=True)
class Pattern(Part):
    """A regular expression."""

    body: Part
    written: str


@dataclass(frozen=True, slots=True)
class Reference(Part):
    """Another rule; `arguments` where it is a template."""

    name: str
    arguments: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Opaque(Part):
    """What has no parts to look at; `is_nullable` if it is known to match the empty text."""

    written: str
    is_nullable: bool = False


@dataclass(frozen=True, slots=True)
class Sequence(Part):
    """One after the other; none: the empty text."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Choice(Part):
    """One of them."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Unordered(Part):
    """Each of them once, in any order."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Repeat(Part):
    """From `minimum` to `maximum` times; None: without end."""

    part: Part
    minimum: int
    maximum: int | None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule or terminal of the file.

    Attributes:
        index: where its name stands.
        parameters: of a template.
        is_terminal: it is a terminal of Lark, which has no rules inside.
        is_lazy: only the shortest of its texts count, other than the empty one.
        stop: the text that is to come after it.
    """

    name: str
    body: Part
    index: int
    parameters: tuple[str, ...] = ()
    is_terminal: bool = False
    is_lazy: bool = False
    stop: str = ""


@dataclass(frozen=True, slots=True)
class Outline:
    """The rules of a file.

    Attributes:
        text: the file.
        start: the rule to start from.
        rules: by name, in their order.
        external: names that are defined elsewhere: imported, declared.
        ignored: what may stand between two terminals, as `%ignore` says.
    """

    text: str
    start: str
    rules: dict[str, Rule]
    external: frozenset[str] = frozenset()
    ignored: tuple[Part, ...] = ()


def children(part: Part) -> tuple[Part, ...]:
    """Return the parts that a part is made of."""
    if isinstance(part, Sequence | Choice | Unordered):
        return part.parts
    if isinstance(part, Repeat):
        return (part.part,)
    if isinstance(part, Pattern):
        return (part.body,)
    return part.arguments if isinstance(part, Reference) else ()


def walk(part: Part) -> Iterator[Part]:
    """Give a part and all that is in it, in the order of the text."""
    waiting = [part]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(reversed(children(part)))


def references(part: Part) -> Iterator[Reference]:
    """Give the references in a part."""
    return (each for each in walk(part) if isinstance(each, Reference))
