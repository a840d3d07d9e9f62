"""Deterministic automata made small: no state that cannot accept, no two that go on alike."""

from __future__ import annotations

from collections.abc import Sequence

MAX_MERGING = 3_000_000
"""Larger automata are left as they are: merging takes up to the square of the number of states,
times that of the classes."""

Rows = list[list[int]]


def minimal(accepting: Sequence[bool], rows: Sequence[Sequence[int]]) -> tuple[list[bool], Rows]:
    """Return the automaton with as few states as can be; the start is state 0, -1 is none.

    Source: Moore, "Gedanken-experiments on sequential machines", 1956, for the partition.
    """
    alive = _alive(accepting, rows)
    if len(rows) ** 2 * len(rows[0]) <= MAX_MERGING:
        blocks = _partition(accepting, rows, alive)
    else:
        blocks = [state if is_alive else -1 for state, is_alive in enumerate(alive)]
    return _quotient(accepting, rows, blocks)


def _alive(accepting: Sequence[bool], rows: Sequence[Sequence[int]]) -> list[bool]:
    before: list[list[int]] = [[] for _ in rows]
    for state, row in enumerate(rows):
        for target in set(row):
            if target >= 0:
                before[target].append(state)
    alive = list(accepting)
    waiting = [state for state, accepts in enumerate(accepting) if accepts]
    while waiting:
        for state in before[waiting.pop()]:
            if not alive[state]:
                alive[state] = True
                waiting.append(state)
    return alive


def _partition(
    accepting: Sequence[bool], rows: Sequence[Sequence[int]], alive: Sequence[bool]
) -> list[int]:
    """Return for each state a number that those which go on alike share, -1 for the dead ones."""
    blocks = [
        int(accepts) if lives else -1 for accepts, lives in zip(accepting, alive, strict=True)
    ]
    count = len(set(blocks))
    while True:
        numbers: dict[tuple[int, ...], int] = {}
        refined = []
        for block, row in zip(blocks, rows, strict=True):
            if block < 0:
                refined.append(-1)
                continue
            key = (block, *(blocks[target] if target >= 0 else -1 for target in row))
            refined.append(numbers.setdefault(key, len(numbers)))
        blocks = refined
        if len(set(blocks)) == count:
            return blocks
        count = len(set(blocks))


def _quotient(
    accepting: Sequence[bool], rows: Sequence[Sequence[int]], blocks: Sequence[int]
) -> tuple[list[bool], Rows]:
    """Return the automaton of the blocks, in the order in which they are met from the start."""
    numbers = {blocks[0]: 0}
    members = [0]
    merged: Rows = []
    for state in members:
        row = []
        for target in rows[state]:
            if target < 0 or blocks[target] < 0:
                row.append(-1)
                continue
            block = blocks[target]
            if block not in numbers:
                numbers[block] = len(numbers)
                members.append(target)
            row.append(numbers[block])
        merged.append(row)
    return [accepting[state] for state in members], merged
