"""A draft: a tree of tokens that may follow a text, and how sure its drafter is of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from torch import Tensor

# Ids, ascending, (N,) int64, and their probabilities, (N,) float64.
Distribution: TypeAlias = tuple[Tensor, Tensor]


@dataclass(slots=True)
class Draft:
    """What one drafter proposes for one job.

    Attributes:
        tokens: in an order in which each comes after the one before it in the text.
        parents: for each token the place of the one before it; -1: the end of the text so far.
        classes: for each token a small number that says how sure the drafter is, such as the length
            of what it found. How often tokens of a class are accepted is learned.
        distributions: what each token was drawn from, given the tokens before it; None where there
            was no chance in it. Of several tokens after the same one each has that from which it
            was drawn in its turn.
    """

    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    classes: list[int] = field(default_factory=list)
    distributions: list[Distribution | None] = field(default_factory=list)

    def add(
        self, token: int, parent: int, kind: int = 0, distribution: Distribution | None = None
    ) -> int:
        """Append a token after the one at `parent`; return its place."""
        self.tokens.append(token)
        self.parents.append(parent)
        self.classes.append(kind)
        self.distributions.append(distribution)
        return len(self.tokens) - 1

    def add_chain(self, tokens: Sequence[int], parent: int = -1, kind: int = 0) -> int:
        """Append tokens that follow each other; return the place of the last."""
        for token in tokens:
            parent = self.add(token, parent, kind)
        return parent

    def __len__(self) -> int:
        return len(self.tokens)
