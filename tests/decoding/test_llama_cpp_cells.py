"""Which cells hold something, against sets of what each sequence holds."""

from __future__ import annotations

import random

import pytest

from guided.decoding.models.llama_cpp import Cells


@pytest.mark.parametrize("seed", range(20))
def test_counts_are_those_of_sets(seed: int) -> None:
    chance = random.Random(seed)
    cells = Cells(50)
    users: list[list[int]] = []
    idle: list[list[int]] = []
    for _ in range(300):
        action = chance.choice(["take", "share", "retire", "drop", "cut"])
        if action == "take" and cells.free:
            users.append(cells.take(chance.randint(1, min(5, cells.free))))
        elif action == "share" and (source := chance.choice([*users, *idle, []])):
            users.append(source[: chance.randint(1, len(source))])
            cells.share(users[-1])
        elif action == "retire" and users:
            idle.append(users.pop(chance.randrange(len(users))))
            cells.retire(idle[-1])
        elif action == "drop" and idle:
            cells.drop(idle.pop(chance.randrange(len(idle))))
        elif action == "cut" and users:
            held = chance.choice(users)
            gone = held[chance.randint(0, len(held)) :]
            del held[len(held) - len(gone) :]
            cells.retire(gone)
            cells.drop(gone)
        used = {cell for held in users for cell in held}
        kept = used.union(*idle)
        assert cells.room == 50 - len(used)
        assert cells.free == 50 - len(kept)
        assert cells.shared == sum(sum(cell in held for held in users) > 1 for cell in used)


def test_what_is_taken_is_held_by_nobody() -> None:
    cells = Cells(6)
    first, second = cells.take(3), cells.take(3)
    assert sorted(first + second) == list(range(6))
    cells.share(first)
    cells.retire(first)
    cells.drop(first)
    assert cells.free == 0
    cells.retire(first)
    assert (cells.free, cells.room) == (0, 3)
    cells.drop(first)
    assert sorted(cells.take(3)) == sorted(first)
