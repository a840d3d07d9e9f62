"""The n-gram pool: from texts, from what is written, and from Jacobi iterations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import pytest

from guided.decoding import Job
from guided.decoding.drafts import Draft
from guided.decoding.drafts.lookahead import LookaheadDrafter
from guided.decoding.drafts.pool import SequencePool
from tests.decoding.drafts.asking import ask, job_of, paths, write


def after_one(text: Sequence[int]) -> int:
    """A model that goes by the last token; it walks 0 to 10 in one circle."""
    return (text[-1] * 2 + 1) % 11 if text[-1] != 10 else 10


def after_two(text: Sequence[int]) -> int:
    """One that goes by the last two tokens."""
    return (text[-2] * 3 + text[-1] * 5 + 1) % 7


@pytest.mark.parametrize(
    ("texts", "last", "most", "expected"),
    [
        pytest.param([[1, 2, 3]], 9, 8, [], id="an unknown token"),
        pytest.param([[1, 2, 3]], 3, 8, [], id="one that nothing followed"),
        pytest.param([[1, 2, 3, 4]], 1, 8, [[2, 3, 4]], id="three tokens follow"),
        pytest.param([[1, 2, 3, 4]], 3, 8, [[4]], id="fewer at the end of a text"),
        pytest.param([[1, 2, 3, 4, 5, 6]], 1, 8, [[2, 3, 4, 5, 6]], id="its end goes on"),
        pytest.param([[1, 2, 3, 4, 5, 6]], 1, 4, [[2, 3, 4, 5]], id="as far as there is room"),
        pytest.param([[1, 2, 1, 2, 1]], 1, 7, [[2, 1, 2, 1, 2, 1, 2]], id="or round and round"),
        pytest.param([[1, 2, 3], [1, 4, 5]], 1, 8, [[4, 5], [2, 3]], id="the latest first"),
        pytest.param(
            [[1, 4, 5], [1, 2, 3], [1, 4, 5]], 1, 8, [[4, 5], [2, 3]], id="also if it was known"
        ),
        pytest.param([[1, 2, 3], [1, 2, 5]], 1, 8, [[2, 5], [2, 3]], id="common beginnings"),
        pytest.param([[1, 2, 3], [1, 4, 5]], 1, 3, [[4, 5], [2]], id="the last one is cut"),
    ],
)
def test_a_draft_is_what_the_pool_has(
    texts: list[list[int]], last: int, most: int, expected: list[list[int]]
) -> None:
    drafter = LookaheadDrafter(texts, size=4)
    assert paths(ask(drafter, job_of([0, last]), most)) == expected


def test_sequences_with_a_common_beginning_share_its_tokens() -> None:
    draft = ask(LookaheadDrafter([[1, 2, 3], [1, 2, 5]]), job_of([1]))
    assert (draft.tokens, draft.parents) == ([2, 5, 3], [-1, 0, 0])


def test_the_class_is_the_rank_and_the_depth() -> None:
    draft = ask(LookaheadDrafter([[1, 2, 3], [1, 4, 5]], size=3), job_of([1]))
    assert (draft.tokens, draft.classes) == ([4, 5, 2, 3], [0, 1, 8, 9])


def test_what_is_written_is_pooled_for_all_jobs() -> None:
    drafter = LookaheadDrafter(size=3, branching=False)
    job = job_of([8, 9])
    for tokens in ([1], [2, 3], [4, 5]):
        write(drafter, job, tokens)
    assert paths(ask(drafter, job_of([1]), 2)) == [[2, 3]]
    assert paths(ask(drafter, job_of([9]), 2)) == [[1, 2]]
    assert paths(ask(drafter, job_of([8]), 2)) == [[9, 1]]
    assert paths(ask(drafter, job_of([4]), 2)) == []  # two tokens are no sequence of three yet


def test_without_branching_nothing_is_run() -> None:
    drafter = LookaheadDrafter(branching=False)
    assert drafter.branches(job_of([1, 2])) == ([], [])


def heard(
    model: Callable[[Sequence[int]], int], history: Sequence[int], tree: tuple[list[int], list[int]]
) -> list[int]:
    """What the model writes after each token of a tree, seeing the path that leads to it."""
    texts: list[list[int]] = []
    for token, parent in zip(*tree, strict=True):
        texts.append([*(texts[parent] if parent >= 0 else history), token])
    return [model(text) for text in texts]


def test_branches_are_a_chain_with_a_column_at_each_token() -> None:
    drafter = LookaheadDrafter(size=4, width=3)
    job = job_of([3, 6])
    for length in (1, 2, 3, 3):
        tokens, parents = drafter.branches(job)
        assert len(tokens) == 3 * length
        firsts = [column * length for column in range(3)]
        for place, parent in enumerate(parents):
            expected = place - length if place in firsts else place - 1
            assert parent == max(expected, -1)
        drafter.see(job, heard(after_one, job.history, (tokens, parents)))


@pytest.mark.parametrize("model", [after_one, after_two])
def test_the_pool_fills_with_what_the_model_would_write(
    model: Callable[[Sequence[int]], int],
) -> None:
    drafter = LookaheadDrafter(size=4, width=6)
    job = job_of([0, 1, 2, 3, 4, 5])
    for _ in range(20):
        drafter.see(job, heard(model, job.history, drafter.branches(job)))
    assert len(drafter) > 6
    for first in range(11):
        for path in paths(ask(drafter, job_of([first]), 48)):
            text = [first, *path[:3]]
            assert all(model(text[:end]) == text[end] for end in (2, 3))
            assert model is after_two or model(text[:1]) == text[1]


def test_columns_follow_the_text() -> None:
    drafter = LookaheadDrafter(size=3, width=4)
    job = job_of([0])
    drafter.branches(job)
    drafter.see(job, [1, 2, 3, 4])
    assert drafter.branches(job)[0] == [0, 1, 0, 2, 0, 3, 0, 4]
    drafter.see(job, [0, 5, 0, 6, 0, 7, 0, 8])  # now each has three tokens, and loses its first one
    write(drafter, job, [9])
    assert drafter.branches(job)[0] == [1, 5, 2, 6, 3, 7, 4, 8]
    write(drafter, job, [9, 9, 9])  # two more than one: two columns are passed by
    assert drafter.branches(job)[0] == [3, 7, 4, 8, 0, 0]


def test_a_beginning_of_the_branches_may_be_run() -> None:
    drafter = LookaheadDrafter(size=3, width=3)
    job = job_of([0])
    drafter.branches(job)
    drafter.see(job, [1, 2])
    assert drafter.branches(job) == ([0, 1, 0, 2, 0], [-1, 0, 0, 2, 2])


def test_what_is_seen_late_is_pooled() -> None:
    drafter = LookaheadDrafter(size=2, width=2)
    job = job_of([7])
    drafter.branches(job)
    write(drafter, job, [1, 2, 3])
    drafter.see(job, [4, 5])
    assert paths(ask(drafter, job_of([7]), 2)) == [[5], [4]]


def accepted(
    model: Callable[[Sequence[int]], int], history: Sequence[int], draft: Draft
) -> list[int]:
    """The path through a draft that the model agrees with, and the token after it."""
    text = list(history)
    parent = -1
    while True:
        token = model(text)
        text.append(token)
        following = [
            place
            for place, before in enumerate(draft.parents)
            if before == parent and draft.tokens[place] == token
        ]
        if not following:
            return text[len(history) :]
        (parent,) = following


@pytest.mark.parametrize(
    ("model", "steps"), [(after_one, 8), (after_two, 60)], ids=["one token", "two tokens"]
)
def test_in_the_end_a_whole_sequence_is_accepted_each_time(
    model: Callable[[Sequence[int]], int], steps: int
) -> None:
    drafter = LookaheadDrafter(size=4, width=6)
    job = job_of([0, 1, 2, 3])
    plain = list(job.history)
    for step in range(2 * steps):
        draft = ask(drafter, job, 64)
        tokens = accepted(model, job.history, draft)
        tree = drafter.branches(job)
        drafter.see(job, heard(model, job.history, tree))
        write(drafter, job, tokens)
        if step >= steps:
            assert len(tokens) >= 4
    while len(plain) < len(job.history):
        plain.append(model(plain))
    assert job.history == plain


def test_the_pool_is_bounded() -> None:
    random = Random(1)
    pool = SequencePool(most_each=4, most=30)
    latest: list[tuple[int, ...]] = []
    for _ in range(2000):
        sequence = tuple(random.randrange(20) for _ in range(3))
        pool.add(sequence)
        latest.append(sequence)
        assert next(pool.tails(sequence[0])) == sequence[1:]
        assert len(pool) == sum(len(list(pool.tails(first))) for first in range(20)) <= 30
        assert all(len(list(pool.tails(first))) <= 4 for first in range(20))


def test_of_one_token_the_oldest_sequence_goes_first() -> None:
    pool = SequencePool(most_each=2, most=100)
    for sequence in ([1, 2], [1, 3], [1, 2], [1, 4]):
        pool.add(sequence)
    assert list(pool.tails(1)) == [(4,), (2,)]


def test_in_all_the_token_goes_first_that_was_added_to_last() -> None:
    pool = SequencePool(most_each=2, most=3)
    for sequence in ([1, 2], [2, 3], [1, 4], [3, 5]):
        pool.add(sequence)
    assert [list(pool.tails(first)) for first in (1, 2, 3)] == [[(4,), (2,)], [], [(5,)]]


def test_columns_of_a_job_are_bounded() -> None:
    drafter = LookaheadDrafter(size=4, width=5, most=50)
    random = Random(2)
    job: Job = job_of([0])
    for _ in range(500):
        tokens, parents = drafter.branches(job)
        assert len(tokens) <= 5 * 3
        drafter.see(job, [random.randrange(30) for _ in parents])
        write(drafter, job, [random.randrange(30) for _ in range(random.randrange(1, 9))])
    assert len(drafter) <= 50


@pytest.mark.parametrize("option", ["size", "width", "most", "most_each"])
def test_sizes_are_at_least_one(option: str) -> None:
    with pytest.raises(ValueError, match=f"{option}=0"):
        LookaheadDrafter(**{option: 0})  # type: ignore[arg-type]
