"""Prompts: text, messages, nothing, and what they are not."""

from __future__ import annotations

from typing import Any

import pytest
from transformers import PreTrainedTokenizerBase

from guided.decoding import Model, load
from guided.decoding.prompts import encode, is_batch
from guided.errors import LimitError
from tests.decoding.tiny_model import tiny_network, tiny_tokenizer


def test_text_is_what_the_tokenizer_makes_of_it(model: Model) -> None:
    assert encode(model, "true abc") == model.tokenizer("true abc")["input_ids"]


@pytest.mark.parametrize("prompt", [None, ""])
def test_nothing_is_the_beginning_of_a_text(model: Model, prompt: str | None) -> None:
    assert encode(model, prompt) == [0]


def test_a_model_without_a_beginning_begins_with_its_end() -> None:
    tokenizer, network = tiny_tokenizer(), tiny_network(bos_token_id=None)
    tokenizer.bos_token = None
    assert encode(load(network, tokenizer), None) == [1]


def test_messages_are_written_by_the_chat_template(model: Model) -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    tokens = encode(model, messages)
    written = "<|turn|>system: Be brief.<|turn|>user: Hi<|turn|>assistant: "
    assert isinstance(model.tokenizer, PreTrainedTokenizerBase)
    assert model.tokenizer.decode(tokens) == written
    assert tokens.count(2) == 3  # special tokens, not their spelling


def test_a_tokenizer_without_template_refuses_messages() -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = None
    with pytest.raises(ValueError, match="no chat template to write messages with"):
        encode(load(tiny_network(), tokenizer), [{"role": "user", "content": "Hi"}])


@pytest.mark.parametrize("prompt", [[{"content": "Hi"}], [1, 2, 3], [["a"]]])
def test_what_is_no_prompt_is_refused(model: Model, prompt: Any) -> None:
    with pytest.raises(TypeError, match="a prompt is text, or a list of messages"):
        encode(model, prompt)


@pytest.mark.parametrize("prompt", [7, b"bytes", {"role": "user", "content": "Hi"}])
def test_what_is_neither_text_nor_a_list_is_refused(model: Model, prompt: Any) -> None:
    with pytest.raises(TypeError, match="a prompt is text, or a list of messages"):
        encode(model, prompt)


def test_a_prompt_that_fills_the_context_is_refused(model: Model) -> None:
    assert len(encode(model, "xy" * 127)) == 254
    with pytest.raises(LimitError) as caught:
        encode(model, "xy" * 128)
    assert str(caught.value) == (
        "the prompt has 256 tokens and leaves no room for output:"
        " over the limit of 256 tokens of context\n  mend: make the input smaller"
    )


@pytest.mark.parametrize(
    ("prompt", "batch"),
    [
        (None, False),
        ("text", False),
        ([{"role": "user", "content": "Hi"}], False),
        (["text", "text"], True),
        ([[{"role": "user", "content": "Hi"}]], True),
        (["text", [{"role": "user", "content": "Hi"}], None], True),
        ([], True),
    ],
)
def test_a_list_is_a_batch_unless_it_holds_messages(prompt: object, batch: bool) -> None:
    assert is_batch(prompt) is batch
