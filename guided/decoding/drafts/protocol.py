"""What the step loop asks of whatever guesses the next tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

from guided.decoding.drafts.draft import Draft
from guided.decoding.job import Job


class Drafter(Protocol):
    """Guesses what a job will write, so that the model can check several tokens in one forward.

    A guess never changes what is written, only how fast. One drafter serves all jobs of a loop,
    whose thread makes all calls; what it knows of a job it keeps in `job.notes`, under itself. A
    drafter for several loops at once guards what they share.

    Attributes:
        name: of the source in statistics.
        cost: seconds that it takes for a token, where that counts beside a forward; learned by
            itself, 0.0 where it is next to nothing. A dear drafter is asked for few tokens.
    """

    name: str
    cost: float

    def propose(self, jobs: Sequence[Job], most: Sequence[int]) -> list[Draft]:
        """Guess for each of these jobs what follows its `history`.

        Args:
            jobs: not over; `matcher` stands at the end of the history, and is not to be moved
                (`states_after` and `fork` do not). None: the text is free.
            most: tokens that each may be given, at least one.

        Returns:
            a draft for each, maybe an empty one. What the grammar forbids is cut off later, so
            nothing need be checked.
        """
        ...

    def observe(self, job: Job, tokens: Sequence[int], states: Sequence[int]) -> None:
        """Learn that these tokens were written, whether guessed or not; the history has them.

        Args:
            job: it may be over.
            tokens: at least one; an end token may be the last.
            states: `matcher.state()` before each of them; empty without a matcher.
        """
        ...


# Where drafts come from, by name.
Source: TypeAlias = Literal["forced", "prompt", "states", "lookahead", "assistant", "layers"]
# The option `speculate`: all that pays, nothing, or these.
Speculate: TypeAlias = Literal["auto", "off"] | Sequence[Source | Drafter]
