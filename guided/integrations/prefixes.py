"""Matchers by what a sequence has written so far, wherever that comes from.

Loops that search take sequences up again at any earlier place and go on from it in several ways. So
a matcher belongs to a text, not to a row of the batch: outputs form a tree, and each of its places
has the matcher that accepted the tokens on the way to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from typing import Literal

from guided.errors import TokenRejected
from guided.grammar import Automaton, Matcher

# Of the places that were reached last. An earlier one gets its matcher again from the next one
# above it, which takes less than a microsecond a token.
MATCHERS = 512
PLACES = 200_000

Refused = Literal["raise", "end"]


class Place:
    """One output so far.

    Attributes:
        parent, token: the output before its last token, and that token.
        children: outputs that are longer by one token.
        matcher: it has accepted this output; None where it was given up.
        is_over: nothing comes after this, and what does is padding.
    """

    __slots__ = ("children", "is_over", "matcher", "parent", "token")

    def __init__(
        self, parent: Place | None, token: int, matcher: Matcher | None, is_over: bool
    ) -> None:
        self.parent = parent
        self.token = token
        self.matcher = matcher
        self.is_over = is_over
        self.children: dict[int, Place] = {}


class OutputTree:
    """All outputs under one automaton that a loop may come back to.

    Args:
        automaton: of all of them.
        ends: tokens that end an output also where the grammar does not let it end: those that
            loops put after a sequence that was stopped by something else.
        refused: what becomes of an output that the grammar refuses: "raise", or "end", where it
            is over.
        matchers: how many are kept.
    """

    def __init__(
        self,
        automaton: Automaton,
        *,
        ends: Collection[int] = (),
        refused: Refused = "raise",
        matchers: int = MATCHERS,
    ) -> None:
        self.automaton = automaton
        self._ends = frozenset(ends)
        self._refused = refused
        self._bound = matchers
        self.clear()

    def clear(self) -> None:
        """Forget all outputs. Places that are held go on to work."""
        self.root = Place(None, -1, self.automaton.matcher(), is_over=False)
        self._size = 1
        self._recent: deque[Place] = deque()

    def follow(self, tokens: Sequence[int], start: Place | None = None, before: int = 0) -> Place:
        """Return the place of an output.

        Args:
            tokens: all of it, or what comes after `start`.
            start: where the tokens go on from; None: the beginning.
            before: how many tokens there are before `start`, for the error alone.

        Raises:
            TokenRejected: the grammar refuses it; `place` names the token by its number.
        """
        place = self.root if start is None else start
        for number, token in enumerate(tokens, before):
            try:
                place = place.children.get(token) or self.step(place, token)
            except TokenRejected as error:
                error.place = f"at token {number} of the output"
                raise
        return place

    def step(self, place: Place, token: int) -> Place:
        """Return the place one token further.

        Raises:
            TokenRejected: the grammar refuses the token.
        """
        if place.is_over:
            return place
        if (known := place.children.get(token)) is not None:
            return known
        matcher = self.matcher(place).fork()
        try:
            matcher.accept(token)
        except TokenRejected:
            if token not in self._ends and self._refused == "raise":
                raise
            child = Place(place, token, None, is_over=True)
        else:
            child = Place(place, token, matcher, is_over=matcher.is_terminated)
            self._remember(child)
        if self._size >= PLACES:
            self.clear()
        else:
            place.children[token] = child
            self._size += 1
        return child

    def matcher(self, place: Place) -> Matcher:
        """Return the matcher of a place that is not over. It must not be moved: fork it."""
        if place.matcher is not None:
            return place.matcher
        tokens = []
        above = place
        while above.matcher is None:
            tokens.append(above.token)
            assert above.parent is not None  # the root keeps its matcher
            above = above.parent
        place.matcher = above.matcher.fork()
        place.matcher.accept_all(tokens[::-1])
        self._remember(place)
        return place.matcher

    def _remember(self, place: Place) -> None:
        """Give up the oldest matcher if there are too many."""
        self._recent.append(place)
        if len(self._recent) > self._bound:
            self._recent.popleft().matcher = None
