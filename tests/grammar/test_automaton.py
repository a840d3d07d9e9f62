"""Automata and matchers as users see them; what they do is the core's, and tested there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from guided import (
    Automaton,
    Grammar,
    GuidedError,
    Matcher,
    TokenRejected,
    Vocabulary,
    VocabularyError,
)

TOKENS: list[bytes | None] = [b"a", b"b", b"ab", b"aab", None]
END = 4


def automaton_of(pattern: str, tokens: list[bytes | None] = TOKENS) -> Automaton:
    vocabulary = Vocabulary.from_tokens(tokens, eos=[tokens.index(None)])
    return Grammar.from_regex(pattern).compile(vocabulary)


def allowed(matcher: Matcher) -> list[int]:
    row = np.zeros(matcher.vocabulary.words, np.int32)
    matcher.fill_mask(row)
    return [token for token in range(matcher.vocabulary.size) if row[token // 32] >> token % 32 & 1]


def test_a_matcher_walks_its_automaton() -> None:
    automaton = automaton_of("a+b")
    matcher = automaton.matcher()
    assert isinstance(matcher, Matcher)
    assert matcher.automaton is automaton
    assert matcher.vocabulary is automaton.vocabulary
    assert allowed(matcher) == [0, 2, 3]
    matcher.accept(2)
    assert matcher.is_complete
    assert allowed(matcher) == [END]
    with pytest.raises(TokenRejected):
        matcher.accept(0)


def test_a_fork_goes_its_own_way() -> None:
    matcher = automaton_of("a+b").matcher()
    matcher.accept(0)
    fork = matcher.fork()
    assert isinstance(fork, Matcher)
    fork.accept(1)
    assert (fork.tokens, matcher.tokens) == ([0, 1], [0])
    assert fork.automaton is matcher.automaton


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    automaton = automaton_of("(a|b){2,5}")
    assert automaton.precompute() > 4
    automaton.save(tmp_path / "saved")
    loaded = Automaton.load(tmp_path / "saved", automaton.vocabulary)
    assert loaded.vocabulary is automaton.vocabulary
    assert loaded.stats()["states"] == automaton.stats()["states"]
    assert allowed(loaded.matcher()) == allowed(automaton.matcher())


def test_a_file_for_another_vocabulary_is_refused(tmp_path: Path) -> None:
    automaton_of("a+b").save(tmp_path / "saved")
    other = Vocabulary.from_tokens([b"a", None], eos=[1])
    with pytest.raises(GuidedError) as caught:
        Automaton.load(tmp_path / "saved", other)
    assert str(caught.value) == (
        "the automaton was saved for another vocabulary\n"
        f"  in {tmp_path / 'saved'}\n"
        "  mend: compile the grammar and save it again"
    )


def test_other_files_are_refused(tmp_path: Path) -> None:
    vocabulary = automaton_of("a").vocabulary
    (tmp_path / "other").write_bytes(b"hello")
    with pytest.raises(GuidedError, match="not a saved automaton"):
        Automaton.load(tmp_path / "other", vocabulary)
    with pytest.raises(FileNotFoundError):
        Automaton.load(tmp_path / "absent", vocabulary)


def test_a_dead_end_of_the_vocabulary_is_told() -> None:
    matcher = automaton_of("ab?x", [b"a", b"b", None]).matcher()
    matcher.check_spelling()
    matcher.accept(0)
    matcher.accept(1)
    with pytest.raises(VocabularyError, match="one of the bytes b'x'"):
        matcher.check_spelling()
