"""Tiny models with random weights and a byte-level tokenizer, made in a moment."""

from __future__ import annotations

from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedModel, PreTrainedTokenizerFast

SPECIAL = ["<|begin|>", "<|end|>", "<|turn|>"]
MERGES = [("t", "r"), ("tr", "u"), ("tru", "e"), ('"', ":"), ("1", "2"), ("a", "b"), ("ab", "c")]
TEMPLATE = (
    "{% for message in messages %}<|turn|>{{ message['role'] }}: {{ message['content'] }}"
    "{% endfor %}{% if add_generation_prompt %}<|turn|>assistant: {% endif %}"
)
VOCABULARY = 320  # wider than the tokenizer, as many models are


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """256 bytes, a few merges, three special tokens; `<|begin|>` is not put before a text."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = [*SPECIAL, *alphabet, *(left + right for left, right in MERGES)]
    vocabulary = {token: id_ for id_, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=MERGES))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(SPECIAL)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=SPECIAL[0],
        eos_token=SPECIAL[1],
        additional_special_tokens=[SPECIAL[2]],
        chat_template=TEMPLATE,
    )


SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "initializer_range": 0.3,  # large, so that the outputs vary
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": None,
    "tie_word_embeddings": False,
}


def tiny_network(seed: int = 0, **config: Any) -> PreTrainedModel:
    """A Llama of two layers, in float32 on the CPU."""
    torch.manual_seed(seed)
    network = LlamaForCausalLM(LlamaConfig(**{**SIZES, **config}))
    network.eval()
    return network
