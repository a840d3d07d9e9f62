"""What a grammar costs over a vocabulary: states, the first mask, masks and their sizes."""

from __future__ import annotations

import random
from dataclasses import dataclass
from statistics import mean, median
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from guided.grammar import Grammar
    from guided.vocabulary import Vocabulary

_WALKS = 4
_STEPS = 200
_SEED = 0


@dataclass(frozen=True, slots=True)
class Cost:
    """What was measured on random walks over the masks, after the first of them warm or cold.

    Attributes:
        vocabulary: how many tokens there are.
        first_mask_ms: from the grammar to the first mask, compilation counted.
        states: how many states the walks met.
        steps: how many tokens they took.
        mask_us_mean, mask_us_median: a mask and its accept.
        tokens_least, tokens_median, tokens_most: how many tokens a mask allows.
        kilobytes: what states and masks hold.
    """

    vocabulary: int
    first_mask_ms: float
    states: int
    steps: int
    mask_us_mean: float
    mask_us_median: float
    tokens_least: int
    tokens_median: int
    tokens_most: int
    kilobytes: float


def measure(grammar: Grammar, vocabulary: Vocabulary) -> Cost:
    """Walk at random, from a fixed seed, and read the clock.

    Raises:
        VocabularyError: the tokenizer cannot write what the grammar demands.
    """
    import numpy as np

    row = np.zeros(vocabulary.words, np.int32)  # (W,)
    start = perf_counter()
    automaton = grammar.compile(vocabulary)
    automaton.matcher().fill_mask(row)
    first = perf_counter() - start
    draw = random.Random(_SEED)
    seconds: list[float] = []
    sizes: list[int] = []
    ends = set(vocabulary.eos)
    for _ in range(_WALKS):
        matcher = automaton.matcher()
        for _ in range(_STEPS):
            start = perf_counter()
            matcher.fill_mask(row)
            filled = perf_counter() - start
            allowed = matcher.allowed_tokens()
            sizes.append(len(allowed))
            going_on = [token for token in allowed if token not in ends]
            if not going_on:
                break
            token = draw.choice(going_on)
            start = perf_counter()
            matcher.accept(token)
            seconds.append(filled + perf_counter() - start)
    stats = automaton.stats()
    return Cost(
        vocabulary=vocabulary.size,
        first_mask_ms=1e3 * first,
        states=stats["states"],
        steps=len(seconds),
        mask_us_mean=1e6 * mean(seconds or [0.0]),
        mask_us_median=1e6 * median(seconds or [0.0]),
        tokens_least=min(sizes),
        tokens_median=int(median(sizes)),
        tokens_most=max(sizes),
        kilobytes=stats["bytes"] / 1e3,
    )
