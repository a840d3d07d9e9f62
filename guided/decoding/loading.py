"""From a name, a folder or a model that is already there to a `Model`."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from guided.decoding.default_model import default_model
from guided.decoding.model import Model
from guided.decoding.models.llama_cpp import LlamaCppNetwork, LlamaCppTokenizer
from guided.decoding.quiet import quiet_transformers
from guided.errors import GuidedError
from guided.vocabulary import Vocabulary


def load(
    model: str | Path | PreTrainedModel | None = None,
    tokenizer: str | Path | PreTrainedTokenizerBase | None = None,
    *,
    dtype: torch.dtype | None = None,
    device: str | torch.device | None = None,
) -> Model:
    """Load a model with its tokenizer.

    Args:
        model: a folder or the name of a Hugging Face causal language model; a `.gguf` file, which
            llama.cpp runs; a model that is already loaded, with its tokenizer; or None for the
            small default model, which is converted into the cache folder the first time
            ($GUIDED_CACHE, else guided/ in the user's cache).
        tokenizer: the tokenizer, or its folder or name. None: the one beside the model. A GGUF file
            holds its own.
        dtype: of the weights. None: as they are stored; those of a GGUF file stay so.
        device: where to run. None: a CUDA device if there is one, else the CPU; a loaded model
            stays where it is. A GGUF file goes to the devices that llama.cpp was built for, or
            stays on the CPU if that is asked for.

    Raises:
        GuidedError: nothing can be loaded from there, or the default model or llama-cpp-python is
            not installed.
        VocabularyError: the tokenizer cannot be used.
        TypeError: it is no model of transformers, and no name of one; or a GGUF file is given with
            a tokenizer or a dtype.
    """
    if isinstance(model, PreTrainedModel):
        if tokenizer is None:
            raise TypeError("a loaded model needs its tokenizer too: guided.load(model, tokenizer)")
        network = model
        move(network, dtype, device)
    else:
        source = name_of(model)
        if is_gguf(source):
            return load_gguf(source, tokenizer, dtype, device)
        network = load_network(source, dtype)
        move(network, None, device or ("cuda" if torch.cuda.is_available() else "cpu"))
        tokenizer = source if tokenizer is None else tokenizer
    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        tokenizer = load_tokenizer(str(tokenizer))
    network.eval()
    return Model(network, tokenizer, read_vocabulary(network, tokenizer))


def name_of(model: object) -> str:
    """Return the folder or name to load from.

    Raises:
        TypeError: it is neither.
        GuidedError: it is a path, and nothing is there.
    """
    if model is None:
        return str(default_model())
    if not isinstance(model, str | Path):
        raise TypeError(
            "a model is a folder, a name, or a PreTrainedModel of transformers,"
            f" found {type(model).__name__}"
        )
    source = str(Path(model).expanduser()) if str(model).startswith("~") else str(model)
    if Path(source).is_absolute() and not is_gguf(source) and not Path(source).exists():
        # A hub would be asked for it, and speak of repositories.
        raise GuidedError(
            f"no model can be loaded from {source!r}: there is no such folder",
            mend="check the path",
        )
    return source


def move(network: nn.Module, dtype: torch.dtype | None, device: str | torch.device | None) -> None:
    """Change dtype and device where they are given, in place."""
    if dtype is not None:
        network.to(dtype=dtype)
    if device is not None:
        network.to(device=device)


def read_vocabulary(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Vocabulary:
    """Read the tokenizer, with the width of the logits and the end tokens of the model."""
    head = network.get_output_embeddings()
    width = getattr(head, "out_features", None) or getattr(network.config, "vocab_size", None)
    return Vocabulary.from_tokenizer(
        tokenizer, size=width, generation_config=network.generation_config
    )


def is_gguf(source: str) -> bool:
    """Whether this names a file for llama.cpp."""
    return source.lower().endswith(".gguf")


def load_gguf(
    source: str, tokenizer: object, dtype: torch.dtype | None, device: str | torch.device | None
) -> Model:
    """Load a file with llama.cpp."""
    for name, value in (("tokenizer", tokenizer), ("dtype", dtype)):
        if value is not None:
            raise TypeError(f"a GGUF file holds its own {name}: leave it out, found {value!r}")
    network = LlamaCppNetwork(source, device=None if device is None else torch.device(device))
    reader = LlamaCppTokenizer(network)
    return Model(network, reader, reader.vocabulary())


def load_network(source: str, dtype: torch.dtype | None) -> PreTrainedModel:
    """Load the weights from a folder or by name."""
    try:
        with quiet_transformers():
            network = AutoModelForCausalLM.from_pretrained(source, dtype=dtype or "auto")
    except (OSError, ValueError) as error:
        raise not_loadable("model", source, error) from error
    assert isinstance(network, PreTrainedModel)
    return network


def load_tokenizer(source: str) -> PreTrainedTokenizerBase:
    """Load the tokenizer from a folder or by name."""
    try:
        with quiet_transformers():
            tokenizer = AutoTokenizer.from_pretrained(source)
    except (OSError, ValueError) as error:
        raise not_loadable("tokenizer", source, error) from error
    assert isinstance(tokenizer, PreTrainedTokenizerBase)
    return tokenizer


def not_loadable(what: str, source: str, error: Exception) -> GuidedError:
    """Make the error from the first line of transformers' own, which may run over a page."""
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    there = Path(source).exists()
    mend = (
        "give a folder with config.json, weights and tokenizer, as save_pretrained writes it"
        if there
        else "check the path; a name is looked up in the Hugging Face cache and on its hub"
    )
    return GuidedError(f"no {what} can be loaded from {source!r}: {reason}", mend=mend)
