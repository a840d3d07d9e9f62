"""What is done to a pair of matchers: calls of any kind, comparison, other splits of a text."""

from __future__ import annotations

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from guided import _core
from guided.errors import RollbackError, TokenRejected
from tests.laws.grammars import GrammarDescription, VocabularyDescription, pick
from tests.laws.pairs import Pair, mask_tokens, pair, snapshot


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


def walk_together(
    grammar: GrammarDescription, vocabulary: VocabularyDescription, walk: list[int]
) -> None:
    """Walk both matchers, which must agree at every step."""
    both = pair(grammar, vocabulary)
    allowed = agree(both)
    for choice in walk:
        if not allowed:
            break
        token = pick(allowed, vocabulary.eos, choice)
        both.core.accept(token)
        both.oracle.accept(token)
        allowed = agree(both)


def walk_on(both: Pair, vocabulary: VocabularyDescription, walk: list[int]) -> None:
    """Walk the core alone, which must always have a way on until the end."""
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


def perform_all(both: Pair, operations: list[tuple[str, int]]) -> None:
    """Perform operations and take all back; a history shows the same by whatever way it came."""
    words = both.automaton.vocabulary.words
    seen: dict[tuple[int | bytes, ...], tuple[object, ...]] = {}
    for operation, choice in [("start", 0), *operations]:
        perform(both, operation, choice)
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


def perform(both: Pair, operation: str, choice: int) -> None:
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


def split_anew(
    both: Pair,
    grammar: GrammarDescription,
    vocabulary: VocabularyDescription,
    walk: list[int],
    seed: int,
) -> None:
    """Walk the core, then read the same text in other tokens, as a whole and byte by byte."""
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
    again = both.fresh()
    again.accept_all(split(vocabulary, text, seed))
    single = both.fresh()
    for byte in text:
        single.accept_bytes(bytes([byte]))
    if not names_tokens(grammar):
        assert mask_tokens(again, words) == mask_tokens(both.core, words)
        assert again.is_complete is both.core.is_complete
        assert mask_tokens(whole, words) == mask_tokens(again, words)
    assert mask_tokens(single, words) == mask_tokens(whole, words)
    assert single.is_complete is whole.is_complete


def names_tokens(grammar: GrammarDescription) -> bool:
    return "('token'" in repr(grammar)


def split(vocabulary: VocabularyDescription, text: bytes, seed: int) -> list[int]:
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
