"""Lengths of texts that one character cuts in two: `X* M Y*`, as `\\S` anywhere in a text is.

How long the first run is decides how long the second one may be, so the texts are written out by
the length of the first: where it has i characters, the second takes what is left of the bounds.
That is a chain of choices, `M Y{3,}` or `X` and then `M Y{2,}` or `X` ..., with a few nodes for
each length. A product with a count of the characters would have a state for each count, and masks
of its own for each of them; here what follows the M is one counted run.
"""

from __future__ import annotations

from guided._core import Arena

# Lengths of the first run that are written out: for a minimum all must be, above that only some.
MAX_CHAIN = 10_000
_WITHOUT_MINIMUM = 500


def share_lengths(
    arena: Arena, first: int, middle: int, then: int, minimum: int, maximum: int | None, owed: int
) -> int | None:
    """Return the texts of `first* middle then*` of which the runs have so many characters.

    Args:
        arena: holds the nodes.
        first, middle, then: nodes that match one character each.
        minimum, maximum: of the characters of both runs together, the maximum not below.
        owed: how many the second run has at least, at most `minimum`.

    Returns:
        The node, or None if it would be large, or if a text could be read in so many ways that all
        would have to be kept in mind.
    """
    if minimum - owed > MAX_CHAIN:
        return None
    character = arena.choice([first, middle, then])
    if not _are_apart(arena, first, middle):
        if _holds(arena, then, character):
            # The first of the characters that may stand in the middle will do.
            first = arena.minus(first, middle)
        elif owed == 0 and _holds(arena, first, character):
            # The last one will.
            then = arena.minus(then, middle)
        elif not _are_apart(arena, then, middle):
            return None
    length = minimum - owed
    node = arena.sequence([arena.repeat(first), middle, arena.repeat(then, owed)])
    if maximum is not None:
        length = min(max(length, _WITHOUT_MINIMUM), maximum - owed)
        # What is seldom reached is a product. It has no minimum left to count.
        node = arena.both(node, arena.repeat(character, 0, maximum - length + 1))
    for count in reversed(range(length)):
        most = None if maximum is None else maximum - count
        here = arena.sequence([middle, arena.repeat(then, max(owed, minimum - count), most)])
        node = arena.choice([here, arena.sequence([first, node])])
    return node


def _are_apart(arena: Arena, a: int, b: int) -> bool:
    return arena.is_void(arena.both(a, b))


def _holds(arena: Arena, wide: int, narrow: int) -> bool:
    return arena.is_void(arena.minus(narrow, wide))
