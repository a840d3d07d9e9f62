"""The draft of one job while it is written."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from random import Random

from torch import Tensor

from guided.decoding.drafts.assistant_choice import CLASSES, Choice, Wish
from guided.decoding.drafts.assistant_sequences import Held
from guided.decoding.drafts.draft import Draft
from guided.decoding.job import Job
from guided.decoding.writing import only_ends
from guided.errors import GuidedError
from guided.grammar import Matcher
from guided.sampling import Sampler
from guided.vocabulary import Vocabulary


@dataclass(slots=True, eq=False)
class Line:
    """A draft that grows, and what its job and its model know at its end.

    Attributes:
        job: whom it is for.
        held: the sequence of the model.
        most: tokens that it may get.
        pending: tokens that the model has not seen yet; the logits after the last of them give the
            next token.
        matcher: at the end of the draft; None: the text is free.
        sampler: how tokens are chosen at the end of the draft.
        random: what they are drawn by.
        draft: so far.
        sure: the product of the probabilities along it.
        end: the place of its last token.
        is_open: whether more may come.
    """

    job: Job
    held: Held
    most: int
    pending: list[int]
    matcher: Matcher | None
    sampler: Sampler
    random: Random
    draft: Draft = field(default_factory=Draft)
    sure: float = 1.0
    end: int = -1
    is_open: bool = True

    def wish(self, branches: int) -> Wish:
        """Say what is to be chosen next: several tokens where the draft begins."""
        count = 1 if self.draft.tokens else branches
        return Wish(self.sampler, self.random, count, self.matcher is None)

    def add(self, choices: Sequence[Choice], ends: Container[int], floor: float) -> None:
        """Add choices side by side, and go on behind the first of them.

        The first is added however unlikely it is, and only what would come after it is left out:
        tokens that are drawn and then left out for what they are would change what is written.
        """
        room = self.most - len(self.draft)
        places = [
            self.draft.add(choice.token, self.end, choice.kind, choice.distribution)
            for choice in choices[:room]
        ]
        if not places:
            self.is_open = False
            return
        first = choices[0]
        self.sure *= first.probability
        self.end = places[0]
        self._append(first.token)
        if first.token in ends or self.sure < floor:
            self.is_open = False
        elif self.is_open:
            self._accept(first.token)

    def add_forced(self) -> None:
        """Add what the grammar forces, as the step loop would write it; it needs no logits."""
        while self.is_open and self.matcher is not None:
            try:
                forced = self.matcher.forced_tokens()
            except GuidedError:
                self.is_open = False
                return
            if not forced:
                return
            for token in forced[: self.most - len(self.draft)]:
                self.end = self.draft.add(token, self.end, CLASSES - 1)
                self._append(token)
                if self.is_open:
                    self._accept(token)

    def check_end(self, mask: Tensor, vocabulary: Vocabulary) -> None:
        """Close the draft where its text can only end: the loop needs no token to know that.

        Args:
            mask: (W,) int32 on the CPU, of `matcher`.
            vocabulary: of the grammar.
        """
        if self.matcher is None or not (self.matcher.is_complete or self.matcher.is_terminated):
            return
        if not self.matcher.allowed_bytes() and only_ends(mask, vocabulary):
            self.is_open = False

    def _append(self, token: int) -> None:
        self.pending.append(token)
        self.held.drafted.append(token)
        if self.sampler is not self.job.sampler:
            self.sampler.observe(token)
        if len(self.draft) >= self.most:
            self.is_open = False

    def _accept(self, token: int) -> None:
        if self.matcher is not None:
            try:
                self.matcher.accept(token)
            except GuidedError:  # a bound of the grammar: the job itself will tell
                self.is_open = False
