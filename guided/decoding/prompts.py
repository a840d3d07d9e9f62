"""Prompts to tokens: text, chat messages, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from guided.decoding.model import Model
from guided.errors import LimitError

Messages: TypeAlias = Sequence[Mapping[str, Any]]
Prompt: TypeAlias = str | Messages | None


def is_batch(prompt: object) -> bool:
    """Whether `prompt` is a list of prompts, and not one prompt that is a list of messages."""
    return isinstance(prompt, list | tuple) and not (
        prompt and all(isinstance(message, Mapping) for message in prompt)
    )


def encode(model: Model, prompt: Prompt) -> list[int]:
    """Turn a prompt into tokens, at least one.

    Text gets the special tokens that the tokenizer puts at its beginning. Messages go through the
    model's chat template, up to where the model's answer begins. None is the beginning of a text.

    Raises:
        TypeError: it is neither text nor messages.
        ValueError: the tokenizer has no chat template, or the model no token to begin with.
        LimitError: the prompt leaves no room in the model's context.
    """
    tokens: Sequence[int]
    if prompt is None:
        tokens = []
    elif isinstance(prompt, str):
        tokens = model.tokenizer(prompt, verbose=False)["input_ids"]
    else:
        tokens = encode_messages(model, prompt)
    tokens = [int(token) for token in tokens] or [first_token(model)]
    if model.context is not None and len(tokens) >= model.context:
        raise LimitError(
            f"the prompt has {len(tokens)} tokens and leaves no room for output",
            limit="tokens of context",
            value=model.context,
        )
    return tokens


def encode_messages(model: Model, messages: Messages) -> list[int]:
    """Write the messages as the model's chat template does."""
    check_messages(messages)
    if not model.tokenizer.chat_template:
        raise ValueError(
            "the tokenizer has no chat template to write messages with; give the prompt as text"
        )
    text = model.tokenizer.apply_chat_template(
        [dict(message) for message in messages], add_generation_prompt=True, tokenize=False
    )
    assert isinstance(text, str)
    # The template has written every special token itself.
    tokens: list[int] = model.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    return tokens


def check_messages(messages: object) -> None:
    """Raise unless this is a list of messages, each with a role."""
    wrong = [messages]
    if isinstance(messages, list | tuple):
        wrong = [item for item in messages if not (isinstance(item, Mapping) and "role" in item)]
    if wrong:
        raise TypeError(
            "a prompt is text, or a list of messages such as"
            f' {{"role": "user", "content": "..."}}; found {wrong[0]!r}'
        )


def first_token(model: Model) -> int:
    """Return the token a text begins with: BOS or, lacking it, EOS, as GPT-2 has it."""
    candidates = (
        model.tokenizer.bos_token_id,
        getattr(model.network.generation_config, "bos_token_id", None),
        *model.vocabulary.eos,
    )
    for token in candidates:
        if isinstance(token, int):
            return token
    raise ValueError("the model has no token to begin a text with; give a prompt")
