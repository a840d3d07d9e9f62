"""Byte-level BPE of the `tokenizers` library: tokens are stored in the byte alphabet."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

from guided import Vocabulary

END = "<|end|>"


def byte_level_tokenizer(*more: str, normalize: bool = False) -> Tokenizer:
    """All letters of the byte alphabet, then `more`, then an end token."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {text: id_ for id_, text in enumerate([*letters, *more])}
    merges = [(text[:-1], text[-1]) for text in more if text[:-1] in vocabulary]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    if normalize:
        tokenizer.normalizer = normalizers.ByteLevel()
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([END])
    return tokenizer


def id_of(tokenizer: Tokenizer, token: str) -> int:
    id_ = tokenizer.token_to_id(token)
    assert id_ is not None
    return id_


def vocabulary_of(tokenizer: Tokenizer) -> Vocabulary:
    return Vocabulary.from_tokenizer(tokenizer, eos=[id_of(tokenizer, END)])


def spelling(tokenizer: Tokenizer, token: str) -> bytes | None:
    return vocabulary_of(tokenizer).token_bytes(id_of(tokenizer, token))


def test_each_letter_of_the_alphabet_is_one_byte() -> None:
    vocabulary = vocabulary_of(byte_level_tokenizer())
    spelled = {vocabulary.token_bytes(id_) for id_ in range(256)}
    assert spelled == {bytes([byte]) for byte in range(256)}
    assert vocabulary.missing_bytes() == b""


def test_a_blank_and_half_a_character_are_spelled_in_bytes() -> None:
    tokenizer = byte_level_tokenizer("Ġa", "ĠðŁ")
    assert spelling(tokenizer, "Ġa") == b" a"
    assert spelling(tokenizer, "ĠðŁ") == b" \xf0\x9f"


def test_a_normalizer_may_write_the_byte_alphabet_too() -> None:
    assert spelling(byte_level_tokenizer("Ġa", normalize=True), "Ġa") == b" a"


def test_a_token_outside_the_alphabet_spells_its_own_text() -> None:
    tokenizer = byte_level_tokenizer("a b", "日")
    assert spelling(tokenizer, "a b") == b"a b"
    assert spelling(tokenizer, "日") == "日".encode()


def test_special_tokens_are_named_and_spell_nothing() -> None:
    tokenizer = byte_level_tokenizer()
    vocabulary = vocabulary_of(tokenizer)
    assert vocabulary.special == {END: 256}
    assert vocabulary.token_bytes(256) is None


def test_added_tokens_that_are_not_special_spell_their_text() -> None:
    tokenizer = byte_level_tokenizer()
    tokenizer.add_tokens([AddedToken("<tool>"), AddedToken("été", normalized=False)])
    assert spelling(tokenizer, "<tool>") == b"<tool>"
    assert spelling(tokenizer, "été") == "été".encode()  # not the bytes E9 74 E9


def test_byte_fallback_spelling_means_nothing_here() -> None:
    assert spelling(byte_level_tokenizer("<0xC3>"), "<0xC3>") == b"<0xC3>"


def test_gaps_between_ids_spell_nothing() -> None:
    model = models.BPE(vocab={"a": 0, "b": 5}, merges=[])
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    vocabulary = Vocabulary.from_tokenizer(tokenizer, eos=[4])
    assert [vocabulary.token_bytes(id_) for id_ in range(6)] == [b"a", None, None, None, None, b"b"]


@given(st.text())
def test_the_tokens_of_a_text_spell_the_text(text: str) -> None:
    tokenizer = byte_level_tokenizer("Ġa", "the", "Ãī", "ab")
    vocabulary = vocabulary_of(tokenizer)
    assert vocabulary.encode is not None
    tokens = vocabulary.encode(text)
    if tokenizer.token_to_id(END) not in tokens:  # the text may contain the name of the end token
        assert b"".join(vocabulary.token_bytes(id_) or b"?" for id_ in tokens) == text.encode()


def test_encode_ignores_truncation_and_padding_left_on_by_others() -> None:
    tokenizer = byte_level_tokenizer()
    vocabulary = vocabulary_of(tokenizer)
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=16)
    assert vocabulary.encode is not None
    assert len(vocabulary.encode("four")) == 4
    assert tokenizer.truncation is not None
