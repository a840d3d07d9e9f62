"""Drafts for the jobs of a step, and what is learned from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeGuard

from guided.decoding.drafts.draft import Draft
from guided.decoding.drafts.pace import Pace
from guided.decoding.drafts.protocol import Drafter
from guided.decoding.drafts.selection import select
from guided.decoding.drafts.tree import DraftTree, cut
from guided.decoding.job import Job
from guided.errors import GuidedError

MOST = 32  # tokens that one drafter is asked for
# Steps without a guess after which one is made all the same, to see whether times have changed;
# twice as many each time that it was in vain.
PROBE, RAREST = 16, 512
# After so many steps with guesses one is made without, to know what it would take; and before the
# first one.
CONTROL = 24


class Branching(Drafter, Protocol):
    """A drafter that has rows of its own run to learn from what the model says after them."""

    def branches(self, job: Job) -> tuple[list[int], list[int]]:
        """Return tokens and parents, -1 for the end of the history; none to leave it."""
        ...

    def see(self, job: Job, best: list[int]) -> None:
        """Take the most likely token after each of these tokens."""
        ...


@dataclass(slots=True)
class Tally:
    """How many tokens of a source were run, and how many of them were accepted."""

    drafted: int = 0
    accepted: int = 0


class Speculator:
    """Decides what is drafted, and learns from what is accepted and how long steps take.

    Attributes:
        pace: what was learned.
        tallies: by source.
    """

    def __init__(self, pace: Pace | None = None) -> None:
        self.pace = Pace() if pace is None else pace
        self.tallies: dict[str, Tally] = {}
        self._idle, self._patience = 0, PROBE
        self._busy = 0  # steps with guesses since one without

    def draft(
        self, jobs: Sequence[Job], *, rows: int, budget: int, room: int, chains: bool
    ) -> list[DraftTree]:
        """Have the next tokens of jobs guessed, as far as that is worth its while.

        Args:
            jobs: B of them, which write in this step.
            rows: of the step without drafts.
            budget: rows that may be added at most.
            room: tokens of cache that may be added for each job.
            chains: whether the model takes no trees.

        Returns:
            a tree for each, maybe an empty one.
        """
        trees = [DraftTree() for _ in jobs]
        budget = min(budget, self.pace.reach(len(jobs), rows) - rows)
        if self._busy >= CONTROL or budget <= 0:
            self._busy = 0
            return trees
        left = [
            min(job.max_tokens - len(job.tokens), room, budget // max(1, len(jobs)))
            if job.drafters
            else 0
            for job in jobs
        ]
        probe = self._idle >= self._patience
        for drafter in unique(drafter for job in jobs for drafter in job.drafters):
            places = [
                place for place, job in enumerate(jobs) if drafter in job.drafters and left[place]
            ]
            depth = min(MOST, self._depth(drafter, len(places), rows, probe))
            if not places or depth < 1:
                continue
            asked = [jobs[place] for place in places]
            drafts = drafter.propose(asked, [min(depth, left[place]) for place in places])
            for place, draft in zip(places, drafts, strict=True):
                draft = allowed(jobs[place], draft)
                trees[place].merge(draft, drafter.name, self.pace.chance)
                left[place] -= len(draft)
        if any(map(len, trees)):
            select(trees, self.pace, rows, chains=chains, probe=probe)
        self._note_idle(any(map(len, trees)), probe)
        self._add_branches(jobs, trees, rows, left, chains)
        return trees

    def learn(self, job: Job, tree: DraftTree, path: Sequence[int], tokens: Sequence[int]) -> None:
        """Learn from what became of a tree.

        Args:
            path: the places that were accepted.
            tokens: all that were written; one more than the path where a token was chosen at its
                end that the tree does not have.
        """
        reached = [-1, *path][: len(tokens)]
        accepted = set(path)
        for place in range(tree.guesses):
            node = tree.nodes[place]
            for source, kind in node.origins:
                tally = self.tallies.setdefault(source, Tally())
                tally.drafted += 1
                tally.accepted += place in accepted
                if node.parent in reached:
                    self.pace.note_guess(source, kind, place in accepted)
        if path:
            self._patience = PROBE
        if job.drafters:
            states = states_before(job, tokens)
            for drafter in job.drafters:
                drafter.observe(job, tokens, states)

    def see(self, job: Job, best: Sequence[int]) -> None:
        """Hand the most likely tokens after its branches to the drafter they are of."""
        for drafter in job.drafters:
            if is_branching(drafter):
                drafter.see(job, list(best))
                return

    def _depth(self, drafter: Drafter, jobs: int, rows: int, probe: bool) -> int:
        """Return how many tokens to ask a drafter for, whose own time counts."""
        if drafter.cost == 0.0 or jobs == 0:
            return MOST
        chance = self.pace.chance(drafter.name)
        best, most = 0, jobs / self.pace.seconds(jobs, rows)
        gain, reach = float(jobs), 1.0
        for depth in range(1, MOST + 1):
            reach *= chance
            gain += jobs * reach
            seconds = self.pace.seconds(jobs, rows + depth * jobs) + depth * drafter.cost
            if gain / seconds > most:
                best, most = depth, gain / seconds
        return max(best, int(probe))

    def _note_idle(self, drafted: bool, probe: bool) -> None:
        """Count the steps since there was a guess."""
        if probe:
            self._idle, self._patience = 0, min(2 * self._patience, RAREST)
        elif drafted:
            self._idle, self._busy = 0, self._busy + 1
        else:
            self._idle, self._busy = self._idle + 1, 0

    def _add_branches(
        self,
        jobs: Sequence[Job],
        trees: Sequence[DraftTree],
        rows: int,
        left: Sequence[int],
        chains: bool,
    ) -> None:
        """Add rows to learn from, where they cost little or what they taught has paid for them."""
        if chains:
            return
        for place, job in enumerate(jobs):
            for drafter in job.drafters:
                if not is_branching(drafter):
                    continue
                tokens, parents = drafter.branches(job)
                count = len(tokens)
                total = rows + sum(map(len, trees))
                before, after = (self.pace.seconds(len(jobs), total + n) for n in (0, count))
                # A branch teaches as many n-grams as it has columns, of which one may serve the
                # next step; it has to add as much as it costs.
                worth = 1 + self.pace.chance(drafter.name) / len(jobs)
                if 0 < count <= left[place] and after <= worth * before:
                    trees[place].add_branches(tokens, parents)
                break


def is_branching(drafter: Drafter) -> TypeGuard[Branching]:
    """Whether a drafter wants rows of its own."""
    return hasattr(drafter, "branches")


def allowed(job: Job, draft: Draft) -> Draft:
    """Cut a draft by the grammar of its job."""
    if job.matcher is None or not len(draft):
        return draft
    try:
        return cut(draft, job.matcher.states_after(draft.tokens, draft.parents))
    except GuidedError:  # a state is too large: whoever comes there without a draft is told so
        return Draft()


def states_before(job: Job, tokens: Sequence[int]) -> list[int]:
    """Return the state before each of the tokens that were written last; none without a grammar."""
    if job.matcher is None or not tokens:
        return []
    back = job.matcher.fork()
    back.rollback(len(tokens))
    return [back.state(), *back.states_after(tokens[:-1])]


def unique(drafters: Iterable[Drafter]) -> list[Drafter]:
    """Return each drafter once, in their order."""
    return list(dict.fromkeys(drafters))
