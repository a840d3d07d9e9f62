"""Which library a tokenizer comes from, found without importing any of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from guided.errors import VocabularyError
from guided.vocabulary.huggingface import fast_source
from guided.vocabulary.sentencepiece import sentencepiece_source, slow_source
from guided.vocabulary.source import TokenizerSource
from guided.vocabulary.tiktoken import tekken_source, tiktoken_source

Instance = TypeVar("Instance")

_MEND = (
    "pass a Hugging Face, sentencepiece, tiktoken or mistral-common tokenizer,"
    " or use Vocabulary.from_tokens(tokens, eos=...)"
)


def source_of(tokenizer: object) -> TokenizerSource:
    """Present a tokenizer of any known library.

    Raises:
        VocabularyError: it is of none of them.
    """
    if _is_a(tokenizer, "tokenizers", "Tokenizer"):
        return fast_source(tokenizer, eos=[])  # type: ignore[arg-type]
    if _is_a(tokenizer, "tiktoken", "Encoding"):
        return tiktoken_source(tokenizer)
    if _is_a(tokenizer, "sentencepiece", "SentencePieceProcessor"):
        return sentencepiece_source(tokenizer)
    if _is_a(tokenizer, "transformers", "PreTrainedTokenizerBase"):
        return _transformers_source(tokenizer)
    if (inner := _mistral_tokenizer(tokenizer)) is not None:
        return _mistral_source(inner)
    kind = f"{type(tokenizer).__module__}.{type(tokenizer).__qualname__}"
    if hasattr(tokenizer, "tokenizer"):
        raise VocabularyError(f"a {kind} is no tokenizer", mend="pass its .tokenizer")
    raise VocabularyError(f"a {kind} is no tokenizer that is known", mend=_MEND)


def _is_a(value: object, module: str, name: str) -> bool:
    """True if `value` is of that class. Where the module was not imported, nothing is."""
    loaded = sys.modules.get(module)
    kind = getattr(loaded, name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def _transformers_source(tokenizer: Any) -> TokenizerSource:
    """Present a tokenizer of transformers, whichever backend it has."""
    end = tokenizer.eos_token_id
    eos = [] if end is None else [end]
    # Names of tokens that the model has not are declared by some, hence the None.
    named = zip(tokenizer.all_special_tokens, tokenizer.all_special_ids, strict=True)
    special = {str(name): id_ for name, id_ in named if id_ is not None}
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        return fast_source(backend, eos=eos, special=special)
    if hasattr(tokenizer, "sp_model"):
        return slow_source(
            tokenizer.sp_model,
            vocabulary=tokenizer.get_vocab(),
            added=tokenizer.added_tokens_decoder,
            special=special,
            eos=eos,
            encode=_encoder(_twin(tokenizer)),
        )
    if (inner := _mistral_tokenizer(getattr(tokenizer, "tokenizer", None))) is not None:
        return _mistral_source(inner)
    raise VocabularyError(
        f"a {type(tokenizer).__name__} keeps its tokens in a way that is not known", mend=_MEND
    )


def _encoder(tokenizer: Any) -> Callable[[str], list[int]]:
    return lambda text: list(tokenizer.encode(text, add_special_tokens=False))


def _twin(tokenizer: Instance) -> Instance:
    """Return a second object with the same parts.

    The cache keeps a vocabulary as long as its tokenizer lives; were it to hold the tokenizer
    itself, neither would ever go.
    """
    twin = object.__new__(type(tokenizer))
    twin.__dict__.update(tokenizer.__dict__)
    return twin


def _mistral_tokenizer(tokenizer: Any) -> Any:
    """Return the tokenizer inside one of mistral-common, None if it is not of that library."""
    if not type(tokenizer).__module__.startswith("mistral_common."):
        return None
    chat = getattr(tokenizer, "instruct_tokenizer", tokenizer)
    return getattr(chat, "tokenizer", chat)


def _mistral_source(tokenizer: Any) -> TokenizerSource:
    if type(tokenizer).__name__ == "Tekkenizer":
        return tekken_source(_twin(tokenizer))
    return sentencepiece_source(tokenizer._model)  # the model is not public there
