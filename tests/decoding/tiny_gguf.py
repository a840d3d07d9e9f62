"""Tiny models as GGUF files, next to the same weights in transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    MambaConfig,
    MambaForCausalLM,
    PreTrainedModel,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from tests.decoding.tiny_model import (
    MERGES,
    SIZES,
    SPECIAL,
    TEMPLATE,
    VOCABULARY,
    tiny_tokenizer,
)

WINDOW = 8
FAMILIES = ("qwen2", "gemma2", "mamba")  # full attention; a window in each second layer; a state

MAMBA: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "state_size": 8,
    "num_hidden_layers": 2,
}


def tiny_network(family: str, **sizes: Any) -> PreTrainedModel:
    """Two layers with random weights, in float32; other sizes for qwen2."""
    torch.manual_seed(1)
    network: PreTrainedModel
    if family == "qwen2":
        network = Qwen2ForCausalLM(Qwen2Config(**{**SIZES, **sizes}, max_window_layers=2))
    elif family == "gemma2":
        tied = {**SIZES, "tie_word_embeddings": True, "initializer_range": 0.1, "pad_token_id": 0}
        network = Gemma2ForCausalLM(
            Gemma2Config(**tied, head_dim=8, query_pre_attn_scalar=8, sliding_window=WINDOW)
        )
        network.set_attn_implementation("eager")
    else:
        network = MambaForCausalLM(MambaConfig(**MAMBA, initializer_range=0.3))
    for weight in network.parameters():
        if weight.ndim == 1:  # biases and norms, which begin as zeros and ones
            weight.data += 0.1 * torch.randn_like(weight)
    network.train(False)
    return network


def write_gguf(path: Path, family: str, network: PreTrainedModel) -> None:
    """Write weights and the tiny tokenizer as a GGUF file, all in float32."""
    writer = gguf.GGUFWriter(path, family)
    write_sizes(writer, family, network.config)
    write_tokenizer(writer)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH[family.upper()], 2)
    for name, weight in network.state_dict().items():
        if name == "lm_head.weight" and network.config.tie_word_embeddings:
            continue
        new = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert new is not None, name
        writer.add_tensor(new, written(family, name, weight).numpy().astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def written(family: str, name: str, weight: torch.Tensor) -> torch.Tensor:
    """Return a weight as llama.cpp keeps it."""
    if family == "gemma2" and name.endswith("norm.weight"):
        return weight + 1
    if name.endswith("A_log"):
        return -weight.exp()
    return weight.squeeze(1) if name.endswith("conv1d.weight") else weight


def write_sizes(writer: gguf.GGUFWriter, family: str, config: Any) -> None:
    writer.add_block_count(config.num_hidden_layers)
    writer.add_embedding_length(config.hidden_size)
    writer.add_context_length(256)
    if family == "mamba":
        writer.add_feed_forward_length(0)
        writer.add_head_count(0)
        writer.add_layer_norm_rms_eps(config.layer_norm_epsilon)
        writer.add_ssm_conv_kernel(config.conv_kernel)
        writer.add_ssm_inner_size(config.intermediate_size)
        writer.add_ssm_state_size(config.state_size)
        writer.add_ssm_time_step_rank(config.time_step_rank)
        return
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    if family == "gemma2":
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
        writer.add_sliding_window(config.sliding_window)
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)


def write_tokenizer(writer: gguf.GGUFWriter) -> None:
    """Write the tiny tokenizer; what lies beyond it is unused."""
    known = tiny_tokenizer().get_vocab()
    tokens = sorted(known, key=lambda token: known[token])
    kinds = [
        gguf.TokenType.CONTROL if token in SPECIAL else gguf.TokenType.NORMAL for token in tokens
    ]
    unused = range(len(tokens), VOCABULARY)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([*tokens, *(f"[PAD{token}]" for token in unused)])
    writer.add_token_types([*kinds, *(gguf.TokenType.UNUSED for _ in unused)])
    writer.add_token_merges([" ".join(pair) for pair in MERGES])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
