"""Tiny random models of many families, each with what is particular about it."""

from __future__ import annotations

from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

WINDOW = 6  # shorter than the texts of the tests
SIZES: dict[str, Any] = {
    "vocab_size": 160,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "initializer_range": 0.3,  # large, so that the outputs vary
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": None,
    "tie_word_embeddings": False,
}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
LATENT = {
    "kv_lora_rank": 8,
    "q_lora_rank": 8,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 8,
    "v_head_dim": 6,
    "num_key_value_heads": 4,
}
DEEPSEEK = {
    **LATENT,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "moe_intermediate_size": 16,
}
GEMMA = {"head_dim": 8, "sliding_window": WINDOW, "query_pre_attn_scalar": 8}

# Those that run on pages.
PAGED: dict[str, dict[str, Any]] = {
    "cohere": {},
    "cohere2": {"sliding_window": WINDOW, "sliding_window_pattern": 2},
    "deepseek_v2": DEEPSEEK,  # a latent cache
    "deepseek_v3": DEEPSEEK,
    "exaone4": {"sliding_window": WINDOW, "sliding_window_pattern": 2},
    "gemma": {"head_dim": 8},
    "gemma2": GEMMA,  # a soft cap, and a window in every other layer
    "gemma3_text": {**GEMMA, "sliding_window_pattern": 2},
    "gemma4_text": {
        "head_dim": 8,
        "sliding_window": WINDOW,
        "num_hidden_layers": 4,
        "num_kv_shared_layers": 2,  # layers that read the keys of others
        "layer_types": ["sliding_attention", "full_attention"] * 2,
        "vocab_size_per_layer_input": 160,
    },
    "glm4": {"head_dim": 8},
    "gpt2": {},  # learned positions
    "gpt_neox": {},
    "gpt_oss": {  # learned sinks
        "head_dim": 8,
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "sliding_window": WINDOW,
    },
    "gptj": {"rotary_dim": 4},
    "granite": {"logits_scaling": 3.0},
    "llama": {},
    "minicpm3": LATENT,
    "mistral": {"sliding_window": WINDOW},  # a window in all layers
    "mixtral": {},
    "nemotron": {},
    "olmo2": {},
    "opt": {"ffn_dim": 48, "word_embed_proj_dim": 32},
    "phi": {},
    "phi3": {"sliding_window": WINDOW},
    "qwen2": {},
    "qwen3": {"head_dim": 8},
    "qwen3_moe": {"head_dim": 8, **EXPERTS},
    "smollm3": {},
    "stablelm": {},
    "starcoder2": {"sliding_window": WINDOW},
}

# Those that keep more between tokens than keys and values, or attend in a way of their own.
STOCK: dict[str, dict[str, Any]] = {
    "bloom": {},
    "falcon": {"alibi": True},
    "gpt_neo": {
        "num_layers": 2,
        "attention_types": [[["global", "local"], 1]],
        "window_size": WINDOW,
    },
    "llama4_text": {"attention_chunk_size": WINDOW, "num_local_experts": 2, "head_dim": 8},
    "mamba": {},
    "mpt": {},
}


def tiny_model(family: str, seed: int = 0, **config: Any) -> PreTrainedModel:
    """A model of two layers or so, in float32 on the CPU."""
    options = {**SIZES, **(PAGED | STOCK)[family], **config}
    torch.manual_seed(seed)
    network = AutoModelForCausalLM.from_config(AutoConfig.for_model(family, **options))
    assert isinstance(network, PreTrainedModel)
    network.eval()
    return network
