"""A model together with its tokenizer and vocabulary."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from guided.decoding.models.llama_cpp import LlamaCppNetwork, LlamaCppTokenizer
from guided.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Model:
    """What `guided.load` returns and `generate` and `stream` take.

    Attributes:
        network: the causal language model, in evaluation mode; or a GGUF file in llama.cpp.
        tokenizer: its tokenizer.
        vocabulary: what each of its tokens spells, and all its end tokens, those of the generation
            config too.
    """

    network: PreTrainedModel | LlamaCppNetwork
    tokenizer: PreTrainedTokenizerBase | LlamaCppTokenizer
    vocabulary: Vocabulary

    @property
    def device(self) -> torch.device:
        """Where inputs go."""
        return self.network.device

    @property
    def context(self) -> int | None:
        """How many tokens, prompt and output, the model was made for; None if it does not say."""
        if isinstance(self.network, LlamaCppNetwork):
            return self.network.context
        config = self.network.config.get_text_config(decoder=True)
        length = getattr(config, "max_position_embeddings", None)
        return int(length) if length else None

    def __repr__(self) -> str:
        if isinstance(self.network, LlamaCppNetwork):
            return f"<guided.Model {self.network.description} in llama.cpp>"
        dtype = str(self.network.dtype).removeprefix("torch.")
        return f"<guided.Model {type(self.network).__name__} {dtype} on {self.device}>"
