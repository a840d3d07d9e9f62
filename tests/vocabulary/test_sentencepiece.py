"""SentencePiece models, bare and inside the slow tokenizers of transformers."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import sentencepiece

from guided import Vocabulary


@pytest.fixture(scope="module")
def model_bytes() -> bytes:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["hello world, the cat sat on a mat"] * 50),
        model_writer=written,
        model_type="bpe",
        vocab_size=320,
        hard_vocab_limit=False,
        byte_fallback=True,
        user_defined_symbols=["<tool>"],
        control_symbols=["<turn>"],
        minloglevel=2,
    )
    return written.getvalue()


@pytest.fixture(scope="module")
def model(model_bytes: bytes) -> Any:
    return sentencepiece.SentencePieceProcessor(model_proto=model_bytes)


@pytest.fixture
def slow_tokenizer(model_bytes: bytes, tmp_path: Path) -> Any:
    from transformers import BertGenerationTokenizer

    path = tmp_path / "tiny.model"
    path.write_bytes(model_bytes)
    return BertGenerationTokenizer(vocab_file=str(path))


def spelling(vocabulary: Vocabulary, id_: int) -> bytes | None:
    return vocabulary.token_bytes(id_)


def test_each_kind_of_piece(model: Any) -> None:
    vocabulary = Vocabulary.from_tokenizer(model)
    for piece, spelled in {
        "▁the": b" the",
        "▁": b" ",
        "<tool>": b"<tool>",
        "<0xC3>": b"\xc3",
        "<turn>": None,
        "</s>": None,
        "<unk>": None,
    }.items():
        assert spelling(vocabulary, model.piece_to_id(piece)) == spelled, piece
    assert set(vocabulary.special) == {"<unk>", "<s>", "</s>", "<turn>"}
    assert vocabulary.eos == [model.eos_id()]


def test_the_tokens_of_a_text_spell_the_text_after_one_blank(model: Any) -> None:
    vocabulary = Vocabulary.from_tokenizer(model)
    text = "the cat sat: é😀 {<tool>}"
    assert vocabulary.encode is not None
    spelled = b"".join(vocabulary.token_bytes(id_) or b"?" for id_ in vocabulary.encode(text))
    assert spelled == b" " + text.encode()


def test_a_slow_tokenizer_adds_tokens_of_its_own(slow_tokenizer: Any, model: Any) -> None:
    slow_tokenizer.add_tokens(["<note>"])
    vocabulary = Vocabulary.from_tokenizer(slow_tokenizer)
    added = slow_tokenizer.convert_tokens_to_ids("<note>")
    assert added >= model.get_piece_size()
    assert spelling(vocabulary, added) == b"<note>"
    assert spelling(vocabulary, slow_tokenizer.convert_tokens_to_ids("▁the")) == b" the"
    assert spelling(vocabulary, slow_tokenizer.convert_tokens_to_ids("<0xC3>")) == b"\xc3"
    for token, id_ in zip(
        slow_tokenizer.all_special_tokens, slow_tokenizer.all_special_ids, strict=True
    ):
        assert vocabulary.special[token] == id_
        assert spelling(vocabulary, id_) is None
    assert vocabulary.eos == [slow_tokenizer.eos_token_id]


def test_a_slow_tokenizer_encodes_without_special_tokens(slow_tokenizer: Any) -> None:
    encode = Vocabulary.from_tokenizer(slow_tokenizer).encode
    assert encode is not None
    assert encode("the cat") == slow_tokenizer.encode("the cat", add_special_tokens=False)
