"""Tokens drawn by the kernel, all rows at once, are those that each job draws for itself."""

from __future__ import annotations

import pytest
import torch

pytest.importorskip("triton", reason="Triton is not installed (extra gpu)")

from triton.runtime import JITFunction

from guided.decoding import Job, row_draws
from guided.decoding.drafts import Drafter
from guided.decoding.row_draws import RowDraws
from guided.sampling import Sampling, sample_kernel
from tests.decoding.simple_drafters import Scripted
from tests.decoding.table_runner import TableRunner, letters
from tests.decoding.test_speculation import write

# Triton's interpreter does this for each scalar of a kernel.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Conversion of an array with ndim:DeprecationWarning"),
    pytest.mark.skipif(
        isinstance(sample_kernel.sample, JITFunction) and not torch.cuda.is_available(),
        reason="no GPU, and Triton was imported without TRITON_INTERPRET=1",
    ),
]


@pytest.mark.parametrize(
    "drafters", [(), (Scripted(6, 3, chain=True),), (Scripted(6, 5),)], ids=["off", "chain", "tree"]
)
@pytest.mark.parametrize(
    ("grammar", "sampling", "is_drawn"),
    [
        ("(ab|c)abab(a|c)[abc]*", Sampling(temperature=1.3, seed=5), True),
        (None, Sampling(temperature=0.8, top_p=0.9, seed=6), True),
        ("[abc]{4,9}", Sampling(temperature=2.0, repetition_penalty=1.2, seed=7), False),
        ("[abc]{4,9}", Sampling(), False),
    ],
    ids=["grammar", "free", "penalty", "greedy"],
)
def test_texts_are_the_same(
    grammar: str | None,
    sampling: Sampling,
    is_drawn: bool,
    drafters: tuple[Drafter, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[int] = []
    take = RowDraws.take

    def count(draws: RowDraws, row: int, job: Job) -> int | None:
        token = take(draws, row, job)
        if token is not None:
            taken.append(token)
        return token

    vocabulary = letters()
    runner = TableRunner(vocabulary.size, seed=2)
    alone = write(runner, vocabulary, grammar, sampling, drafters, count=2, max_tokens=9)
    monkeypatch.setattr(RowDraws, "take", count)
    monkeypatch.setattr(row_draws, "can_draw", lambda values: True)
    drawn = write(runner, vocabulary, grammar, sampling, drafters, count=2, max_tokens=9)
    assert [job.tokens for job in drawn] == [job.tokens for job in alone]
    assert [job.finish_reason for job in drawn] == [job.finish_reason for job in alone]
    assert [job.error for job in drawn] == [None, None]
    assert bool(taken) is is_drawn
    if is_drawn and not drafters:  # all that was not forced
        assert len(taken) >= sum(len(job.tokens) - job.forced for job in drawn)
