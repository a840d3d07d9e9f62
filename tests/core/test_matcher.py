"""Matchers: what is refused changes nothing, and every error carries its data."""

from __future__ import annotations

import pytest

from guided import _core
from guided.errors import RollbackError, TokenRejected

TOKENS: list[bytes | None] = [b"ab", b"ax", b"a", b"b", None, None]
END, SPECIAL = 4, 5


def matcher_of(text: str = "ab") -> _core.Matcher:
    arena = _core.Arena()
    node = arena.literal(text)
    return _core.Matcher(_core.Automaton(arena, node, _core.Vocabulary(TOKENS, [END], size=40)))


@pytest.mark.parametrize("token", [1, 3, END, SPECIAL, 6, 39, 40, -1, 2**31, 2**40, -(2**40)])
def test_a_token_that_the_mask_forbids_is_rejected_and_nothing_changes(token: int) -> None:
    matcher = matcher_of()
    matcher.accept(2)
    matcher.rollback(1)
    state = matcher.state()
    assert not matcher.can_accept(token)
    with pytest.raises(TokenRejected) as caught:
        matcher.accept(token)
    assert caught.value.token == token
    assert caught.value.spelling == (TOKENS[token] if 0 <= token < len(TOKENS) else None)
    assert caught.value.allowed == (0, 2)
    assert matcher.state() == state
    assert matcher.tokens == []
    assert matcher.allowed_tokens() == [0, 2]


@pytest.mark.parametrize("tokens", [[2, 2], [2, 3, 3], [0, END, 2], [2, -1], [2, 2**40]])
def test_of_several_tokens_all_are_accepted_or_none(tokens: list[int]) -> None:
    matcher = matcher_of()
    with pytest.raises(TokenRejected) as caught:
        matcher.accept_all(tokens)
    assert caught.value.token == tokens[-1]
    assert matcher.tokens == []
    assert matcher.allowed_tokens() == [0, 2]


def test_the_message_names_the_token_its_bytes_and_what_was_allowed() -> None:
    with pytest.raises(
        TokenRejected, match=r"^token 1 \(b'ax'\) is not allowed here; allowed: 0, 2$"
    ):
        matcher_of().accept(1)


def test_after_the_end_the_message_says_so() -> None:
    matcher = matcher_of()
    matcher.accept_all([0, END])
    with pytest.raises(TokenRejected, match="nothing, the text has ended"):
        matcher.accept(0)


@pytest.mark.parametrize("count", [3, 1000, -1, 2**40])
def test_rolling_back_beyond_the_start_is_an_error_and_nothing_changes(count: int) -> None:
    matcher = matcher_of()
    matcher.accept_all([2, 3])
    with pytest.raises(RollbackError) as caught:
        matcher.rollback(count)
    assert (caught.value.asked, caught.value.accepted) == (count, 2)
    assert matcher.tokens == [2, 3]
    assert matcher.allowed_tokens() == [END]


def test_rolling_back_by_nothing_is_fine() -> None:
    matcher = matcher_of()
    matcher.rollback(0)
    assert matcher.tokens == []


def test_rolling_back_works_across_the_end() -> None:
    matcher = matcher_of()
    matcher.accept_all([2, 3, END])
    assert matcher.is_terminated
    matcher.rollback(2)
    assert not matcher.is_terminated
    assert matcher.allowed_tokens() == [3]


def test_a_draft_is_cut_at_the_first_forbidden_token_and_nothing_changes() -> None:
    matcher = matcher_of("aab")
    assert matcher.accepted_prefix([]) == 0
    assert matcher.accepted_prefix([2, 2, 3, END, 0]) == 4
    assert matcher.accepted_prefix([2, 0, 0]) == 2
    assert matcher.accepted_prefix([SPECIAL]) == 0
    assert matcher.accepted_prefix([-1]) == 0
    assert matcher.tokens == []


def test_bytes_count_as_one_token() -> None:
    matcher = matcher_of("aab")
    matcher.accept_bytes(b"aa")
    assert matcher.tokens == [-1]
    assert matcher.allowed_tokens() == [3]
    with pytest.raises(TokenRejected):
        matcher.accept_bytes(b"bb")
    assert matcher.tokens == [-1]
    matcher.rollback(1)
    assert matcher.allowed_bytes() == b"a"


def test_forced_bytes_stop_where_the_text_may_end() -> None:
    arena = _core.Arena()
    tail = arena.repeat(arena.literal("cd"), 0, 1)
    node = arena.sequence([arena.literal("ab"), tail])
    vocabulary = _core.Vocabulary([b"a", b"b", b"c", b"d", None], [4])
    matcher = _core.Matcher(_core.Automaton(arena, node, vocabulary))
    assert matcher.forced_bytes() == b"ab"
    assert matcher.forced_token() == 0
    matcher.accept_all([0, 1])
    assert matcher.forced_bytes() == b""
    assert matcher.forced_token() is None
    matcher.accept(2)
    assert matcher.forced_bytes() == b"d"


def test_a_fork_goes_its_own_way() -> None:
    matcher = matcher_of()
    fork = _core.Matcher(matcher)
    fork.accept(0)
    assert matcher.tokens == []
    assert fork.tokens == [0]
    matcher.accept(2)
    fork.rollback(1)
    assert fork.allowed_tokens() == [0, 2]
    assert matcher.allowed_tokens() == [3]


def test_a_matcher_outlives_what_it_was_made_of() -> None:
    matcher = matcher_of()
    forks = [_core.Matcher(matcher) for _ in range(3)]
    del matcher
    forks[0].accept_all([0, END])
    assert forks[1].allowed_tokens() == [0, 2]


def test_a_state_is_described() -> None:
    matcher = matcher_of()
    assert any("ab" in line for line in matcher.describe())
    matcher.accept(0)
    assert matcher.describe() == ["end"]
