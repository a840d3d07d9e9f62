"""The syntax tree of a pattern, the same for both dialects: flags and shorthands are resolved.

    Expression
        Chars        one character out of a set
        Literal      a run of characters
        Sequence     one after the other
        Choice       one of them
        Repeat       from minimum to maximum times
        Neighbour    no width: the next (or previous) character is out of a set, or there is none
        Look         no width: what follows (or precedes) matches, or does not
        Atomic       matches as if nothing else had been there: gives nothing back

Nodes know whether they match the empty text, whether they look around and the widths they match,
so that no walk over a deep tree is needed to tell. Build them by the functions below, which
simplify; nodes are compared by identity.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from guided.errors import LimitError
from guided.text.regex.codepoints import Ranges, complement, only_member, single

MAX_REPEAT = 100_000
MAX_WIDTH = 1 << 60
"""Widths from here on are all the same, so that nested counts do not grow numbers without end."""


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A part of a pattern.

    Attributes:
        narrowest, widest: the least and greatest number of characters matched; None for no end.
        peeks: it holds a Neighbour, Look or Atomic, so what it matches depends on what is around.
    """

    narrowest: int = field(kw_only=True)
    widest: int | None = field(kw_only=True)
    peeks: bool = field(kw_only=True, default=False)

    @property
    def nullable(self) -> bool:
        """True if the empty text may match (where it peeks: if what is around permits it)."""
        return self.narrowest == 0


@dataclass(frozen=True, slots=True, eq=False)
class Chars(Expression):
    """One character out of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True, eq=False)
class Literal(Expression):
    """A run of at least two characters."""

    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Sequence(Expression):
    """One after the other; no item is a Sequence. No items: the empty text."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Choice(Expression):
    """One of several."""

    alternatives: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Repeat(Expression):
    """From `minimum` to `maximum` times, None for no end; `lazy` matters in atomic groups only."""

    item: Expression
    minimum: int
    maximum: int | None
    lazy: bool


@dataclass(frozen=True, slots=True, eq=False)
class Neighbour(Expression):
    """The next (`ahead`) or previous character is in `ranges`, or `edge` and there is none."""

    ranges: Ranges
    edge: bool
    ahead: bool


@dataclass(frozen=True, slots=True, eq=False)
class Look(Expression):
    """What follows (`ahead`) begins with `item`, or what precedes ends with it; or it does not."""

    item: Expression
    ahead: bool
    negative: bool
    index: int


@dataclass(frozen=True, slots=True, eq=False)
class Atomic(Expression):
    """`item` as it would match alone and greedily, giving nothing back."""

    item: Expression
    index: int


EMPTY = Sequence((), narrowest=0, widest=0)


def chars(ranges: Ranges) -> Chars:
    """Return one character out of a set."""
    return Chars(ranges, narrowest=1, widest=1)


def literal(text: str) -> Expression:
    """Return a run of any number of characters."""
    if len(text) < 2:
        return chars(single(ord(text))) if text else EMPTY
    return Literal(text, narrowest=len(text), widest=len(text))


def neighbour(ranges: Ranges, *, edge: bool, ahead: bool) -> Neighbour:
    """Return a condition on the next or the previous character."""
    return Neighbour(ranges, edge, ahead, narrowest=0, widest=0, peeks=True)


def look(item: Expression, *, ahead: bool, negative: bool, index: int) -> Expression:
    """Return a look-around; of one character it is a condition on the neighbour."""
    if isinstance(item, Chars):
        ranges = complement(item.ranges) if negative else item.ranges
        return neighbour(ranges, edge=negative, ahead=ahead)
    return Look(item, ahead, negative, index, narrowest=0, widest=0, peeks=True)


def atomic(item: Expression, index: int) -> Expression:
    """Return an atomic group; of a text of which there is one only it is that text."""
    if isinstance(item, Chars | Literal) or item is EMPTY:
        return item
    return Atomic(item, index, narrowest=item.narrowest, widest=item.widest, peeks=True)


def sequence(items: Iterable[Expression]) -> Expression:
    """Return one after the other; joins runs of characters and flattens."""
    parts: list[Expression] = []
    run: list[str] = []
    for item in items:
        for part in item.items if isinstance(item, Sequence) else (item,):
            text = _text(part)
            if text is not None:
                run.append(text)
                continue
            if run:
                parts.append(literal("".join(run)))
                run.clear()
            parts.append(part)
    if run:
        parts.append(literal("".join(run)))
    if len(parts) < 2:
        return parts[0] if parts else EMPTY
    return _sequence(tuple(parts))


def _sequence(parts: tuple[Expression, ...]) -> Sequence:
    narrowest = 0
    widest: int | None = 0
    peeks = False
    for part in parts:
        narrowest += part.narrowest
        widest = None if widest is None or part.widest is None else widest + part.widest
        peeks = peeks or part.peeks
    if widest is not None and widest >= MAX_WIDTH:
        widest = None
    return Sequence(parts, narrowest=min(MAX_WIDTH, narrowest), widest=widest, peeks=peeks)


def _text(part: Expression) -> str | None:
    if isinstance(part, Chars):
        code_point = only_member(part.ranges)
        return None if code_point is None else chr(code_point)
    return part.text if isinstance(part, Literal) else None


def choice(alternatives: Iterable[Expression]) -> Expression:
    """Return one of several; flattens."""
    flat: list[Expression] = []
    for each in alternatives:
        if isinstance(each, Choice):
            flat.extend(each.alternatives)
        else:
            flat.append(each)
    if len(flat) == 1:
        return flat[0]
    widths = [each.widest for each in flat]
    known = [width for width in widths if width is not None]
    return Choice(
        tuple(flat),
        narrowest=min(each.narrowest for each in flat),
        widest=max(known) if len(known) == len(widths) else None,
        peeks=any(each.peeks for each in flat),
    )


def repeat(
    item: Expression, minimum: int, maximum: int | None, *, lazy: bool = False
) -> Expression:
    """Return `item` from `minimum` to `maximum` times.

    Raises:
        LimitError: a count is above `MAX_REPEAT`.
    """
    if max(minimum, maximum or 0) > MAX_REPEAT:
        raise LimitError(
            f"a part of the pattern repeats {max(minimum, maximum or 0)} times",
            limit="repetitions",
            value=MAX_REPEAT,
        )
    if (minimum, maximum) == (1, 1):
        return item
    if maximum == 0 or (item.widest == 0 and not item.peeks):
        return EMPTY
    if item.widest == 0:  # a look-around: once is as good as any number of times
        return item if minimum else choice([EMPTY, item])
    if (
        isinstance(item, Repeat)
        and not lazy
        and _is_star(item)
        and (maximum is None or minimum < 2)
    ):
        return item
    widest = None if maximum is None or item.widest is None else item.widest * maximum
    return Repeat(
        item,
        minimum,
        maximum,
        lazy,
        narrowest=min(MAX_WIDTH, item.narrowest * minimum),
        widest=None if widest is None or widest >= MAX_WIDTH else widest,
        peeks=item.peeks,
    )


def _is_star(item: Repeat) -> bool:
    return item.minimum == 0 and item.maximum is None and not item.peeks and not item.lazy
