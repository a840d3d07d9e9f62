"""The drafts of a job as one tree: equal beginnings are checked once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from guided.decoding.drafts.draft import Distribution, Draft

# Who proposed a token, and the class it gave it.
Origin = tuple[str, int]


@dataclass(slots=True)
class Node:
    """A token of a tree.

    Attributes:
        token, parent: as in a draft.
        chance: estimated, that it is accepted if its parent is.
        origins: all that proposed it.
        is_drawn: whether a drafter drew it by chance. Such a token is never left out afterwards:
            that could hang on which token it is, and then the accept rule would not be exact.
    """

    token: int
    parent: int
    chance: float
    origins: list[Origin] = field(default_factory=list)
    is_drawn: bool = False


class DraftTree:
    """Drafts put together.

    Attributes:
        nodes: each after its parent.
        branches: how many of the last nodes are no guess of what comes, but are run to learn from
            what the model says after them (the branches of lookahead decoding).
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.branches = 0
        self._children: dict[tuple[int, int], int] = {}  # (parent, token) to place
        self._drawn: dict[int, list[tuple[Distribution, int]]] = {}  # by parent, in turn

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def guesses(self) -> int:
        """How many nodes are guesses; they come before the branches."""
        return len(self.nodes) - self.branches

    @property
    def tokens(self) -> list[int]:
        """Of all nodes."""
        return [node.token for node in self.nodes]

    @property
    def parents(self) -> list[int]:
        """Of all nodes; -1: the end of the text."""
        return [node.parent for node in self.nodes]

    @property
    def is_chain(self) -> bool:
        """Whether each token follows the one before it."""
        return all(node.parent == place - 1 for place, node in enumerate(self.nodes))

    def child(self, parent: int, token: int) -> int | None:
        """Return the place of a token after the one at `parent` (-1: the text), if it is there."""
        return self._children.get((parent, token))

    def children(self, parent: int) -> list[int]:
        """Return the places of all guesses after the one at `parent`."""
        return [place for (above, _), place in self._children.items() if above == parent]

    def drawn(self, parent: int) -> Sequence[tuple[Distribution, int]]:
        """Return what was drawn by chance after `parent`: from what, and the place of the token."""
        return self._drawn.get(parent, ())

    def merge(self, draft: Draft, source: str, chance: Callable[[str, int], float]) -> None:
        """Add the tokens of a draft that are not there yet.

        Args:
            draft: its tokens are allowed.
            source: the name of its drafter.
            chance: from a source and a class to the chance that such a token is accepted.
        """
        places: list[int] = []
        for index, token in enumerate(draft.tokens):
            above = draft.parents[index]
            parent = places[above] if above >= 0 else -1
            origin = (source, draft.classes[index])
            place = self._add(token, parent, origin, chance(*origin))
            distribution = draft.distributions[index]
            if distribution is not None:
                self.nodes[place].is_drawn = True
                self._drawn.setdefault(parent, []).append((distribution, place))
            places.append(place)

    def keep(self, wanted: Sequence[int]) -> None:
        """Leave out all nodes but these, given in ascending order, each with its parent."""
        moved = {place: index for index, place in enumerate(wanted)}
        moved[-1] = -1
        self.nodes = [self.nodes[place] for place in wanted]
        for node in self.nodes:
            node.parent = moved[node.parent]
        self._children = {(node.parent, node.token): place for place, node in enumerate(self.nodes)}
        self._drawn = {
            moved[parent]: [
                (distribution, moved[place]) for distribution, place in drawn if place in moved
            ]
            for parent, drawn in self._drawn.items()
            if parent in moved
        }

    def add_branches(self, tokens: Sequence[int], parents: Sequence[int]) -> None:
        """Append nodes that are no guesses; `parents` counts from the first of them."""
        start = len(self.nodes)
        for token, parent in zip(tokens, parents, strict=True):
            self.nodes.append(Node(token, parent + start if parent >= 0 else -1, 0.0))
        self.branches = len(tokens)

    def _add(self, token: int, parent: int, origin: Origin, chance: float) -> int:
        place = self._children.get((parent, token))
        if place is None:
            place = len(self.nodes)
            self.nodes.append(Node(token, parent, chance, [origin]))
            self._children[parent, token] = place
        else:
            node = self.nodes[place]
            node.chance = max(node.chance, chance)
            if origin not in node.origins:
                node.origins.append(origin)
        return place


def cut(draft: Draft, states: Sequence[int]) -> Draft:
    """Leave out the tokens of a draft that the grammar forbids.

    Args:
        states: the state after each of its tokens, -1 where it is not allowed; as
            `Matcher.states_after` gives them, so nothing follows a token that is not allowed.
    """
    if all(state >= 0 for state in states):
        return draft
    kept = Draft()
    moved = {-1: -1}
    for place, state in enumerate(states):
        if state >= 0:
            moved[place] = kept.add(
                draft.tokens[place],
                moved[draft.parents[place]],
                draft.classes[place],
                draft.distributions[place],
            )
    return kept
