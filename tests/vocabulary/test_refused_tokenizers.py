"""A tokenizer whose tokens have no spelling of their own is refused, with the reason."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from guided import Vocabulary, VocabularyError

REPLACE, FUSE = decoders.Replace("▁", " "), decoders.Fuse()
BYTE_LEVEL = pre_tokenizers.ByteLevel()


def refusal(model: Any, decoder: Any, pre_tokenizer: Any = None) -> str:
    tokenizer = Tokenizer(model)
    if decoder is not None:
        tokenizer.decoder = decoder
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_tokenizer(tokenizer, eos=[0])
    assert caught.value.mend
    return caught.value.fact


def bpe(**options: Any) -> Any:
    return models.BPE(vocab={"a": 0, "b": 1}, merges=[], **options)


def test_word_piece_does_not_say_where_blanks_stand() -> None:
    model = models.WordPiece(vocab={"[UNK]": 0, "a": 1, "##b": 2}, unk_token="[UNK]")
    assert refusal(model, decoders.WordPiece()) == (
        "a WordPiece tokenizer cannot be used: its tokens do not say where blanks stand"
    )


def test_a_suffix_of_words_is_no_text() -> None:
    model = bpe(end_of_word_suffix="</w>")
    assert refusal(model, decoders.BPEDecoder()) == (
        "the tokenizer marks words by end_of_word_suffix '</w>', which is no part of the text"
    )


@pytest.mark.parametrize(
    ("decoder", "pre_tokenizer", "reason"),
    [
        pytest.param(None, None, "has no decoder", id="none"),
        pytest.param(None, BYTE_LEVEL, "has no decoder", id="none, byte-level"),
        pytest.param(decoders.CTC(), None, "drops repeated tokens", id="CTC"),
        pytest.param(decoders.BPEDecoder(), None, "for a suffix", id="suffix"),
        pytest.param(decoders.WordPiece(), None, "blanks between tokens", id="word pieces"),
        pytest.param(
            decoders.ByteLevel(), None, "decoder of the tokenizer is byte-level and its pre-tok",
            id="byte-level in the decoder only",
        ),
        pytest.param(
            FUSE, BYTE_LEVEL, "pre-tokenizer of the tokenizer is byte-level and its decoder",
            id="byte-level in the pre-tokenizer only",
        ),
        pytest.param(
            decoders.Sequence([decoders.ByteLevel(), REPLACE]), BYTE_LEVEL,
            "ByteLevel + Replace mixes byte-level", id="byte-level and more",
        ),
        pytest.param(
            decoders.Replace(Regex("a+"), ""), None, "reaches beyond one token", id="regex"
        ),
        pytest.param(
            decoders.Sequence([FUSE, decoders.Replace("ab", "c")]), None,
            "reaches beyond one token", id="replacement in the whole text",
        ),
        pytest.param(decoders.Strip(" ", 1, 0), None, "strips", id="strip of every token"),
        pytest.param(
            decoders.Sequence([FUSE, decoders.Strip(" ", 0, 1)]), None, "strips",
            id="strip of the end",
        ),
    ],
)  # fmt: skip
def test_decoders_without_a_spelling_for_each_token(
    decoder: Any, pre_tokenizer: Any, reason: str
) -> None:
    assert reason in refusal(bpe(), decoder, pre_tokenizer)


def test_what_is_no_tokenizer_is_named() -> None:
    with pytest.raises(VocabularyError, match=r"a builtins\.int is no tokenizer that is known"):
        Vocabulary.from_tokenizer(3)


def test_a_processor_is_asked_for_its_tokenizer() -> None:
    class Processor:
        tokenizer = None

    with pytest.raises(VocabularyError, match="is no tokenizer") as caught:
        Vocabulary.from_tokenizer(Processor())
    assert caught.value.mend == "pass its .tokenizer"
