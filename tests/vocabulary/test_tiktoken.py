"""tiktoken encodings and mistral-common's tokenizers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tiktoken

from guided import Vocabulary, VocabularyError

BYTES = {bytes([byte]): byte for byte in range(256)}


def encoding(special: dict[str, int]) -> tiktoken.Encoding:
    ranks = BYTES | {b"he": 256, b"hel": 257, b" \xc3": 300}
    return tiktoken.Encoding(
        "tiny", pat_str=r"\w+|\W", mergeable_ranks=ranks, special_tokens=special
    )


def test_tokens_are_stored_as_bytes_and_ids_may_have_gaps() -> None:
    vocabulary = Vocabulary.from_tokenizer(encoding({"<|endoftext|>": 310, "<|x|>": 311}))
    assert vocabulary.token_bytes(257) == b"hel"
    assert vocabulary.token_bytes(300) == b" \xc3"
    assert vocabulary.token_bytes(280) is None
    assert vocabulary.special == {"<|endoftext|>": 310, "<|x|>": 311}
    assert vocabulary.token_bytes(311) is None
    assert (vocabulary.eos, vocabulary.size) == ([310], 312)


def test_text_that_looks_like_a_special_token_is_text() -> None:
    encode = Vocabulary.from_tokenizer(encoding({"<|endoftext|>": 310})).encode
    assert encode is not None
    assert 310 not in encode("hel<|endoftext|>")


def test_an_encoding_may_declare_no_end_token() -> None:
    with pytest.raises(VocabularyError, match="no end token is known"):
        Vocabulary.from_tokenizer(encoding({"<|x|>": 310}))
    assert Vocabulary.from_tokenizer(encoding({"<|x|>": 310}), eos=[310]).eos == [310]


@pytest.fixture(scope="module")
def mistral_data() -> Path:
    return Path(pytest.importorskip("mistral_common").__file__).parent / "data"


@pytest.fixture(scope="module")
def tekken(mistral_data: Path) -> Any:
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    return Tekkenizer.from_file(mistral_data / "tekken_240911.json")


def test_tekken_puts_special_tokens_first(tekken: Any) -> None:
    vocabulary = Vocabulary.from_tokenizer(tekken)
    assert vocabulary.size == tekken.n_words
    assert vocabulary.special["</s>"] == 2
    assert vocabulary.eos == [2]
    assert vocabulary.token_bytes(2) is None
    assert [vocabulary.token_bytes(1000 + byte) for byte in range(256)] == list(BYTES)
    assert vocabulary.missing_bytes() == b""


def test_tekken_tokens_of_a_text_spell_the_text(tekken: Any) -> None:
    vocabulary = Vocabulary.from_tokenizer(tekken)
    text = '{"name": "é😀 日本"}\n\n  </s>'
    assert vocabulary.encode is not None
    spelled = b"".join(vocabulary.token_bytes(id_) or b"?" for id_ in vocabulary.encode(text))
    assert spelled == text.encode()


def test_a_mistral_tokenizer_around_sentencepiece(mistral_data: Path) -> None:
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    path = mistral_data / "mistral_instruct_tokenizer_240323.model.v3"
    tokenizer = MistralTokenizer.from_file(str(path))
    vocabulary = Vocabulary.from_tokenizer(tokenizer)
    assert vocabulary.eos == [tokenizer.instruct_tokenizer.tokenizer.eos_id]
    assert vocabulary.token_bytes(vocabulary.special["[INST]"]) is None
    assert vocabulary.encode is not None
    spelled = b"".join(vocabulary.token_bytes(id_) or b"?" for id_ in vocabulary.encode("a é😀"))
    assert spelled == " a é😀".encode()
