"""Prompt look-up: what followed the last tokens where they stood before."""

from __future__ import annotations

from random import Random

import pytest

from guided.decoding.drafts.prompt import PromptDrafter
from tests.decoding.drafts.asking import ask, job_of, paths, write


@pytest.mark.parametrize(
    ("history", "most", "expected"),
    [
        pytest.param([1, 2, 3], 8, [], id="what has not stood before is not continued"),
        pytest.param([1], 8, [], id="a text of one token"),
        pytest.param([1, 2, 3, 1], 3, [[2, 3, 1]], id="what followed is copied"),
        pytest.param([5, 5], 3, [[5, 5, 5]], id="a copy goes on in itself"),
        pytest.param([1, 2, 1, 2, 1], 5, [[2, 1, 2, 1, 2]], id="with its period"),
        pytest.param([1, 2, 9, 3, 2, 8, 1, 2], 1, [[9]], id="the longest match wins"),
        pytest.param([1, 2, 9, 1, 2, 8, 1, 2], 1, [[8]], id="then the latest"),
        pytest.param([1, 2, 9, 1, 2, 8, 1, 2], 3, [[8, 1, 2]], id="no branch below four"),
        pytest.param([1, 2, 9, 1, 2, 8, 1, 2], 4, [[8, 1, 2], [9]], id="a quarter is a branch"),
        pytest.param(
            [1, 2, 9, 1, 2, 8, 1, 2], 8, [[8, 1, 2, 8, 1, 2], [9, 1]], id="both are copies"
        ),
        pytest.param(
            [2, 7, 1, 2, 9, 1, 2], 4, [[9, 1, 2], [7]], id="a shorter match for the branch"
        ),
        pytest.param([1, 2, 9, 1, 2, 9, 1, 2], 4, [[9, 1, 2, 9]], id="no branch that is the same"),
    ],
)
def test_a_draft_is_a_copy(history: list[int], most: int, expected: list[list[int]]) -> None:
    assert paths(ask(PromptDrafter(), job_of(history), most)) == expected


def test_a_match_is_followed_back_beyond_what_is_looked_up() -> None:
    history = [4, 1, 2, 9, 3, 1, 2, 8, 4, 1, 2]
    assert ask(PromptDrafter(longest=1), job_of(history), 1).tokens == [9]


@pytest.mark.parametrize(
    ("equal", "size"),
    [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (8, 5), (9, 6), (16, 6), (17, 7), (30, 7)],
)
def test_the_class_is_the_length_of_the_match_and_the_depth(equal: int, size: int) -> None:
    match = list(range(100, 100 + equal))
    draft = ask(PromptDrafter(), job_of([*match, *range(20), 50, *match]), 10)
    assert draft.tokens == list(range(10))
    assert draft.classes == [8 * size + depth for depth in (0, 1, 2, 3, 4, 5, 6, 7, 7, 7)]


def copied(
    history: list[int], most: int, longest: int, window: int
) -> tuple[list[int], list[int], list[int]]:
    """Tokens, parents and lengths of matches of a draft, by reading the whole history."""
    end = len(history)
    matches: list[tuple[int, int]] = []
    for size in range(min(longest, end), 0, -1):
        places = [
            place
            for place in range(max(size, end - window), end)
            if history[place - size : place] == history[end - size :]
        ]
        found = []
        for place in places[-4:]:
            equal = size
            while equal < 17 and history[: place - equal][-1:] == history[: end - equal][-1:] != []:
                equal += 1
            found.append((equal, place))
        matches += sorted(found)[::-1]
    if not matches:
        return [], [], []
    chosen = [(*matches[0], most)]
    others = [match for match in matches if history[match[1]] != history[matches[0][1]]]
    if others and most >= 4:
        chosen = [(*matches[0], most - most // 4), (*others[0], most // 4)]
    tokens: list[int] = []
    parents: list[int] = []
    lengths: list[int] = []
    for equal, place, count in chosen:
        text = list(history)
        for number in range(count):
            parents.append(len(tokens) - 1 if number else -1)
            tokens.append(text[place + number])
            text.append(text[place + number])
            lengths.append(equal)
    return tokens, parents, lengths


@pytest.mark.parametrize("letters", [2, 3, 10])
@pytest.mark.parametrize("longest", [1, 3, 4])
@pytest.mark.parametrize("window", [20, 10_000])
def test_it_finds_what_reading_everything_finds(letters: int, longest: int, window: int) -> None:
    random = Random(letters * 100 + longest)
    drafter = PromptDrafter(longest, window)
    job = job_of([random.randrange(letters) for _ in range(random.randrange(1, 60))])
    for _ in range(60):
        most = random.randrange(1, 12)
        draft = ask(drafter, job, most)
        tokens, parents, lengths = copied(job.history, most, longest, window)
        assert (draft.tokens, draft.parents) == (tokens, parents)
        sizes = [min(length, 5 + (length > 8) + (length > 16)) for length in lengths]
        assert [kind // 8 for kind in draft.classes] == sizes
        write(drafter, job, [random.randrange(letters) for _ in range(random.randrange(1, 6))])


def test_a_long_text_takes_no_more_memory_than_its_window() -> None:
    random = Random(0)
    drafter = PromptDrafter(window=50)
    job = job_of([random.randrange(5) for _ in range(300)])
    for _ in range(1000):
        ask(drafter, job)
        places = job.notes[drafter].places
        assert len(places) <= 4 * 50
        assert all(len(job.history) - 50 <= place for kept in places.values() for place in kept)
        assert all(1 <= len(kept) <= 4 for kept in places.values())
        write(drafter, job, [random.randrange(5) for _ in range(random.randrange(1, 4))])


def test_jobs_do_not_know_of_each_other() -> None:
    drafter = PromptDrafter()
    first, second = job_of([1, 2, 1]), job_of([3, 1])
    assert [draft.tokens for draft in drafter.propose([first, second], [2, 2])] == [[2, 1], []]


@pytest.mark.parametrize("sizes", [(0, 10), (4, 0)])
def test_sizes_are_at_least_one(sizes: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="takes at least one token"):
        PromptDrafter(*sizes)
