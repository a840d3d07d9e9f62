"""The laws of matchers: masks as the oracle has them, and every way to the same text is one."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from guided import _core
from tests.laws.grammars import (
    GrammarDescription,
    VocabularyDescription,
    choices,
    grammars,
    lexeme_grammars,
    pick,
    vocabularies,
    wide_vocabulary,
)
from tests.laws.law import law
from tests.laws.operations import (
    OPERATIONS,
    names_tokens,
    perform_all,
    split_anew,
    walk_on,
    walk_together,
)
from tests.laws.pairs import core_vocabulary, mask_row, mask_tokens, pair, snapshot


@law(grammars(), vocabularies(), choices())
def test_masks_are_those_of_the_oracle_at_every_step(
    grammar: GrammarDescription, vocabulary: VocabularyDescription, walk: list[int]
) -> None:
    walk_together(grammar, vocabulary, walk)


WIDE = wide_vocabulary()


@law(grammars(), choices(3), plain=40, nightly=400)
def test_masks_over_many_tokens_are_those_of_the_oracle(
    grammar: GrammarDescription, walk: list[int]
) -> None:
    both = pair(grammar, WIDE)
    words = both.automaton.vocabulary.words
    for choice in [0, *walk]:
        allowed = mask_tokens(both.core, words)
        assert allowed == both.oracle.allowed_tokens()
        assert both.core.allowed_tokens() == allowed
        assert [token for token in range(WIDE.size) if both.core.can_accept(token)] == allowed
        if not allowed:
            break
        token = pick(allowed, WIDE.eos, choice)
        both.core.accept(token)
        both.oracle.accept(token)


@law(lexeme_grammars(), vocabularies(), choices(5))
def test_lexemes_are_matched_as_by_the_lexer_of_the_oracle(
    grammar: GrammarDescription, vocabulary: VocabularyDescription, walk: list[int]
) -> None:
    both = pair(grammar, vocabulary)
    words = both.automaton.vocabulary.words
    for choice in [0, *walk]:
        allowed, wanted = mask_tokens(both.core, words), both.oracle.allowed_tokens()
        assert both.core.is_complete is both.oracle.is_complete
        # A text that only ever makes the last lexeme longer may be let through without an end.
        assert set(wanted) <= set(allowed)
        if not wanted:
            break
        both.core.accept(pick(wanted, vocabulary.eos, choice))
        both.oracle.accept(pick(wanted, vocabulary.eos, choice))


@law(grammars(), vocabularies(all_bytes=True), choices(12))
def test_no_state_is_dead_until_the_end(
    grammar: GrammarDescription, vocabulary: VocabularyDescription, walk: list[int]
) -> None:
    walk_on(pair(grammar, vocabulary), vocabulary, walk)


@law(grammars(), vocabularies(), OPERATIONS)
def test_any_order_of_calls_leaves_the_state_of_the_tokens_accepted(
    grammar: GrammarDescription,
    vocabulary: VocabularyDescription,
    operations: list[tuple[str, int]],
) -> None:
    perform_all(pair(grammar, vocabulary), operations)


@law(grammars(), vocabularies(), choices(10), st.integers(0, 1 << 30))
def test_every_split_of_an_accepted_text_into_tokens_is_accepted(
    grammar: GrammarDescription, vocabulary: VocabularyDescription, walk: list[int], seed: int
) -> None:
    split_anew(pair(grammar, vocabulary), grammar, vocabulary, walk, seed)


@law(grammars(), vocabularies(all_bytes=True), choices(4))
def test_forced_bytes_are_those_without_an_alternative(
    grammar: GrammarDescription, vocabulary: VocabularyDescription, walk: list[int]
) -> None:
    both = pair(grammar, vocabulary)
    for choice in walk:
        allowed = both.core.allowed_tokens()
        if not allowed:
            break
        both.core.accept(pick(allowed, vocabulary.eos, choice))
        both.oracle.accept(both.core.tokens[-1])
    forced = b""
    named = [token for token in (0, 1, 2) if token not in vocabulary.eos]
    while not both.oracle.is_complete and len(both.oracle.allowed_bytes()) == 1:
        if any(both.oracle.can_accept(token) for token in named):
            break
        forced += both.oracle.allowed_bytes()
        both.oracle.accept_bytes(both.oracle.allowed_bytes())
    if names_tokens(grammar):  # an ordinary token taken by its id is an alternative too
        assert forced.startswith(both.core.forced_bytes())
    else:
        assert both.core.forced_bytes() == forced


@law(grammars(), vocabularies(), choices(), st.booleans(), st.none() | st.integers(1, 20))
def test_saving_and_precomputing_change_nothing_that_can_be_seen(
    grammar: GrammarDescription,
    vocabulary: VocabularyDescription,
    walk: list[int],
    precompute_first: bool,
    max_states: int | None,
) -> None:
    both = pair(grammar, vocabulary)
    other = pair(grammar, vocabulary).automaton
    known = other.precompute(500 if max_states is None else max_states)
    assert known >= 1
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "automaton")
        (other if precompute_first else both.automaton).save(path)
        loaded = _core.Automaton.load(path, core_vocabulary(vocabulary))
    matchers = [both.core, _core.Matcher(other), _core.Matcher(loaded)]
    words = both.automaton.vocabulary.words
    for choice in walk:
        masks = [mask_tokens(matcher, words) for matcher in matchers]
        assert masks[1] == masks[0]
        assert masks[2] == masks[0]
        assert len({matcher.is_complete for matcher in matchers}) == 1
        if not masks[0]:
            break
        for matcher in matchers:
            matcher.accept(pick(masks[0], vocabulary.eos, choice))


@law(grammars(), vocabularies(), st.lists(choices(), max_size=5), st.integers(0, 4))
def test_a_batch_is_filled_as_its_matchers_are(
    grammar: GrammarDescription,
    vocabulary: VocabularyDescription,
    walks: list[list[int]],
    threads: int,
) -> None:
    both = pair(grammar, vocabulary)
    matchers = []
    for walk in walks:
        matcher = both.fresh()
        for choice in walk:
            if allowed := matcher.allowed_tokens():
                matcher.accept(pick(allowed, vocabulary.eos, choice))
        matchers.append(matcher)
    words = both.automaton.vocabulary.words
    mask = np.full((len(matchers), words), -1, dtype=np.int32)
    _core.fill_masks(matchers, mask, threads)
    for row, matcher in zip(mask, matchers, strict=True):
        assert np.array_equal(row, mask_row(matcher, words))
    rows: dict[int, bytes] = {}
    for row, matcher in zip(mask, matchers, strict=True):
        assert rows.setdefault(matcher.row_id(), row.tobytes()) == row.tobytes()


@law(grammars(), vocabularies(), choices())
def test_the_end_is_allowed_where_the_text_is_complete_and_can_be_taken_back(
    grammar: GrammarDescription, vocabulary: VocabularyDescription, walk: list[int]
) -> None:
    both = pair(grammar, vocabulary)
    words = both.automaton.vocabulary.words
    for choice in walk:
        before = snapshot(both.core, words)
        for end in vocabulary.eos:
            assert both.core.can_accept(end) is both.core.is_complete
            if both.core.is_complete:
                both.core.accept(end)
                assert both.core.is_terminated
                assert not both.core.is_complete
                assert mask_tokens(both.core, words) == []
                assert both.core.allowed_tokens() == []
                assert both.core.forced_bytes() == b""
                assert not any(both.core.can_accept(t) for t in range(vocabulary.size))
                both.core.rollback(1)
                assert snapshot(both.core, words) == before
        allowed = [token for token in both.core.allowed_tokens() if token not in vocabulary.eos]
        if not allowed:
            break
        both.core.accept(pick(allowed, vocabulary.eos, choice))
