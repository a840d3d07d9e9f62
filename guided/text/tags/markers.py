"""What only a vocabulary can tell: whether a marker is a special token there, or text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from guided._core import Arena

EMPTY, NEVER = 0, 1

# A token by its text or its number, and whether any other one is meant.
NamedToken = tuple[str | int, bool]


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker with what comes before and after it.

    Where the vocabulary has special tokens in the text of the marker, it is these tokens and never
    their characters; where it has none, it is text.

    Attributes:
        text: the marker.
        before: the node of what comes before it, if the marker has a special token.
        spelled: the node of the two together, if it is text.
        following: what comes after.
        may_end: the marker may be an end token: then the output ends with it, and `following` does
            not come.
        may_lack: there are other ways, so where the marker has an end token that cannot stand there
            nothing matches, and that is no error.
    """

    text: str
    before: int
    spelled: int
    following: int = EMPTY
    may_end: bool = False
    may_lack: bool = False

    def moved(self, numbers: Mapping[int, int]) -> Marker:
        """Return the marker with the numbers that its nodes have in another arena."""
        return replace(
            self,
            before=numbers[self.before],
            spelled=numbers[self.spelled],
            following=numbers[self.following],
        )


# By the number of a rule that is not yet defined.
LateNodes = dict[int, NamedToken | Marker]


class SpecialTokens(Protocol):
    """What is asked of a vocabulary."""

    special: dict[str, int]

    @property
    def eos(self) -> list[int]:
        """The end tokens."""
        ...


def write_marker(arena: Arena, marker: Marker, vocabulary: SpecialTokens) -> int | str:
    """Return the node of a marker and what is around it.

    Returns:
        the node; or the name of an end token that stands where the output cannot end.
    """
    pieces = split_at_tokens(marker.text, vocabulary.special)
    if not any(is_token for _, is_token in pieces):
        return arena.sequence([marker.spelled, marker.following])
    nodes = [marker.before]
    for place, (text, is_token) in enumerate(pieces):
        token = vocabulary.special[text] if is_token else -1
        if token in vocabulary.eos:
            if marker.may_end and place == len(pieces) - 1:
                return arena.sequence(nodes)
            return NEVER if marker.may_lack else text
        nodes.append(arena.token([token]) if is_token else arena.literal(text))
    return arena.sequence([*nodes, marker.following])


def split_at_tokens(text: str, special: Mapping[str, int]) -> list[tuple[str, bool]]:
    """Cut a text at special tokens, as a tokenizer does: the first one, and there the longest."""
    names = _names_in(text, special)
    if not names:
        return [(text, False)] if text else []
    pattern = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    parts = re.split(f"({pattern})", text)
    return [(part, place % 2 == 1) for place, part in enumerate(parts) if part]


def _names_in(text: str, special: Iterable[str]) -> list[str]:
    return [name for name in special if name and name in text]
