"""Where others blow up: a step costs the same however long the output, the count, or the choice.

Clocks here are those of a shared machine, so the bounds are some ten times what is measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import cycle, islice, pairwise

import pytest

from guided import _core
from guided.errors import GrammarError, LimitError

A, B, C, X, P, Q, END = range(7)
TOKENS: list[bytes | None] = [b"a", b"b", b"c", b"x", b"p", b"q", None]
VOCABULARY = _core.Vocabulary(TOKENS, [END])
LENGTH = 10_000


def automaton_of(build: Callable[[_core.Arena], int]) -> _core.Automaton:
    arena = _core.Arena()
    return _core.Automaton(arena, build(arena), VOCABULARY)


def walk_seconds(matcher: _core.Matcher, tokens: list[int]) -> float:
    start = time.perf_counter()
    for token in tokens:
        matcher.allowed_tokens()
        matcher.accept(token)
    return time.perf_counter() - start


def assert_flat(automaton: _core.Automaton, period: list[int], heads: int) -> None:
    """Walk 10,000 tokens; the last tenth may not cost many times what an early one does."""
    matcher = _core.Matcher(automaton)
    tokens = list(islice(cycle(period), LENGTH))
    walk_seconds(matcher, tokens[: LENGTH // 10])
    early = walk_seconds(matcher, tokens[LENGTH // 10 : LENGTH // 5])
    walk_seconds(matcher, tokens[LENGTH // 5 : -LENGTH // 10])
    late = walk_seconds(matcher, tokens[-LENGTH // 10 :])
    assert automaton.stats()["heads_max"] <= heads
    assert late < 10 * early + 0.05


def same_calls(arena: _core.Arena) -> int:
    """A: "x" A "p" | "x" A "q" | "x", which has 2**n stacks after n times "x"."""
    a, x = arena.rule("A"), arena.literal("x")
    options = [arena.sequence([x, a, arena.literal(end)]) for end in "pq"]
    arena.define(a, arena.choice([*options, x]))
    return a


def self_concatenation(arena: _core.Arena) -> int:
    """S: S S | "a"."""
    s = arena.rule("S")
    arena.define(s, arena.choice([arena.sequence([s, s]), arena.literal("a")]))
    return s


def nested_lists(arena: _core.Arena) -> int:
    """L: "a" L* "b"."""
    rule = arena.rule("L")
    inside = arena.repeat(rule)
    arena.define(rule, arena.sequence([arena.literal("a"), inside, arena.literal("b")]))
    return rule


def test_calls_of_one_rule_meet_in_one_head_a_level() -> None:
    automaton = automaton_of(same_calls)
    assert_flat(automaton, [X], heads=16)


def test_after_all_calls_each_end_is_checked() -> None:
    matcher = _core.Matcher(automaton_of(same_calls))
    matcher.accept_all([X] * 500)
    assert matcher.allowed_tokens() == [X, P, Q]
    matcher.accept_all([P, Q] * 249 + [P])
    assert matcher.allowed_tokens() == [END]


def test_ambiguous_recursion_has_few_states() -> None:
    automaton = automaton_of(self_concatenation)
    assert_flat(automaton, [A], heads=8)
    assert automaton.stats()["states"] < 16


@pytest.mark.parametrize("count", [2, 8, 16])
def test_the_bytes_of_a_long_token_cost_what_they_cost_one_by_one(count: int) -> None:
    """S: "a" | "b" | any{3,} "b" R R; R: S? | R S R | [ab], as ambiguous as can be."""

    def build(arena: _core.Arena) -> int:
        s, r = arena.rule("S"), arena.rule("R")
        b = arena.literal("b")
        long = arena.sequence([arena.repeat(arena.any_text(), 3), b, r, r])
        arena.define(s, arena.choice([arena.literal("a"), b, long]))
        either = arena.char_class([(0x61, 0x62)])
        arena.define(r, arena.choice([arena.repeat(s, 0, 1), arena.sequence([r, s, r]), either]))
        return s

    automaton = automaton_of(build)
    single = _core.Matcher(automaton)
    single.accept_all([A, B] * count)
    whole = _core.Matcher(automaton_of(build))
    whole.accept_bytes(b"ab" * count)
    assert whole.allowed_tokens() == single.allowed_tokens()
    assert whole.is_complete is single.is_complete


def test_nesting_back_and_forth_comes_to_known_states() -> None:
    automaton = automaton_of(nested_lists)
    assert_flat(automaton, [A, A, B], heads=8)
    states = automaton.stats()["states"]
    matcher = _core.Matcher(automaton)
    matcher.accept_all(list(islice(cycle([A, A, B]), LENGTH)))
    assert automaton.stats()["states"] == states


@pytest.mark.parametrize("count", [5, 12])
def test_a_late_choice_is_decided_late(count: int) -> None:
    def build(arena: _core.Arena) -> int:
        either = arena.char_class([(0x61, 0x62)])
        return arena.sequence(
            [arena.repeat(either), arena.literal("a"), arena.repeat(either, count, count)]
        )

    matcher = _core.Matcher(automaton_of(build))
    tokens = [A, B, B, A, B] * 40
    for index, token in enumerate(tokens):
        ends = index >= count + 1 and tokens[index - count - 1] == A
        assert matcher.is_complete is ends
        matcher.accept(token)


@pytest.mark.parametrize(("minimum", "maximum"), [(0, 100_000), (100_000, 100_000), (3, None)])
def test_counts_cost_nothing(minimum: int, maximum: int | None) -> None:
    def build(arena: _core.Arena) -> int:
        return arena.repeat(arena.char_class([(0x61, 0x63)]), minimum, maximum)

    start = time.perf_counter()
    arena = _core.Arena()
    node = build(arena)
    automaton = _core.Automaton(arena, node, VOCABULARY)
    matcher = _core.Matcher(automaton)
    matcher.allowed_tokens()
    assert time.perf_counter() - start < 0.1
    assert len(arena) < 10
    matcher.accept_all([A] * 99_999)
    assert matcher.is_complete is (minimum <= 99_999)
    matcher.accept(B)
    assert matcher.is_complete
    assert matcher.can_accept(A) is (maximum is None)


def test_counts_of_counts_are_multiplied() -> None:
    def build(arena: _core.Arena) -> int:
        return arena.repeat(arena.repeat(arena.literal("a"), 1000, 1000), 1000, 1000)

    matcher = _core.Matcher(automaton_of(build))
    matcher.accept_all([A] * 5000)
    assert matcher.allowed_tokens() == [A]
    assert not matcher.is_complete


def test_counts_of_rules_are_kept_in_registers() -> None:
    def build(arena: _core.Arena) -> int:
        pair = arena.rule("pair")
        arena.define(pair, arena.sequence([arena.literal("a"), arena.literal("b")]))
        return arena.repeat(pair, 2, 50_000)

    automaton = automaton_of(build)
    matcher = _core.Matcher(automaton)
    matcher.accept_all([A, B] * 49_999)
    assert matcher.is_complete
    assert matcher.allowed_tokens() == [A, END]
    matcher.accept_all([A, B])
    assert matcher.allowed_tokens() == [END]
    assert automaton.stats()["heads_max"] <= 4


def test_twenty_thousand_choices_are_read_and_walked_quickly() -> None:
    texts = [
        f"{number:05d}".translate(str.maketrans("0123456789", "abcxpqABCX"))
        for number in range(20_000)
    ]
    start = time.perf_counter()
    arena = _core.Arena()
    node = arena.choice([arena.literal(text) for text in texts])
    letters: list[bytes | None] = [letter.encode() for letter in "abcxpqABCX"]
    automaton = _core.Automaton(arena, node, _core.Vocabulary([*letters, None], [10]))
    matcher = _core.Matcher(automaton)
    assert matcher.allowed_tokens() == [0, 1]
    assert time.perf_counter() - start < 2
    matcher.accept(1)
    assert matcher.allowed_tokens() == list(range(10))
    matcher.accept_all([9, 9, 9, 9])
    assert matcher.allowed_tokens() == [10]


@pytest.mark.parametrize("kind", ["both", "minus", "repeat", "rule-free choice", "capture"])
def test_deep_nesting_is_an_error_and_no_crash(kind: str) -> None:
    arena = _core.Arena()
    step: dict[str, Callable[[int, int], int]] = {
        "both": lambda n, i: arena.both(arena.sequence([n, arena.literal("a")]), arena.repeat(n)),
        "minus": lambda n, i: arena.minus(
            arena.any_text(), arena.sequence([n, arena.literal("a")])
        ),
        "repeat": lambda n, i: arena.repeat(arena.sequence([n, arena.literal("a")]), 0, 2),
        "rule-free choice": lambda n, i: arena.choice([arena.sequence([n, arena.literal("b")]), 0]),
        "capture": lambda n, i: arena.capture(f"name{i % 7}", n),
    }

    def nest(node: int) -> None:
        for index in range(100_000):
            node = step[kind](node, index)

    with pytest.raises(LimitError) as caught:
        nest(arena.char_class([(0x61, 0x62)]))
    assert caught.value.value == 1000


def test_a_long_sequence_is_not_deep() -> None:
    arena = _core.Arena()
    parts = [arena.literal("a"), arena.char_class([(0x62, 0x63)])] * 20_000
    node = arena.sequence(parts)
    matcher = _core.Matcher(_core.Automaton(arena, node, VOCABULARY))
    matcher.accept_all([A, B, A, C] * 10_000)
    assert matcher.allowed_tokens() == [END]


def test_a_long_chain_of_rules_is_walked() -> None:
    def build(arena: _core.Arena) -> int:
        rules = [arena.rule(f"rule{index}") for index in range(5_000)]
        for rule, following in pairwise(rules):
            arena.define(
                rule, arena.choice([following, arena.sequence([arena.literal("b"), rule])])
            )
        arena.define(rules[-1], arena.literal("a"))
        return rules[0]

    matcher = _core.Matcher(automaton_of(build))
    assert matcher.allowed_tokens() == [A, B]
    matcher.accept_all([B, B, A])
    assert matcher.allowed_tokens() == [END]


@pytest.mark.parametrize("length", [1, 2, 1000])
def test_references_that_never_end_are_an_error(length: int) -> None:
    arena = _core.Arena()
    rules = [arena.rule(f"rule{index}") for index in range(length)]
    for rule, following in zip(rules, [*rules[1:], rules[0]], strict=True):
        arena.define(rule, following)
    with pytest.raises(GrammarError):
        _core.Automaton(arena, rules[0], VOCABULARY)


def test_too_many_nodes_are_an_error() -> None:
    arena = _core.Arena(max_nodes=100)
    with pytest.raises(LimitError) as caught:
        arena.choice([arena.literal(f"{index} text") for index in range(200)])
    assert caught.value.value == 100
    assert "100" in str(caught.value)


def test_too_many_heads_are_an_error() -> None:
    arena = _core.Arena()
    rules = [arena.rule(f"rule{index}") for index in range(40)]
    for index, rule in enumerate(rules):
        body = [arena.literal("a"), arena.repeat(arena.literal("b"), index, index + 1)]
        arena.define(rule, arena.sequence([*body, arena.literal("c")]))
    node = arena.choice(rules)
    with pytest.raises(LimitError) as caught:
        _core.Automaton(arena, node, VOCABULARY, max_heads=10).precompute(100)
    assert caught.value.option == "max_heads"
    assert caught.value.value == 10


def test_a_full_automaton_starts_anew_for_the_next_matcher() -> None:
    arena = _core.Arena()
    node = nested_lists(arena)
    automaton = _core.Automaton(arena, node, VOCABULARY, max_bytes=200_000)
    for _ in range(20):
        matcher = _core.Matcher(automaton)
        matcher.accept_all([A] * 500)
        assert matcher.allowed_tokens() == [A, B]
        matcher.accept_all([B] * 500)
        assert matcher.allowed_tokens() == [END]
    assert automaton.stats()["bytes"] <= 2 * 200_000


def test_one_matcher_that_fills_an_automaton_alone_is_an_error() -> None:
    arena = _core.Arena()
    node = nested_lists(arena)
    matcher = _core.Matcher(_core.Automaton(arena, node, VOCABULARY, max_bytes=50_000))
    with pytest.raises(LimitError) as caught:
        matcher.accept_all([A] * 100_000)
    assert caught.value.option == "max_bytes"


def test_memory_of_a_flat_output_is_flat() -> None:
    automaton = automaton_of(lambda arena: arena.repeat(arena.char_class([(0x61, 0x63)])))
    matcher = _core.Matcher(automaton)
    matcher.accept_all([A, B, C])
    before = automaton.stats()
    matcher.accept_all([A, B, C] * 10_000)
    assert automaton.stats() == before
