"""SentencePiece models, bare or inside the "slow" tokenizers of transformers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from guided.vocabulary.source import Encoder, TokenizerSource, TokenTable

_BLANK = "\u2581"


def sentencepiece_source(model: Any) -> TokenizerSource:
    """Present a bare `SentencePieceProcessor`, which numbers its pieces itself."""
    width = model.get_piece_size()
    end = model.eos_id()
    return TokenizerSource(
        width=width,
        eos=[end] if end >= 0 else [],
        read=lambda: _read(model, list(range(width)), width),
        encode=model.encode,
    )


def slow_source(
    model: Any,
    *,
    vocabulary: dict[str, int],
    added: dict[int, Any],
    special: dict[str, int],
    eos: list[int],
    encode: Encoder,
) -> TokenizerSource:
    """Present a transformers tokenizer around a model, which may number the pieces its own way.

    Args:
        model: the `SentencePieceProcessor`, which knows what kind each piece is.
        vocabulary: token and id, as the wrapper numbers them.
        added: id and AddedToken of the tokens that were added.
        special: name and id of the tokens that the wrapper declares special.
        eos: the end tokens that the wrapper declares.
        encode: the wrapper's own.
    """
    width = max([*vocabulary.values(), *added, *eos, -1]) + 1

    def read() -> TokenTable:
        texts = list(vocabulary)
        known = [
            piece if model.id_to_piece(piece) == text else -1
            for text, piece in zip(texts, model.piece_to_id(texts), strict=True)
        ]
        pieces = [-1] * width
        for id_, piece in zip(vocabulary.values(), known, strict=True):
            pieces[id_] = piece
        table = _read(model, pieces, width)
        for id_, token in added.items():
            if token.special:
                table.add_special(token.content, id_)
            else:
                table.tokens[id_] = token.content.replace(_BLANK, " ").encode()
        for name, id_ in special.items():
            table.add_special(name, id_)
        return table

    return TokenizerSource(width=width, eos=eos, read=read, encode=encode)


def _read(model: Any, pieces: Sequence[int], width: int) -> TokenTable:
    """Make the table of the ids whose pieces are given; -1 is a gap."""
    table = TokenTable.of_width(width)
    for id_, piece in enumerate(pieces):
        if piece < 0:
            continue
        text = model.id_to_piece(piece)
        if model.is_control(piece) or model.is_unknown(piece):
            table.add_special(text, id_)
        elif model.is_byte(piece):
            table.tokens[id_] = bytes([int(text[3:5], 16)])
        elif not model.is_unused(piece):
            table.tokens[id_] = text.replace(_BLANK, " ").encode()
    return table
