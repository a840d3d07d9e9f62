"""The laws of matchers: masks as the oracle has them, and every way to the same text is one."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from guided import _core
from guided.errors import RollbackError, TokenRejected
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
from tests.laws.pairs import Pair, core_vocabulary, mask_row, mask_tokens, pair, snapshot


def agree(both: Pair) -> list[int]:
    """Compare all that is visible of both matchers here, and return the tokens allowed."""
    words, size = both.automaton.vocabulary.words, both.automaton.vocabulary.size
    wanted = both.oracle.allowed_tokens()
    assert mask_tokens(both.core, words) == wanted
    assert both.core.allowed_tokens() == wanted
    assert [token for token in range(-1, size + 2) if both.core.can_accept(token)] == wanted
    assert both.core.is_complete is both.oracle.is_complete
    assert both.core.is_terminated is both.oracle.is_terminated
    assert both.core.forced_token() == (wanted[0] if len(wanted) == 1 else None)
    assert both.core.allowed_bytes() == both.oracle.allowed_bytes()
    assert both.core.tokens == both.oracle.tokens
    return wanted


@law(grammars(), vocabularies(), choices())
def test_masks_are_those_of_the_oracle_at_every_step(
    grammar: GrammarDescription, vocabulary: VocabularyDescription, walk: list[int]
) -> None:
    both = pair(grammar, vocabulary)
    allowed = agree(both)
    for choice in walk:
        if not allowed:
            break
        token = pick(allowed, vocabulary.eos, choice)
        both.core.accept(token)
        both.oracle.accept(token)
        allowed = agree(both)


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
    both = pair(grammar, vocabulary)
    matcher = both.core
    for choice in walk:
        allowed = matcher.allowed_tokens()
        assert bool(allowed) is not matcher.is_terminated
        assert (
            matcher.is_terminated
            or matcher.is_complete
            or matcher.allowed_bytes()
            or (set(allowed) - set(vocabulary.eos))
        )
        if not allowed:
            break
        matcher.accept(pick(allowed, vocabulary.eos, choice))


KINDS = ["accept", "accept", "accept", "reject", "rollback", "rollback-too-far", "fork"]
KINDS += ["accept-all", "reject-all", "accepted-prefix", "bytes", "bad-bytes"]
OPERATIONS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 1 << 16)), max_size=12)


@law(grammars(), vocabularies(), OPERATIONS)
def test_any_order_of_calls_leaves_the_state_of_the_tokens_accepted(
    grammar: GrammarDescription,
    vocabulary: VocabularyDescription,
    operations: list[tuple[str, int]],
) -> None:
    both = pair(grammar, vocabulary)
    words = both.automaton.vocabulary.words
    seen: dict[tuple[int | bytes, ...], tuple[object, ...]] = {}
    for operation, choice in [("start", 0), *operations]:
        _perform(both, operation, choice)
        now = snapshot(both.core, words)
        assert both.core.tokens == both.oracle.tokens
        assert now[0] == both.oracle.allowed_tokens()
        assert now[2] is both.oracle.is_complete
        # The same history, the same everything, by whatever way it was reached.
        assert seen.setdefault(tuple(both.oracle.history), now) == now
    while both.oracle.tokens:
        both.core.rollback(1)
        both.oracle.rollback(1)
        now = snapshot(both.core, words)
        assert seen.setdefault(tuple(both.oracle.history), now) == now
    assert snapshot(both.core, words) == seen[()]


def _perform(both: Pair, operation: str, choice: int) -> None:
    core, oracle = both.core, both.oracle
    words, size = both.automaton.vocabulary.words, both.automaton.vocabulary.size
    allowed = oracle.allowed_tokens()
    forbidden = [token for token in range(-1, size + 2) if token not in allowed]
    before = snapshot(core, words)
    right = allowed[choice % len(allowed)] if allowed else None
    wrong = forbidden[choice % len(forbidden)]
    match operation:
        case "accept" if right is not None:
            core.accept(right)
            oracle.accept(right)
            core.rollback(1)
            assert snapshot(core, words) == before
            core.accept(right)
        case "reject":
            with pytest.raises(TokenRejected) as caught:
                core.accept(wrong)
            assert caught.value.token == wrong
            assert set(caught.value.allowed) <= set(allowed)
            assert snapshot(core, words) == before
        case "rollback":
            count = choice % (len(oracle.tokens) + 1)
            core.rollback(count)
            oracle.rollback(count)
        case "rollback-too-far":
            for count in (-1, len(oracle.tokens) + 1 + choice % 3):
                with pytest.raises(RollbackError):
                    core.rollback(count)
            assert snapshot(core, words) == before
        case "fork":
            other = _core.Matcher(core)
            assert snapshot(other, words) == before
            if right is not None:
                other.accept(right)
                assert snapshot(core, words) == before
                other.rollback(1)
                assert snapshot(other, words) == before
                other.accept(right)
            both.core, both.oracle = other, oracle.fork()
            if right is not None:
                both.oracle.accept(right)
        case "accept-all" | "accepted-prefix" | "reject-all":
            draft = _draft(both, choice)
            bad = [*draft, wrong] if operation == "reject-all" else draft
            if operation == "reject-all" and oracle.accepted_prefix(bad) == len(bad):
                return
            assert core.accepted_prefix(bad) == oracle.accepted_prefix(bad)
            assert snapshot(core, words) == before
            if operation == "accept-all":
                core.accept_all(draft)
                oracle.accept_all(draft)
            elif operation == "reject-all":
                with pytest.raises(TokenRejected) as caught:
                    core.accept_all(bad)
                assert caught.value.token == wrong
                assert snapshot(core, words) == before
        case "bytes" | "bad-bytes":
            data = _bytes(both, choice, operation == "bad-bytes")
            try:
                oracle.accept_bytes(data)
            except TokenRejected:
                with pytest.raises(TokenRejected):
                    core.accept_bytes(data)
                assert snapshot(core, words) == before
            else:
                core.accept_bytes(data)


def _draft(both: Pair, choice: int) -> list[int]:
    """Return some tokens that the oracle accepts one after the other."""
    trial = both.oracle.fork()
    for step in range(choice % 4):
        allowed = trial.allowed_tokens()
        if not allowed:
            break
        trial.accept(allowed[(choice >> step) % len(allowed)])
    return trial.tokens[len(both.oracle.tokens) :]


def _bytes(both: Pair, choice: int, bad: bool) -> bytes:
    allowed = both.oracle.allowed_bytes()
    data = bytes([allowed[choice % len(allowed)]]) if allowed else b""
    return data + b"\xff" if bad else data or b"a"


@law(grammars(), vocabularies(), choices(10), st.integers(0, 1 << 30))
def test_every_split_of_an_accepted_text_into_tokens_is_accepted(
    grammar: GrammarDescription, vocabulary: VocabularyDescription, walk: list[int], seed: int
) -> None:
    both = pair(grammar, vocabulary)
    for choice in walk:
        allowed = [t for t in both.core.allowed_tokens() if vocabulary.tokens[t] is not None]
        allowed = [token for token in allowed if token not in vocabulary.eos]
        if not allowed:
            break
        both.core.accept(pick(allowed, vocabulary.eos, choice))
    text = b"".join(vocabulary.tokens[token] or b"" for token in both.core.tokens)
    whole = both.fresh()
    try:
        whole.accept_bytes(text)
    except TokenRejected:
        # A token node took one of the tokens by its id, which bytes cannot.
        assume(False)
    words = both.automaton.vocabulary.words
    split = both.fresh()
    split.accept_all(_split(vocabulary, text, seed))
    single = both.fresh()
    for byte in text:
        single.accept_bytes(bytes([byte]))
    if not _names_tokens(grammar):
        assert mask_tokens(split, words) == mask_tokens(both.core, words)
        assert split.is_complete is both.core.is_complete
        assert mask_tokens(whole, words) == mask_tokens(split, words)
    assert mask_tokens(single, words) == mask_tokens(whole, words)
    assert single.is_complete is whole.is_complete


def _names_tokens(grammar: GrammarDescription) -> bool:
    return "('token'" in repr(grammar)


def _split(vocabulary: VocabularyDescription, text: bytes, seed: int) -> list[int]:
    """Return tokens that spell `text`, others for each seed; all its single bytes are tokens."""
    tokens = []
    while text:
        ordinary = set(range(len(vocabulary.tokens))) - set(vocabulary.eos)
        spelt = {token: vocabulary.tokens[token] or b"" for token in sorted(ordinary)}
        fitting = [token for token, data in spelt.items() if data and text.startswith(data)]
        tokens.append(fitting[seed % len(fitting)])
        text = text[len(vocabulary.tokens[tokens[-1]] or b"") :]
        seed = seed * 48271 % 0x7FFFFFFF
    return tokens


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
    if _names_tokens(grammar):  # an ordinary token taken by its id is an alternative too
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
