"""SentencePiece-like tokenizers of the `tokenizers` library: tokens are stored as text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

from guided import Vocabulary

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
LLAMA = [
    decoders.Replace("▁", " "),
    decoders.ByteFallback(),
    decoders.Fuse(),
    decoders.Strip(" ", 1, 0),
]


def bpe_tokenizer(tokens: list[str], *, decoder: Any, byte_fallback: bool) -> Tokenizer:
    """A tokenizer laid out like Llama 2's."""
    vocabulary = {text: id_ for id_, text in enumerate(["<unk>", "</s>", *tokens])}
    model = models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>", byte_fallback=byte_fallback)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoder
    tokenizer.add_special_tokens(["</s>"])
    return tokenizer


def llama_tokenizer(*tokens: str) -> Tokenizer:
    return bpe_tokenizer(
        [*BYTES, "▁", *tokens], decoder=decoders.Sequence(LLAMA), byte_fallback=True
    )


def id_of(tokenizer: Tokenizer, token: str) -> int:
    id_ = tokenizer.token_to_id(token)
    assert id_ is not None
    return id_


def vocabulary_of(tokenizer: Tokenizer) -> Vocabulary:
    return Vocabulary.from_tokenizer(tokenizer, eos=[id_of(tokenizer, "</s>")])


def spelling(tokenizer: Tokenizer, token: str) -> bytes | None:
    return vocabulary_of(tokenizer).token_bytes(id_of(tokenizer, token))


@pytest.mark.parametrize(
    ("token", "spelled"),
    [
        ("▁the", b" the"),
        ("the", b"the"),
        ("▁", b" "),
        ("é", "é".encode()),
        ("Ġa", "Ġa".encode()),  # no byte alphabet here: these are the bytes C4 A0 61
        ("<0x0A>", b"\n"),
        ("<0xC3>", b"\xc3"),
        ("<0xC3>x", b"<0xC3>x"),
        ("<0xc>", b"<0xc>"),
    ],
)
def test_tokens_are_spelled_as_the_decoder_writes_them(token: str, spelled: bytes) -> None:
    more = [token] if token not in BYTES and token != "▁" else []
    assert spelling(llama_tokenizer(*more), token) == spelled


def test_without_byte_fallback_a_byte_name_is_six_characters() -> None:
    decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse()])
    tokenizer = bpe_tokenizer(["<0xC3>"], decoder=decoder, byte_fallback=False)
    assert spelling(tokenizer, "<0xC3>") == b"<0xC3>"


def test_the_unknown_token_is_special_without_being_declared() -> None:
    vocabulary = vocabulary_of(llama_tokenizer())
    assert vocabulary.special == {"</s>": 1, "<unk>": 0}
    assert vocabulary.token_bytes(0) is None


def test_added_runs_of_blanks_are_blanks() -> None:
    tokenizer = llama_tokenizer("▁▁")
    tokenizer.add_tokens([AddedToken("▁▁", normalized=False)])
    assert spelling(tokenizer, "▁▁") == b"  "


def test_added_tokens_that_are_not_special_spell_their_text() -> None:
    tokenizer = llama_tokenizer()
    tokenizer.add_tokens([AddedToken("<tool call>")])
    assert spelling(tokenizer, "<tool call>") == b"<tool call>"


@given(st.text())
def test_the_tokens_of_a_text_spell_the_text_after_one_blank(text: str) -> None:
    vocabulary = vocabulary_of(llama_tokenizer("▁the", "a", "b"))
    assert vocabulary.encode is not None
    tokens = vocabulary.encode(text)
    spelled = b"".join(vocabulary.token_bytes(id_) or b"?" for id_ in tokens)
    assert spelled == (b" " + text.replace("▁", " ").encode() if text else b"")


@pytest.mark.parametrize(
    "decoder",
    [
        pytest.param(decoders.Metaspace(), id="metaspace"),
        pytest.param(decoders.Metaspace(prepend_scheme="never"), id="metaspace, no prefix"),
    ],
)
def test_unigram_with_metaspace(decoder: Any) -> None:
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁the", -1.0), ("cat", -2.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=2))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoder
    tokenizer.add_special_tokens(["<pad>", "</s>"])
    vocabulary = vocabulary_of(tokenizer)
    assert [vocabulary.token_bytes(id_) for id_ in range(5)] == [None, None, None, b" the", b"cat"]
    assert vocabulary.special == {"<pad>": 0, "</s>": 1, "<unk>": 2}
