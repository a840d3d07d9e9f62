"""Random outputs under a grammar: walks over its masks, then ended by closing what is open."""

from __future__ import annotations

import os
import random
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from guided import Vocabulary
from guided._core import Automaton, Matcher

Ids = NDArray[np.int64]

CLOSING = [b"}", b"]", b",", b":"]
STARTING = [b"n", b"t", b"f", b'"', b"[", b"{", b"-", b"0", b"1"]
ENDS = [256, *b"}]"]  # the first bytes of tokens that may end something; 256: of the end token
MAX_CLOSING = 800

# Merges as a tokenizer of JSON text has them.
PIECES = ['{"', '":', '": ', '",', '", "', '"}', "]}", "}}", "},", '["', "[{", "[]", "{}", ": "]
PIECES += [
    ", ",
    "true",
    "false",
    "null",
    "tr",
    "nu",
    "00",
    "10",
    "1.",
    ".5",
    "e+",
    "-1",
    "12",
    "1,",
]
PIECES += ["ab", "ba", "abc", 'a"', 'b":', '"a', '"a":', '"b"', "xa", "\\u", "\\u00", "\\n", '\\"']
PIECES += [
    "é",
    'é"',
    "日本",
    "\n  ",
    ",\n",
    ' "',
    "  ",
    "2024-",
    "-01",
    ":00",
    "127.",
    "://",
    "@a.",
]


class DeadEnd(AssertionError):
    """A mask is empty and the text is not at its end."""


class Contradiction(AssertionError):
    """A token is accepted and its bit is not set in the mask, or the other way round."""


class Quotes:
    """Knows whether what was read so far ends within a string."""

    def __init__(self) -> None:
        self.is_inside = self._escaped = False

    def read(self, text: bytes) -> None:
        for byte in text:
            if self._escaped:
                self._escaped = False
            elif byte == ord("\\"):
                self._escaped = True
            elif byte == ord('"'):
                self.is_inside = not self.is_inside


class Walker:
    """Walks with the tokens of one vocabulary."""

    def __init__(self, tokens: list[bytes | None], vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.tokens = tokens
        self.eos = vocabulary.eos[0]
        self.first = np.array([token[0] if token else 256 for token in tokens])
        self.row = np.zeros(vocabulary.words, dtype=np.int32)
        # Those of which it is most in doubt whether they may come next.
        marks = set(b'"{}[],:')
        self.is_telling = np.array([bool(token and marks & set(token)) for token in tokens])
        self.single = {token: id_ for id_, token in enumerate(tokens) if token and len(token) == 1}

    def allowed(self, matcher: Matcher) -> Ids:
        matcher.fill_mask(self.row)
        bits = np.unpackbits(self.row.view(np.uint8), bitorder="little")
        return np.flatnonzero(bits)

    def walk(
        self, automaton: Automaton, length: int, chance: random.Random, patient: bool = False
    ) -> bytes | None:
        """Walk up to `length` tokens at random and then to the end; return the text.

        One who is `patient` does not end before what may go on. None if the end is not found: what
        an array must contain may be rare.

        Raises:
            DeadEnd: there was no way on.
            Contradiction: the mask is not what is accepted.
        """
        matcher, quotes = Matcher(automaton), Quotes()
        # How often a byte is drawn first, so that rare tokens come up, and how often a closing one.
        by_byte, closing = chance.choice([(0.3, 0.1), (0.7, 0.1), (0.5, 0.3), (0.1, 0.5)])
        if patient:
            closing = 0
        while not matcher.is_terminated:
            if chance.random() < 0.2:
                self._compare(matcher, chance)
            if len(matcher.tokens) < length:
                closes = chance.random() < closing
                token = self._closing(matcher, quotes, chance) if closes else None
                if token is None:
                    ends = [*ENDS, *(b'"' if quotes.is_inside and chance.random() < 0.9 else ())]
                    token = self._random(matcher, by_byte, ends if patient else [], chance)
            elif len(matcher.tokens) < length + MAX_CLOSING:
                token = self._closing(matcher, quotes, chance)
                token = self._shortening(matcher, chance) if token is None else token
            else:
                return None
            matcher.accept(token)
            quotes.read(self.tokens[token] or b"")
        return self.text(matcher)

    def _compare(self, matcher: Matcher, chance: random.Random) -> None:
        ids = self.allowed(matcher)
        allowed = set(ids.tolist())
        sample = chance.choices(range(len(self.tokens)), k=20)
        telling = ids[self.is_telling[ids]].tolist()
        sample += chance.sample(telling, min(40, len(telling)))
        for token in sample:
            if matcher.can_accept(token) is not (token in allowed):
                says = "forbids" if token not in allowed else "allows"
                about = f"the mask {says} {self.tokens[token]!r} after {self.text(matcher)!r}"
                raise Contradiction(about)

    def text(self, matcher: Matcher) -> bytes:
        return b"".join(self.tokens[token] or b"" for token in matcher.tokens)

    def _some(self, matcher: Matcher) -> Ids:
        allowed = self.allowed(matcher)
        if not len(allowed):
            raise DeadEnd(f"nothing may follow {self.text(matcher)!r}")
        return allowed

    def _random(
        self, matcher: Matcher, by_byte: float, avoided: list[int], chance: random.Random
    ) -> int:
        allowed = self._some(matcher)
        wanted = allowed[~np.isin(self.first[allowed], avoided)] if avoided else allowed
        allowed = wanted if len(wanted) else allowed
        if chance.random() < by_byte:
            byte = chance.choice(np.unique(self.first[allowed]).tolist())
            allowed = allowed[self.first[allowed] == byte]
        return int(chance.choice(allowed))

    def _closing(self, matcher: Matcher, quotes: Quotes, chance: random.Random) -> int | None:
        """Return a token that ends something or begins something short, if there is one."""
        if matcher.can_accept(self.eos):
            return self.eos
        starting = chance.sample(STARTING, len(STARTING))
        closing = [b'"'] if quotes.is_inside else [*CLOSING, *starting]
        ids = (self.single.get(byte) for byte in closing)
        return next((id_ for id_ in ids if id_ is not None and matcher.can_accept(id_)), None)

    def _shortening(self, matcher: Matcher, chance: random.Random) -> int:
        """Return a token that does not go round, if there is one."""
        allowed = self._some(matcher)
        dull = np.isin(self.first[allowed], list(b" \n\t\r-\\"))
        return int(chance.choice(allowed if dull.all() else allowed[~dull]))


@cache
def small_walker() -> Walker:
    """Return a walker over all bytes, and pieces of JSON by one and by two: some 5,000 tokens."""
    pieces = [piece.encode() for piece in PIECES]
    texts = dict.fromkeys([*pieces, *(a + b for a in pieces for b in pieces)])
    tokens: list[bytes | None] = [*(bytes([byte]) for byte in range(256)), *texts, None]
    return Walker(tokens, Vocabulary.from_tokens(tokens, eos=[len(tokens) - 1]))


@cache
def large_walker(name: str) -> Walker | None:
    """Return a walker over a tokenizer in the folder named by GUIDED_TOKENIZERS, if it is there."""
    folder = Path(os.environ.get("GUIDED_TOKENIZERS", "tokenizers")) / name
    if not folder.is_dir():
        return None
    from transformers import AutoTokenizer

    vocabulary = Vocabulary.from_tokenizer(AutoTokenizer.from_pretrained(folder))
    ends = set(vocabulary.eos)
    tokens = [
        None if id_ in ends else vocabulary.core.token_bytes(id_) for id_ in range(vocabulary.size)
    ]
    return Walker(tokens, vocabulary)
