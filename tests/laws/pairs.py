"""A matcher of the core and one of the oracle for the same grammar and vocabulary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import assume

from guided import _core
from guided.errors import GrammarError
from tests import reference
from tests.laws.grammars import GrammarDescription, VocabularyDescription, build


def core_vocabulary(vocabulary: VocabularyDescription) -> _core.Vocabulary:
    return _core.Vocabulary(vocabulary.tokens, vocabulary.eos, vocabulary.size)


@dataclass
class Pair:
    automaton: _core.Automaton
    core: _core.Matcher
    oracle: reference.Matcher

    def fresh(self) -> _core.Matcher:
        return _core.Matcher(self.automaton)


def pair(grammar: GrammarDescription, vocabulary: VocabularyDescription) -> Pair:
    """Build both; where nothing can match both must say so, and the example is passed over."""
    arena = reference.Arena()
    try:
        oracle = reference.Matcher(arena, build(grammar, arena), vocabulary.of_oracle())
    except GrammarError:
        oracle = None
    core_arena = _core.Arena()
    start = build(grammar, core_arena)
    try:
        automaton = _core.Automaton(core_arena, start, core_vocabulary(vocabulary))
    except GrammarError:
        assert oracle is None, "the core refuses a grammar that can match"
        automaton = None
    if automaton is None or oracle is None:
        # That recorded keys run out is only seen as they are read.
        runs_out = automaton is not None and not _core.Matcher(automaton).allowed_tokens()
        assert automaton is None or runs_out, "the core takes a grammar that cannot match"
        assume(False)
        raise AssertionError
    return Pair(automaton, _core.Matcher(automaton), oracle)


def mask_row(matcher: _core.Matcher, words: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Return the mask as (W,) int32; it is filled over ones, so nothing may be left as it was."""
    row = np.full(words, -1, dtype=np.int32)
    matcher.fill_mask(row)
    return row


def mask_tokens(matcher: _core.Matcher, words: int) -> list[int]:
    """Return the tokens whose bits are set in the mask."""
    bits = np.unpackbits(mask_row(matcher, words).view(np.uint8), bitorder="little")
    return [int(token) for token in np.flatnonzero(bits)]


def snapshot(matcher: _core.Matcher, words: int) -> tuple[object, ...]:
    """Return all that can be seen of a matcher."""
    return (
        mask_tokens(matcher, words),
        matcher.allowed_tokens(),
        matcher.is_complete,
        matcher.is_terminated,
        matcher.tokens,
        matcher.state(),
        matcher.allowed_bytes(),
        matcher.forced_bytes(),
    )
