"""Guesses that are none: what the grammar dictates, as the tokenizer would write it."""

from __future__ import annotations

from collections.abc import Sequence

from guided.decoding.drafts.draft import Draft
from guided.decoding.job import Job
from guided.grammar import Matcher


class ForcedDrafter:
    """Proposes the tokens that the grammar forces, in one chain of class 0.

    They are those of `Matcher.forced_tokens`: forced text tokenized together with the text before
    it, cut where what follows could change its tokens. The model may still prefer another way to
    split the same text, which is why they are proposed and not just written.

    It remembers nothing. A text that is free has no forced tokens.
    """

    name = "forced"
    cost = 0.0

    def propose(self, jobs: Sequence[Job], most: Sequence[int]) -> list[Draft]:
        """Propose what each matcher forces, at most `most` tokens."""
        return [self._draft(job.matcher, count) for job, count in zip(jobs, most, strict=True)]

    def observe(self, job: Job, tokens: Sequence[int], states: Sequence[int]) -> None:
        """Do nothing: the grammar is known beforehand."""

    def _draft(self, matcher: Matcher | None, most: int) -> Draft:
        draft = Draft()
        # Mostly several bytes may come next, and the text is not forced. None may where only a
        # token that spells nothing can.
        if matcher is not None and len(matcher.allowed_bytes()) <= 1:
            draft.add_chain(matcher.forced_tokens()[:most])
        return draft
