"""The vocabulary of the core: sizes, end tokens, bytes, and what is refused."""

from __future__ import annotations

import pytest

from guided import _core


def allowed(vocabulary: _core.Vocabulary, text: str) -> list[int]:
    arena = _core.Arena()
    return _core.Matcher(_core.Automaton(arena, arena.literal(text), vocabulary)).allowed_tokens()


def test_its_numbers() -> None:
    vocabulary = _core.Vocabulary([b"a", None, b"\xc3", b"a", None], [4, 1, 4], size=70)
    assert vocabulary.size == 70
    assert vocabulary.words == 3
    assert vocabulary.eos == [1, 4]
    assert [vocabulary.token_bytes(token) for token in range(5)] == [
        b"a",
        None,
        b"\xc3",
        b"a",
        None,
    ]
    assert vocabulary.token_bytes(69) is None


def test_the_size_is_the_number_of_tokens_by_default() -> None:
    assert _core.Vocabulary([b"a", None], [1]).size == 2


def test_bytes_without_a_token_are_named() -> None:
    tokens = [bytes([byte]) for byte in range(256) if byte not in b"x\xff"]
    assert _core.Vocabulary([*tokens, b"xx", None], [len(tokens) + 1]).missing_bytes() == b"x\xff"


@pytest.mark.parametrize(
    ("tokens", "eos", "size"),
    [
        pytest.param([b"a", None], [], None, id="no end token"),
        pytest.param([b"a", None], [2], None, id="end token out of range"),
        pytest.param([b"a", None], [1], 1, id="size too small"),
    ],
)
def test_a_vocabulary_that_cannot_be(
    tokens: list[bytes | None], eos: list[int], size: int | None
) -> None:
    with pytest.raises(ValueError, match=r"."):
        _core.Vocabulary(tokens, eos, size)


def test_equal_spellings_are_allowed_together() -> None:
    assert allowed(_core.Vocabulary([b"a", b"b", b"a", b"ab", None], [4]), "ab") == [0, 2, 3]


def test_an_empty_spelling_is_never_allowed() -> None:
    assert allowed(_core.Vocabulary([b"a", b"", None], [2]), "a") == [0]


def test_an_end_token_ends_and_spells_nothing() -> None:
    vocabulary = _core.Vocabulary([b"a", b"b", b"ab"], [1])
    arena = _core.Arena()
    node = arena.literal("ab")
    matcher = _core.Matcher(_core.Automaton(arena, node, vocabulary))
    assert matcher.allowed_tokens() == [0, 2]
    matcher.accept(2)
    assert matcher.allowed_tokens() == [1]


def test_the_fingerprint_is_of_all_that_matters() -> None:
    prints = {
        _core.Vocabulary(tokens, eos, size).fingerprint
        for tokens, eos, size in [
            ([b"a", b"b", None, None], [2], None),
            ([b"b", b"a", None, None], [2], None),
            ([b"ab", b"", None, None], [2], None),
            ([b"", b"ab", None, None], [2], None),
            ([b"a", b"b", None, None], [3], None),
            ([b"a", b"b", None, None], [2, 3], None),
            ([b"a", b"b", None, None], [2], 5),
            ([b"a", b"b", None, None, None], [2], None),
        ]
    }
    assert len(prints) in (7, 8)  # the last two may count as one: both have 5 columns
    first = _core.Vocabulary([b"a", None], [1]).fingerprint
    assert first == _core.Vocabulary([b"a", None], [1]).fingerprint
    assert len(first) == 32
    int(first, 16)
