"""Tokenizers of transformers: end tokens, width, the weak cache, speed."""

from __future__ import annotations

import gc
import os
import time
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from guided import Vocabulary, VocabularyError
from tests.vocabulary.test_byte_level import END, byte_level_tokenizer


def wrapped(**special: str) -> Any:
    """A transformers tokenizer; its end token is `<|end|>`, id 256."""
    from transformers import PreTrainedTokenizerFast

    backend = byte_level_tokenizer()
    backend.add_special_tokens(["<|turn|>"])
    return PreTrainedTokenizerFast(tokenizer_object=backend, **special)


def test_the_end_token_of_the_tokenizer_is_used() -> None:
    assert Vocabulary.from_tokenizer(wrapped(eos_token=END)).eos == [256]


@pytest.mark.parametrize(
    ("config", "eos"),
    [
        (SimpleNamespace(eos_token_id=257), [256, 257]),
        (SimpleNamespace(eos_token_id=[257, 256]), [256, 257]),
        (SimpleNamespace(eos_token_id=None), [256]),
        ({"eos_token_id": [257]}, [256, 257]),
        ({}, [256]),
    ],
)
def test_those_of_the_generation_config_are_joined(config: object, eos: list[int]) -> None:
    tokenizer = wrapped(eos_token=END)
    assert Vocabulary.from_tokenizer(tokenizer, generation_config=config).eos == eos


def test_end_tokens_that_are_given_stand_alone() -> None:
    assert Vocabulary.from_tokenizer(wrapped(eos_token=END), eos=[257]).eos == [257]


def test_a_turn_token_ends_nothing_unless_declared() -> None:
    assert Vocabulary.from_tokenizer(wrapped(eos_token=END)).eos == [256]
    with pytest.raises(VocabularyError, match="no end token is known"):
        Vocabulary.from_tokenizer(wrapped())


def test_special_tokens_of_the_wrapper_are_special() -> None:
    tokenizer = wrapped(eos_token=END, pad_token="a")
    vocabulary = Vocabulary.from_tokenizer(tokenizer)
    assert vocabulary.special["a"] == tokenizer.pad_token_id
    assert vocabulary.token_bytes(tokenizer.pad_token_id) is None


def test_special_tokens_that_the_tokenizer_lacks_are_left_out() -> None:
    tokenizer = wrapped(eos_token=END)
    tokenizer.unk_token = "a"
    tokenizer._special_tokens_map["mask_token"] = "<nowhere>"
    assert tokenizer.mask_token_id == tokenizer.unk_token_id
    assert set(Vocabulary.from_tokenizer(tokenizer).special) == {END, "<|turn|>", "a"}


def test_tokens_beyond_the_logits_are_left_out() -> None:
    tokenizer = wrapped(eos_token=END)
    vocabulary = Vocabulary.from_tokenizer(tokenizer, size=257)
    assert (vocabulary.size, vocabulary.special) == (257, {END: 256})
    with pytest.raises(VocabularyError, match="no end token is known"):
        Vocabulary.from_tokenizer(tokenizer, size=200)


def test_logits_may_be_wider_than_the_tokenizer() -> None:
    vocabulary = Vocabulary.from_tokenizer(wrapped(eos_token=END), size=320)
    assert (vocabulary.size, vocabulary.words) == (320, 10)
    assert vocabulary.token_bytes(300) is None


def test_a_tokenizer_is_read_once() -> None:
    tokenizer = wrapped(eos_token=END)
    first = Vocabulary.from_tokenizer(tokenizer)
    assert Vocabulary.from_tokenizer(tokenizer) is first
    assert Vocabulary.from_tokenizer(tokenizer, size=320) is not first
    tokenizer.add_tokens(["<new>"])
    assert Vocabulary.from_tokenizer(tokenizer).token_bytes(258) == b"<new>"


def test_the_cache_keeps_neither_tokenizer_nor_vocabulary_alive() -> None:
    tokenizer = wrapped(eos_token=END)
    vocabulary = Vocabulary.from_tokenizer(tokenizer)
    gone = [weakref.ref(tokenizer), weakref.ref(vocabulary)]
    encode = vocabulary.encode
    del tokenizer
    gc.collect()
    assert gone[0]() is None
    assert vocabulary.encode is not None
    assert vocabulary.encode("a") == [vocabulary.encode("ba")[1]]
    del vocabulary, encode
    gc.collect()
    assert gone[1]() is None


@pytest.mark.large
@pytest.mark.parametrize("name", ["llama3", "qwen", "smollm2"])
def test_a_large_tokenizer_is_read_in_half_a_second(name: str) -> None:
    from transformers import AutoTokenizer

    folder = Path(os.environ.get("GUIDED_TOKENIZERS", "tokenizers")) / name
    if not folder.is_dir():
        pytest.skip(f"no tokenizer at {folder}; name the folder of tokenizers by GUIDED_TOKENIZERS")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    start = time.process_time()  # of this process: other work on the machine does not count
    vocabulary = Vocabulary.from_tokenizer(tokenizer)
    assert time.process_time() - start < 0.5
    text = '{"name": "Ada é😀 日本", "born": 1815}\n\n\tvoid  main()'
    assert vocabulary.encode is not None
    spelled = b"".join(vocabulary.token_bytes(id_) or b"?" for id_ in vocabulary.encode(text))
    assert spelled == text.encode()
