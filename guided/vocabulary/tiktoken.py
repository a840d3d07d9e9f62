"""Encodings of `tiktoken`, and the tekken tokenizers of `mistral-common` built on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from guided.vocabulary.source import TokenizerSource, TokenTable


def tiktoken_source(encoding: Any) -> TokenizerSource:
    """Present a `tiktoken.Encoding`, whose tokens are stored as bytes."""
    special = {name: encoding.encode_single_token(name) for name in encoding.special_tokens_set}
    # "<|endoftext|>" is the one name by which tiktoken itself asks for an end token (`eot_token`).
    end = special.get("<|endoftext|>")
    return _source(
        width=encoding.n_vocab,
        eos=[] if end is None else [end],
        special=special,
        spell=_spell_or_gap(encoding.decode_single_token_bytes),
        encode=encoding.encode_ordinary,
    )


def tekken_source(tokenizer: Any) -> TokenizerSource:
    """Present a `Tekkenizer`: special tokens first, then the tokens of its encoding."""
    special = {tokenizer.id_to_piece(id_): id_ for id_ in sorted(tokenizer.special_ids)}
    return _source(
        width=tokenizer.n_words,
        eos=[tokenizer.eos_id],
        special=special,
        spell=tokenizer.id_to_byte_piece,
        encode=lambda text: list(tokenizer.encode(text, bos=False, eos=False)),
    )


def _source(
    *,
    width: int,
    eos: list[int],
    special: dict[str, int],
    spell: Callable[[int], bytes | None],
    encode: Callable[[str], list[int]],
) -> TokenizerSource:
    def read() -> TokenTable:
        reserved = set(special.values())
        tokens = [None if id_ in reserved else spell(id_) for id_ in range(width)]
        return TokenTable(tokens, dict(special))

    return TokenizerSource(width=width, eos=eos, read=read, encode=encode)


def _spell_or_gap(spell: Callable[[int], bytes]) -> Callable[[int], bytes | None]:
    def spelled(id_: int) -> bytes | None:
        try:
            return spell(id_)
        except KeyError:  # ids of an encoding may have gaps
            return None

    return spelled
