"""Which guesses are worth their rows, over all jobs of a step."""

from __future__ import annotations

from collections.abc import Sequence

from guided.decoding.drafts.pace import Pace
from guided.decoding.drafts.tree import DraftTree


def select(
    trees: Sequence[DraftTree], pace: Pace, rows: int, *, chains: bool = False, probe: bool = False
) -> None:
    """Leave the guesses in the trees that make most tokens a second.

    A step of `rows` rows that writes W tokens takes on another row for a guess; the guess adds the
    chance that all tokens from the root to it are accepted. So the guesses of all jobs are taken in
    the order of that chance, as many as make (W + their sum) over the seconds of the step largest.
    What was drawn by chance stays in any case.

    Args:
        trees: of the jobs that write, without branches; changed in place.
        rows: of the step without guesses.
        chains: whether a tree must be a single chain.
        probe: keep one guess even if none is worth it, to learn.

    Source: the rule of Leviathan et al., "Fast inference from transformers via speculative
    decoding", 2023, 3.5, for a tree, a batch and a measured cost.
    """
    ranked: list[tuple[float, int, int]] = []
    kept: list[set[int]] = []
    for index, tree in enumerate(trees):
        chances = path_chances(tree)
        places = on_chain(tree, chances) if chains else range(len(tree))
        kept.append({place for place in places if tree.nodes[place].is_drawn})
        ranked += [(-chances[place], index, place) for place in places if place not in kept[-1]]
    ranked.sort()
    rows += sum(map(len, kept))
    count = best_count([-chance for chance, _, _ in ranked], len(trees), pace, rows)
    if probe and count == 0:
        count = 1
    for _, index, place in ranked[:count]:
        kept[index].add(place)
    for tree, wanted in zip(trees, kept, strict=True):
        tree.keep(closed(tree, wanted))


def path_chances(tree: DraftTree) -> list[float]:
    """Return for each token the chance that it and all above it are accepted."""
    chances: list[float] = []
    for node in tree.nodes:
        chances.append(node.chance * (chances[node.parent] if node.parent >= 0 else 1.0))
    return chances


def best_count(chances: Sequence[float], writers: int, pace: Pace, rows: int) -> int:
    """Return how many of these guesses, the likeliest first, make most tokens a second."""
    best, most = 0, writers / pace.seconds(writers, rows)
    gain = float(writers)
    for count, chance in enumerate(chances, 1):
        gain += chance
        rate = gain / pace.seconds(writers, rows + count)
        if rate > most:
            best, most = count, rate
    return best


def on_chain(tree: DraftTree, chances: Sequence[float]) -> list[int]:
    """Return the places of one chain from the root: at each place the likeliest token."""
    chain: list[int] = []
    at = -1
    while places := tree.children(at):
        drawn = tree.drawn(at)  # the first of them, whatever it is: else chance would be bent
        at = drawn[0][1] if drawn else max(places, key=lambda place: chances[place])
        chain.append(at)
    return chain


def closed(tree: DraftTree, places: set[int]) -> list[int]:
    """Add what stands above these places; ascending."""
    whole: set[int] = set()
    for place in places:
        while place >= 0 and place not in whole:
            whole.add(place)
            place = tree.nodes[place].parent
    return sorted(whole)
