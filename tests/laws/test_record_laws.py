"""The laws of matchers, for records: no duplicate, no count passed, and always a way to the end."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import assume
from hypothesis import strategies as st

from guided import _core
from guided.errors import GrammarError
from tests.laws.grammars import (
    GrammarDescription,
    VocabularyDescription,
    build,
    choices,
    pick,
)
from tests.laws.law import law
from tests.laws.operations import OPERATIONS, perform_all, split_anew, walk_on, walk_together
from tests.laws.pairs import core_vocabulary, mask_tokens, pair
from tests.laws.records import (
    json_vocabularies,
    nested_records,
    plain_records,
    record_grammars,
    wide_json_vocabulary,
)


@law(plain_records(), json_vocabularies(), choices(10), plain=80)
def test_masks_of_records_are_those_of_the_oracle_at_every_step(
    grammar: GrammarDescription, vocabulary: VocabularyDescription, walk: list[int]
) -> None:
    walk_together(grammar, vocabulary, walk)


@law(nested_records(), json_vocabularies(), choices(14), plain=80)
def test_so_are_those_of_records_in_records(
    grammar: GrammarDescription, vocabulary: VocabularyDescription, walk: list[int]
) -> None:
    walk_together(grammar, vocabulary, walk)


WIDE = wide_json_vocabulary()


@law(record_grammars(), choices(12), plain=40, nightly=400)
def test_masks_of_records_over_many_tokens_are_what_is_accepted(
    grammar: GrammarDescription, walk: list[int]
) -> None:
    vocabulary = core_vocabulary(WIDE)
    # What is kept of a part for the whole vocabulary is used from the second time on.
    for steps in (walk, walk[::-1], walk, walk[1:]):
        arena = _core.Arena()
        try:
            automaton = _core.Automaton(arena, build(grammar, arena), vocabulary)
        except GrammarError:
            assume(False)
            raise
        matcher = _core.Matcher(automaton)
        for choice in [0, *steps]:
            allowed = mask_tokens(matcher, vocabulary.words)
            assert matcher.allowed_tokens() == allowed
            assert [token for token in range(WIDE.size) if matcher.can_accept(token)] == allowed
            if not allowed:
                break
            matcher.accept(pick(allowed, WIDE.eos, choice))


@law(record_grammars(), json_vocabularies(), choices(40), plain=80)
def test_no_record_is_without_a_way_to_its_end(
    grammar: GrammarDescription, vocabulary: VocabularyDescription, walk: list[int]
) -> None:
    walk_on(pair(grammar, vocabulary), vocabulary, walk)


@law(record_grammars(), json_vocabularies(), OPERATIONS, plain=80)
def test_any_order_of_calls_leaves_the_state_of_the_tokens_accepted(
    grammar: GrammarDescription,
    vocabulary: VocabularyDescription,
    operations: list[tuple[str, int]],
) -> None:
    perform_all(pair(grammar, vocabulary), operations)


@law(record_grammars(), json_vocabularies(), choices(12), st.integers(0, 1 << 30), plain=80)
def test_every_split_of_a_record_into_tokens_is_accepted(
    grammar: GrammarDescription, vocabulary: VocabularyDescription, walk: list[int], seed: int
) -> None:
    split_anew(pair(grammar, vocabulary), grammar, vocabulary, walk, seed)


@law(record_grammars(), json_vocabularies(), choices(10), st.none() | st.integers(1, 20), plain=80)
def test_saving_and_precomputing_change_nothing_that_can_be_seen(
    grammar: GrammarDescription,
    vocabulary: VocabularyDescription,
    walk: list[int],
    max_states: int | None,
) -> None:
    both = pair(grammar, vocabulary)
    other = pair(grammar, vocabulary).automaton
    other.precompute(200 if max_states is None else max_states)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "automaton")
        other.save(path)
        loaded = _core.Automaton.load(path, core_vocabulary(vocabulary))
    matchers = [both.core, _core.Matcher(other), _core.Matcher(loaded)]
    words = both.automaton.vocabulary.words
    for choice in walk:
        masks = [mask_tokens(matcher, words) for matcher in matchers]
        assert masks[1] == masks[0]
        assert masks[2] == masks[0]
        if not masks[0]:
            break
        for matcher in matchers:
            matcher.accept(pick(masks[0], vocabulary.eos, choice))
