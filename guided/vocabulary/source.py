"""What every tokenizer is reduced to before it becomes a vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Encoder = Callable[[str], list[int]]


@dataclass(slots=True)
class TokenTable:
    """The tokens of a tokenizer.

    Attributes:
        tokens: what each id spells; None for a special token, a gap, and one that spells nothing.
        special: name and id of the tokens that are never matched by spelling.
    """

    tokens: list[bytes | None]
    special: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of_width(cls, width: int) -> TokenTable:
        """Return a table of gaps."""
        return cls([None] * width)

    def add_special(self, name: str, token: int) -> None:
        """Enter a special token; it spells nothing from now on."""
        self.tokens[token] = None
        self.special[name] = token


@dataclass(frozen=True, slots=True)
class TokenizerSource:
    """A tokenizer as its library presents it, cheap to make.

    Attributes:
        width: every id is below it.
        eos: the end tokens that the tokenizer declares.
        read: makes the table; the slow part.
        encode: text to tokens, without special tokens around it.
    """

    width: int
    eos: Sequence[int]
    read: Callable[[], TokenTable]
    encode: Encoder
