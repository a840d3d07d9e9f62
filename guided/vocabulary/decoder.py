"""From the decoder of a `tokenizers` file to what its tokens spell.

The decoder is the component that turns tokens into text, so it alone decides: a token that is
written `<0xC3>` is a byte if the decoder has ByteFallback, and six characters otherwise. Where the
effect of a component on one token depends on its neighbours, tokens have no spelling and the
tokenizer is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from guided.errors import VocabularyError
from guided.vocabulary.byte_alphabet import spell_byte_level

Component = Mapping[str, Any]
Speller = Callable[[Sequence[str]], list[bytes]]

_BYTE = re.compile(r"<0x[0-9A-Fa-f]{2}>")

_REFUSED = {
    "WordPiece": "it puts blanks between tokens by rule, so a token has no spelling",
    "BPEDecoder": "it writes a blank for a suffix, except at the end of the text",
    "CTC": "it drops repeated tokens, so a token has no spelling",
}


def speller(decoder: Component | None, *, writes_byte_alphabet: bool) -> Speller:
    """Return the function that spells tokens as the decoder would.

    Args:
        decoder: the description in tokenizer.json, None if it has none.
        writes_byte_alphabet: the normalizer or pre-tokenizer maps text to the byte alphabet.

    Raises:
        VocabularyError: the decoder is missing, not understood, or does not fit what encodes.
    """
    components = _flatten(decoder)
    if not components:
        raise VocabularyError(
            "the tokenizer has no decoder, so what its tokens spell is not defined",
            mend="give its backend the decoder it was trained for, or use Vocabulary.from_tokens",
        )
    for component in components:
        if (name := component["type"]) in _REFUSED:
            raise _refusal(f"decoder {name!r}: {_REFUSED[name]}")
    names = [component["type"] for component in components]
    decodes_byte_alphabet = "ByteLevel" in names
    if decodes_byte_alphabet != writes_byte_alphabet:
        has, lacks = (
            ("decoder", "pre-tokenizer") if decodes_byte_alphabet else ("pre-tokenizer", "decoder")
        )
        raise _refusal(f"the {has} of the tokenizer is byte-level and its {lacks} is not")
    if decodes_byte_alphabet:
        if set(names) - {"ByteLevel", "Fuse"}:
            raise _refusal(f"the decoder {' + '.join(names)} mixes byte-level with other steps")
        return spell_byte_level
    return _text_speller(components)


def has_component(description: Component | None, name: str) -> bool:
    """True if a normalizer or pre-tokenizer is or contains a component of that type."""
    return any(component["type"] == name for component in _flatten(description))


def _flatten(description: Component | None) -> list[Component]:
    if description is None:
        return []
    for inner in ("decoders", "pretokenizers", "normalizers"):
        if inner in description:
            return [leaf for child in description[inner] for leaf in _flatten(child)]
    return [description]


def _refusal(fact: str) -> VocabularyError:
    return VocabularyError(
        fact, mend="spell the tokens yourself and use Vocabulary.from_tokens(tokens, eos=...)"
    )


def _text_speller(components: Sequence[Component]) -> Speller:
    """Spell tokens that are stored as text: SentencePiece-like, with or without byte fallback."""
    replacements: list[tuple[str, str]] = []
    byte_fallback = fused = False
    for component in components:
        match component["type"]:
            case "Replace":
                replacements.append(_replacement(component, fused=fused))
            case "Metaspace":
                replacements.append((component["replacement"], " "))
            case "ByteFallback":
                byte_fallback = True
            case "Fuse":
                fused = True
            case "Strip":
                _check_strip(component, fused=fused)
            case name:
                raise _refusal(f"decoder {name!r} is not known")

    def spell(texts: Sequence[str]) -> list[bytes]:
        spelled = []
        for text in texts:
            if byte_fallback and _BYTE.fullmatch(text):
                spelled.append(bytes([int(text[3:5], 16)]))
                continue
            for old, new in replacements:
                text = text.replace(old, new)
            spelled.append(text.encode())
        return spelled

    return spell


def _replacement(component: Component, *, fused: bool) -> tuple[str, str]:
    """Read a Replace step, which must act on each token alone."""
    pattern = component["pattern"]
    old = pattern.get("String")
    # After Fuse the step sees the whole text, where a longer pattern could match across tokens.
    if not old or (fused and len(old) > 1):
        raise _refusal(f"the decoder replaces {pattern!r}, which reaches beyond one token")
    return old, component["content"]


def _check_strip(component: Component, *, fused: bool) -> None:
    """Let pass the step that drops blanks at the start of the whole text.

    Output is a continuation of a prompt, so it is never at the start; at the end it is.
    """
    if (component["start"] and not fused) or component["stop"]:
        raise _refusal("the decoder strips characters off tokens or off the end of the text")
