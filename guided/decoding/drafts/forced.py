"""Guesses of how the model splits text that the grammar dictates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias
from weakref import WeakKeyDictionary

from guided.decoding.drafts.draft import Draft
from guided.decoding.job import Job
from guided.grammar import Automaton, Matcher

# The tokens of the forced text, by the state before it and the token before that.
Known: TypeAlias = dict[tuple[int, int], list[int]]

MOST_KNOWN = 10_000  # places of one automaton whose forced text is kept
MOST_COUNTED = 64  # of one token; then all counts are halved, so that they follow what changes
UNSEEN = 10  # the class of a token that was not met yet


class ForcedDrafter:
    """Proposes what the grammar forces, in the tokens that the model uses to write it.

    The text is sure, but it can be split in several ways. At first it is split as the tokenizer
    would (`Matcher.forced_tokens`). A model that was taught `"a": "b"` does not write `"a":"b"`
    with the token `":"` though; it takes `":` and `"`, as it is used to. So for each token of the
    tokenizer's it is counted which token came in its place, and that one is proposed from then on;
    what follows is then split anew.

    The class of a token is ten times its share of these counts, rounded down, at most 9; 10 where
    the tokenizer's token was not met before. A text that is free has no forced tokens.
    """

    name = "forced"
    cost = 0.0

    def __init__(self) -> None:
        self._habits: dict[int, Counter[int]] = {}  # by the tokenizer's token, what was written
        self._known: WeakKeyDictionary[Automaton, Known] = WeakKeyDictionary()

    def propose(self, jobs: Sequence[Job], most: Sequence[int]) -> list[Draft]:
        """Propose what each matcher forces, at most `most` tokens."""
        return [self._draft(job, count) for job, count in zip(jobs, most, strict=True)]

    def observe(self, job: Job, tokens: Sequence[int], states: Sequence[int]) -> None:
        """Count what was written where text was forced."""
        if job.matcher is None or not states:
            return
        known = self._known.get(job.matcher.automaton)
        if not known:
            return
        written = job.history[-len(tokens) - 1 :]
        before = written[0] if job.history[-1] == tokens[-1] else job.history[-len(tokens)]
        for token, state in zip(tokens, states, strict=True):
            expected = known.get((state, before))
            if expected:
                self._count(expected[0], token)
            before = token

    def _count(self, expected: int, token: int) -> None:
        counts = self._habits.setdefault(expected, Counter())
        counts[token] += 1
        if counts.total() > MOST_COUNTED:
            halved = {other: count // 2 for other, count in counts.items() if count > 1}
            self._habits[expected] = Counter(halved)

    def _draft(self, job: Job, most: int) -> Draft:
        draft = Draft()
        # Mostly several bytes may come next, and the text is not forced. None may where only a
        # token that spells nothing can.
        if job.matcher is None or len(job.matcher.allowed_bytes()) > 1:
            return draft
        known = self._known.setdefault(job.matcher.automaton, {})
        if len(known) > MOST_KNOWN:
            known.clear()
        fork, before = job.matcher.fork(), job.history[-1]
        expected: list[int] = []
        while len(draft) < most:
            expected = expected or split(fork, before, known)
            if not expected:
                break
            known[fork.state(), before] = expected
            token, kind = self._habit(expected[0])
            if token != expected[0] and not fork.can_accept(token):
                token, kind = expected[0], UNSEEN
            draft.add(token, len(draft) - 1, kind)
            fork.accept(token)
            expected = expected[1:] if token == expected[0] else []
            before = token
        return draft

    def _habit(self, expected: int) -> tuple[int, int]:
        """Return what the model writes in the place of a token, and the class of that."""
        counts = self._habits.get(expected)
        if not counts:
            return expected, UNSEEN
        token, count = counts.most_common(1)[0]
        return token, min(9, 10 * count // counts.total())


def split(matcher: Matcher, before: int, known: Known) -> list[int]:
    """Return the tokens of the text that must come, as the tokenizer would write it."""
    tokens = known.get((matcher.state(), before))
    return matcher.forced_tokens() if tokens is None else tokens
