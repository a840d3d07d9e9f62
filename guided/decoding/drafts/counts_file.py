"""Counts of what followed each state, in a file that outlives the numbers of states.

The states are a tree: each is reached from one before it, or from the start, by a token. Reading
walks these ways again.
"""

from __future__ import annotations

from collections import deque
from os import PathLike, fspath

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from guided.decoding.drafts.counts import CountTable
from guided.errors import GuidedError
from guided.grammar import Automaton

_FORMAT = "guided state counts 1"
_START = -1  # the place of the state that a text begins in
_LONGEST = 1024  # tokens that are forced at the beginning
_WIDTHS = {"ways": 2, "places": 3, "counts": 3}


def write_counts(
    path: str | PathLike[str], automaton: Automaton, table: CountTable, number: int
) -> None:
    """Write what a table holds of an automaton; see `StatesDrafter.save`.

    Arrays, all int64:
        ways: (S, 2), for each state the place of the one before it, and the token between.
        places: (P, 3), place of the state, token before or -1, how many tokens came.
        counts: (C, 3), row of `places`, token, how often it came.
    """
    tokens: dict[int, set[int]] = {}
    for state, _, followers in table.of(number):
        tokens.setdefault(state, set()).update(followers.counts)
    found, ways = _walk(automaton, tokens)
    places: list[tuple[int, int, int]] = []
    counts: list[tuple[int, int, int]] = []
    for state, previous, followers in table.of(number):
        if state in found:
            counts += [(len(places), token, count) for token, count in followers.counts.items()]
            places.append((found[state], previous, followers.total))
    lists = {"ways": ways, "places": places, "counts": counts}
    arrays = {
        name: np.array(lists[name], np.int64).reshape(-1, width) for name, width in _WIDTHS.items()
    }
    about = {"format": _FORMAT, "vocabulary": automaton.vocabulary.fingerprint}
    save_file(arrays, fspath(path), about)


def _walk(
    automaton: Automaton, tokens: dict[int, set[int]]
) -> tuple[dict[int, int], list[tuple[int, int]]]:
    """Find ways to these states along the tokens that were counted in each, the shortest first."""
    start = automaton.matcher()
    found = {start.state(): _START}
    ways: list[tuple[int, int]] = []
    # What is forced at the beginning may be written before anything is counted.
    while start.state() not in tokens and len(ways) < _LONGEST and (ahead := start.forced_tokens()):
        ways.append((len(ways) - 1, ahead[0]))
        start.accept(ahead[0])
        found[start.state()] = len(ways) - 1
    todo = deque([start])
    while todo:
        matcher = todo.popleft()
        place = found[matcher.state()]
        for token in sorted(tokens.get(matcher.state(), ())):
            (state,) = matcher.states_after([token])
            if state in tokens and state not in found:
                found[state] = len(ways)
                ways.append((place, token))
                after = matcher.fork()
                after.accept(token)
                todo.append(after)
    return found, ways


def read_counts(
    path: str | PathLike[str], automaton: Automaton, table: CountTable, number: int
) -> None:
    """Add what `write_counts` wrote to a table; see `StatesDrafter.load`."""
    arrays = _read(path, automaton.vocabulary.fingerprint)
    ways, places, counts = (arrays[name] for name in _WIDTHS)
    matcher = automaton.matcher()
    # One more at the end: the place of the start is -1.
    states = matcher.states_after(ways[:, 1].tolist(), ways[:, 0].tolist())
    states.append(matcher.state())
    tokens: list[dict[int, int]] = [{} for _ in range(len(places))]
    for row, token, count in counts.tolist():
        tokens[row][token] = count
    for (place, previous, total), counted in zip(places.tolist(), tokens, strict=True):
        if states[place] >= 0:
            table.at((number, states[place], previous)).merge(total, counted)


def _read(path: str | PathLike[str], fingerprint: str) -> dict[str, NDArray[np.int64]]:
    """Read the arrays, and check that all places in them are there.

    Raises:
        GuidedError: they cannot be used.
    """
    try:
        with safe_open(fspath(path), framework="numpy") as file:
            about = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in _WIDTHS}
    except SafetensorError as error:
        raise _refusal(path, f"the file holds no counts, or is damaged: {error}") from None
    if about.get("format") != _FORMAT or not _fits_together(arrays):
        raise _refusal(path, "the file does not hold counts of states of this version")
    if about.get("vocabulary") != fingerprint:
        raise _refusal(path, "the counts were saved for another vocabulary")
    return arrays


def _fits_together(arrays: dict[str, NDArray[np.int64]]) -> bool:
    for name, width in _WIDTHS.items():
        array = arrays[name]
        if array.dtype != np.int64 or array.ndim != 2 or array.shape[1] != width:
            return False
    ways, places, counts = (arrays[name] for name in _WIDTHS)
    before, states, rows = ways[:, 0], places[:, 0], counts[:, 0]
    return bool(
        ((before >= _START) & (before < np.arange(len(ways)))).all()
        and ((states >= _START) & (states < len(ways))).all()
        and ((rows >= 0) & (rows < len(places))).all()
        and (ways[:, 1] >= 0).all()
        and (counts[:, 2] > 0).all()
    )


def _refusal(path: str | PathLike[str], fact: str) -> GuidedError:
    return GuidedError(fact, place=f"in {fspath(path)}", mend="count again and save that")
