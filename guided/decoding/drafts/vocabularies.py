"""Whether one model can guess tokens for another."""

from __future__ import annotations

from itertools import zip_longest

from guided.decoding.model import Model
from guided.errors import GuidedError
from guided.vocabulary import Vocabulary


def check_assistant(assistant: Model, target: Model) -> None:
    """Raise GuidedError unless the assistant is another model with the tokens of the target."""
    if assistant.network is target.network:
        raise GuidedError(
            "the assistant is the model itself, which would only be asked twice",
            mend="take a smaller model with the same tokenizer, or the model's first layers",
        )
    if not have_same_tokens(assistant.vocabulary, target.vocabulary):
        raise GuidedError(
            f"the assistant has other tokens than the model: {assistant.vocabulary.size} of them,"
            f" and the model has {target.vocabulary.size}",
            mend="take an assistant with the model's tokenizer: a smaller model of its family",
        )


def have_same_tokens(one: Vocabulary, other: Vocabulary) -> bool:
    """Whether each id spells the same in both.

    Models of one family round the width of their logits differently, so ids that spell nothing may
    be missing in one; and they may declare different end tokens.

    Cost: nothing where all is equal, else a look at each token.
    """
    if one.fingerprint == other.fingerprint:
        return True
    return all(left == right for left, right in zip_longest(spellings(one), spellings(other)))


def spellings(vocabulary: Vocabulary) -> list[bytes | None]:
    """Return what each token spells; None for a special token or a gap."""
    return [vocabulary.token_bytes(token) for token in range(vocabulary.size)]
