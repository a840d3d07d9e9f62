"""What is learned of costs and chances, and which guesses it lets pass."""

from __future__ import annotations

import pytest

from guided.decoding.drafts.draft import Draft
from guided.decoding.drafts.pace import Pace, bucket
from guided.decoding.drafts.selection import best_count, select
from guided.decoding.drafts.speculation import Speculator
from guided.decoding.drafts.tree import DraftTree, cut
from tests.decoding.drafts.asking import job_of
from tests.decoding.simple_drafters import Scripted


def pace_of(costs: dict[int, float], jobs: int = 1) -> Pace:
    pace = Pace()
    for rows, seconds in costs.items():
        pace.note_step(jobs, rows, seconds)
    return pace


def test_the_cost_of_a_step_is_what_was_measured() -> None:
    pace = pace_of({1: 10.0, 4: 16.0, 8: 20.0})
    assert [pace.seconds(1, rows) for rows in (1, 4, 8)] == [10.0, 16.0, 20.0]
    assert pace.seconds(1, 2) == pytest.approx(12.0)  # between
    assert pace.seconds(1, 16) > 20.0  # beyond


def test_many_steps_outweigh_one() -> None:
    pace = pace_of({1: 10.0})
    pace.note_step(1, 1, 1000.0)
    assert pace.seconds(1, 1) < 100
    for _ in range(60):
        pace.note_step(1, 1, 12.0)
    assert pace.seconds(1, 1) == pytest.approx(12.0, rel=0.05)


def test_a_first_step_that_was_slow_is_soon_forgotten() -> None:
    pace = pace_of({1: 500.0})
    for _ in range(8):
        pace.note_step(1, 1, 10.0)
    assert pace.seconds(1, 1) < 30


def test_batches_have_costs_of_their_own() -> None:
    pace = pace_of({8: 20.0}, jobs=1)
    pace.note_step(8, 8, 50.0)
    assert (pace.seconds(1, 8), pace.seconds(8, 8)) == (20.0, 50.0)
    assert pace.seconds(9, 8) == 50.0


def test_what_fewer_rows_take_is_not_told_by_more() -> None:
    """Else a batch whose first step was a large one takes all rows up to it for free."""
    pace = pace_of({64: 0.5}, jobs=8)
    assert [pace.reach(8, rows) for rows in (8, 64)] == [8, 128]
    assert pace.reach(1, 100) == 100  # of other batches nothing was seen
    pace.note_step(8, 8, 0.05)
    assert pace.reach(8, 8) == 128


def test_steps_grow_as_it_is_learned_what_they_take() -> None:
    pace = pace_of({8: 0.05}, jobs=8)
    assert pace.reach(8, 8) == 16
    pace.note_step(8, 16, 0.07)
    assert pace.reach(8, 8) == 32
    assert pace.reach(8, 300) == 308  # beside a prompt that is read


def test_no_step_has_guesses_before_one_without_is_known() -> None:
    speculator = Speculator(pace_of({64: 0.5}, jobs=8))
    drafter = Scripted(width=50, chain=True)
    jobs = [job_of([1, 2, 3]) for _ in range(8)]
    for job in jobs:
        job.drafters = (drafter,)

    def draft() -> int:
        trees = speculator.draft(jobs, rows=8, budget=500, room=100, chains=False)
        return sum(map(len, trees))

    assert draft() == 0
    speculator.pace.note_step(8, 8, 0.49)  # then many rows are worth it
    assert draft() > 8


def test_chances_follow_what_was_accepted() -> None:
    pace = Pace()
    assert pace.chance("forced", 0) > pace.chance("prompt", 0) > 0
    for _ in range(100):
        pace.note_guess("prompt", 3, accepted=True)
        pace.note_guess("prompt", 4, accepted=False)
    assert pace.chance("prompt", 3) > 0.95
    assert pace.chance("prompt", 4) < 0.05
    for _ in range(200):
        pace.note_guess("prompt", 3, accepted=False)
    assert pace.chance("prompt", 3) < 0.2  # long ago counts less


@pytest.mark.parametrize("rows", [1, 7, 16, 17, 40, 100, 513])
def test_classes_of_rows_hold_their_rows(rows: int) -> None:
    assert rows <= bucket(rows) <= 1.15 * rows + 1


@pytest.mark.parametrize(
    ("costs", "chances", "count"),
    [
        pytest.param({1: 1.0, 9: 1.0}, [0.5, 0.25, 0.1, 0.01], 4, id="rows for nothing"),
        pytest.param({1: 1.0, 2: 2.0, 9: 9.0}, [0.99] * 8, 0, id="rows like steps"),
        pytest.param({1: 1, 2: 1.7, 4: 2.4, 8: 3.9}, [0.9] * 7, 7, id="long drafts when sure"),
        pytest.param({1: 1, 2: 1.7, 4: 2.6, 8: 3.9}, [0.6, 0.36, 0.2], 0, id="none when not"),
        pytest.param({1: 1, 2: 1.75, 4: 1.52, 8: 1.73}, [0.5, 0.4, 0.3], 3, id="a dear second row"),
    ],
)
def test_as_many_guesses_as_pay(costs: dict[int, float], chances: list[float], count: int) -> None:
    assert best_count(chances, 1, pace_of(costs), 1) == count


def tree_of(*paths: list[int]) -> DraftTree:
    """A tree of point guesses; the chance of each is its token in percent."""
    tree = DraftTree()
    for path in paths:
        draft = Draft()
        draft.add_chain(path)
        tree.merge(draft, "test", lambda source, kind: 0.0)
    for node in tree.nodes:
        node.chance = node.token / 100
    return tree


def test_the_likeliest_guesses_of_all_jobs_are_kept() -> None:
    trees = [tree_of([90, 80, 10], [20, 5]), tree_of([50, 99])]
    pace = pace_of({2: 2.0, 3: 2.1, 4: 2.2, 5: 2.3, 6: 2.4, 7: 12.0}, jobs=2)
    select(trees, pace, 2)
    assert [tree.tokens for tree in trees] == [[90, 80], [50, 99]]


def test_a_chain_takes_the_likelier_way() -> None:
    tree = tree_of([20, 99, 99], [90, 10], [90, 70])
    select([tree], pace_of({1: 1.0, 9: 1.0}), 1, chains=True)
    assert tree.tokens == [90, 70]
    assert tree.is_chain


def test_equal_beginnings_are_one() -> None:
    tree = tree_of([1, 2, 3], [1, 2, 4], [5])
    assert tree.tokens == [1, 2, 3, 4, 5]
    assert tree.parents == [-1, 0, 1, 1, -1]
    assert tree.child(1, 4) == 3
    assert tree.child(1, 9) is None


def test_what_is_forbidden_goes_with_all_that_follows() -> None:
    draft = Draft()
    draft.add_chain([1, 2, 3])
    draft.add_chain([4, 5], parent=0)
    left = cut(draft, [7, -1, -1, 8, 9])
    assert (left.tokens, left.parents) == ([1, 4, 5], [-1, 0, 1])
