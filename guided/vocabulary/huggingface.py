"""Tokenizers of the `tokenizers` library, bare or wrapped by transformers ("fast" tokenizers)."""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any

from guided.errors import VocabularyError
from guided.vocabulary.decoder import Component, has_component, speller
from guided.vocabulary.source import TokenizerSource, TokenTable

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def fast_source(
    backend: Tokenizer, *, eos: list[int], special: dict[str, int] | None = None
) -> TokenizerSource:
    """Present a tokenizer of the `tokenizers` library.

    Args:
        backend: the tokenizer itself.
        eos: the end tokens that its wrapper declares.
        special: further special tokens, which the wrapper declares.
    """
    named = special or {}
    added = backend.get_added_tokens_decoder()
    width = max([backend.get_vocab_size(), *(id_ + 1 for id_ in added), *(id_ + 1 for id_ in eos)])
    return TokenizerSource(
        width=width,
        eos=eos,
        read=lambda: _read(backend, width, named),
        encode=lambda text: _encode(backend, text),
    )


def _read(backend: Tokenizer, width: int, named: dict[str, int]) -> TokenTable:
    model = backend.model
    _check_model(model)
    byte_level = has_component(_describe(backend.pre_tokenizer), "ByteLevel") or has_component(
        _describe(backend.normalizer), "ByteLevel"
    )
    spell = speller(_describe(backend.decoder), writes_byte_alphabet=byte_level)

    vocabulary = backend.get_vocab(with_added_tokens=False)
    # Ids may have gaps, and then the highest lies above the count.
    highest = max(vocabulary.values(), default=-1)
    table = TokenTable.of_width(max(width, highest + 1))
    for id_, spelling in zip(vocabulary.values(), spell(list(vocabulary)), strict=True):
        table.tokens[id_] = spelling

    for id_, token in backend.get_added_tokens_decoder().items():
        if token.special:
            table.add_special(token.content, id_)
        elif byte_level:
            # Added tokens are found in the text itself, before anything maps it to the alphabet.
            table.tokens[id_] = token.content.encode()
        else:
            # Some files add tokens that the model has too and that are written with its blank
            # (Gemma's runs of blanks), so the decoder's reading holds for them.
            table.tokens[id_] = spell([token.content])[0]

    unknown = _unknown_token(model)
    unknown_id = None if unknown is None else backend.token_to_id(unknown)
    if unknown is not None and unknown_id is not None:
        table.add_special(unknown, unknown_id)
    for name, id_ in named.items():
        # A wrapper gives the unknown token's id to a name that the tokenizer does not have.
        if backend.token_to_id(name) == id_:
            table.add_special(name, id_)
    return table


def _check_model(model: Any) -> None:
    """Refuse the models whose tokens do not say where blanks stand."""
    kind = type(model).__name__
    if kind == "WordPiece":
        raise VocabularyError(
            "a WordPiece tokenizer cannot be used: its tokens do not say where blanks stand",
            mend="use a model with a byte-level or SentencePiece tokenizer",
        )
    for affix in ("continuing_subword_prefix", "end_of_word_suffix"):
        if value := getattr(model, affix, None):
            raise VocabularyError(
                f"the tokenizer marks words by {affix} {value!r}, which is no part of the text",
                mend="use a model with a byte-level or SentencePiece tokenizer",
            )


def _unknown_token(model: Any) -> str | None:
    """Return the token that stands for what the model cannot write."""
    if type(model).__name__ != "Unigram":
        return getattr(model, "unk_token", None)
    # Unigram keeps a number, and shows it nowhere but in its serialized form.
    found = re.search(rb'"unk_id":(\d+)', model.__getstate__())
    return None if found is None else model.id_to_token(int(found[1]))


def _describe(component: Any) -> Component | None:
    """Return a component as tokenizer.json has it, without serializing the whole tokenizer."""
    if component is None:
        return None
    description: Component = json.loads(component.__getstate__())
    return description


def _encode(backend: Tokenizer, text: str) -> list[int]:
    # A call of the wrapper may have left truncation or padding switched on.
    if backend.truncation is not None or backend.padding is not None:
        backend = copy.deepcopy(backend)
        backend.no_truncation()
        backend.no_padding()
    ids: list[int] = backend.encode(text, add_special_tokens=False).ids
    return ids
