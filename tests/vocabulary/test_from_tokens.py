"""A vocabulary of tokens that the caller spells."""

from __future__ import annotations

from typing import Any

import pytest

from guided import Vocabulary, VocabularyError


def test_bytes_names_and_width() -> None:
    vocabulary = Vocabulary.from_tokens(
        [b"a", None, b"\xc3"], eos=[1], special={"<eos>": 1}, size=70
    )
    assert (vocabulary.size, vocabulary.words, vocabulary.eos) == (70, 3, [1])
    assert [vocabulary.token_bytes(id_) for id_ in range(3)] == [b"a", None, b"\xc3"]
    assert vocabulary.special == {"<eos>": 1}
    assert vocabulary.encode is None


def test_end_tokens_and_special_ones_are_never_spelled() -> None:
    vocabulary = Vocabulary.from_tokens([b"a", b"</s>", b"<x>"], eos=[1], special={"<x>": 2})
    assert [vocabulary.token_bytes(id_) for id_ in range(3)] == [b"a", None, None]


def test_an_empty_token_spells_nothing() -> None:
    assert Vocabulary.from_tokens([b"", b"a", None], eos=[2]).token_bytes(0) is None


def test_an_end_token_may_lie_beyond_the_tokens() -> None:
    vocabulary = Vocabulary.from_tokens([b"a"], eos=[3], size=8)
    assert (vocabulary.eos, vocabulary.size) == ([3], 8)


def test_an_end_token_that_is_named_twice_counts_once() -> None:
    assert Vocabulary.from_tokens([b"a", None], eos=[1, 1]).eos == [1]


def test_lengths_are_those_of_the_spellings() -> None:
    vocabulary = Vocabulary.from_tokens([b"a", None, b"abc"], eos=[1], size=5)
    assert vocabulary.lengths == [1, 0, 3, 0, 0]
    assert vocabulary.longest == 3


def test_the_encoder_is_the_one_given() -> None:
    vocabulary = Vocabulary.from_tokens([b"a", None], eos=[1], encode=lambda text: [0] * len(text))
    assert vocabulary.encode is not None
    assert vocabulary.encode("aaa") == [0, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            {"eos": []},
            "no end token is known, so no output could ever end\n"
            "  mend: pass eos=[...] with the ids that end a text",
            id="no end token",
        ),
        pytest.param(
            {"eos": [2]},
            "end token 2 is outside the vocabulary of 2 tokens\n"
            "  mend: use ids from 0, or pass size=... if the logits are wider",
            id="end token too high",
        ),
        pytest.param(
            {"eos": [-1]},
            "end token -1 is outside the vocabulary of 2 tokens\n"
            "  mend: use ids from 0, or pass size=... if the logits are wider",
            id="end token negative",
        ),
        pytest.param(
            {"eos": [1], "special": {"<x>": 9}},
            "special token '<x>' (9) is outside the vocabulary of 2 tokens\n"
            "  mend: use ids from 0, or pass size=... if the logits are wider",
            id="special token too high",
        ),
        pytest.param(
            {"eos": [1], "size": 1},
            "the logits are 1 wide, but there are 2 tokens\n"
            "  mend: pass a size of at least 2, or leave it out",
            id="too narrow",
        ),
    ],
)
def test_wrong_numbers_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_tokens([b"a", None], **arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("tokens", "eos", "message"),
    [
        pytest.param(["a", None], [1], "found 'a'", id="text instead of bytes"),
        pytest.param({b"a": 0}, [1], "found {b'a': 0}", id="a table by spelling"),
        pytest.param([b"a", None], 1, r"write eos=\[1\]", id="one end token by itself"),
    ],
)
def test_wrong_types_are_named(tokens: Any, eos: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Vocabulary.from_tokens(tokens, eos=eos)
