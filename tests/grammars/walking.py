"""Random texts under a grammar: walks over its masks, with tokens cut out of its samples."""

from __future__ import annotations

import random
from functools import cache

import numpy as np

from guided import Grammar, Matcher, Vocabulary
from tests.grammars.samples import ACCEPTED

EOS = 256
CLOSINGS, MAX_CLOSING = 40, 80
# What is tried first when a walk is to end: these end something in one grammar or another.
CLOSING = b"\"'])}>;|\n*01ae:,=-/ <.^~!&+%"


@cache
def vocabulary(name: str) -> Vocabulary:
    """Return all bytes and, as longer tokens, pieces of the samples."""
    chance = random.Random(name)
    data = [text.encode() for text in ACCEPTED[name] if text]
    pieces: dict[bytes, None] = {}
    for _ in range(1500):
        text = chance.choice(data)
        start = chance.randrange(len(text))
        pieces[text[start : start + chance.randint(2, 7)]] = None
    tokens: list[bytes | None] = [bytes([byte]) for byte in range(256)]
    longer = [piece for piece in pieces if len(piece) > 1]
    return Vocabulary.from_tokens([*tokens, None, *longer], eos=[EOS])


class Walker:
    """Walks under one shipped grammar."""

    def __init__(self, name: str) -> None:
        self.vocabulary = vocabulary(name)
        self.automaton = Grammar.from_file(name).compile(self.vocabulary)
        self.row = np.zeros(self.vocabulary.words, np.int32)  # (W,)

    def walk(self, chance: random.Random) -> str | None:
        """Return a text of the grammar; None if the walk did not find to the end."""
        matcher = self.automaton.matcher()
        by_byte = chance.choice([0.02, 0.2, 0.6])
        for _ in range(chance.choice([2, 5, 10, 20, 40])):
            allowed = self._allowed(matcher)
            assert allowed, f"nothing may follow {self._text(matcher)!r}"
            if allowed == [EOS]:
                break
            matcher.accept(self._any(allowed, by_byte, chance))
        endings = (self._end(matcher.fork(), chance) for _ in range(CLOSINGS))
        return next((text for text in endings if text is not None), None)

    def _end(self, matcher: Matcher, chance: random.Random) -> str | None:
        """Go to the end by what ends something, in an order drawn at random."""
        order = chance.sample(CLOSING, len(CLOSING))
        for _ in range(MAX_CLOSING):
            allowed = set(self._allowed(matcher))
            if EOS in allowed:
                return self._text(matcher).decode()
            known = [byte for byte in order if byte in allowed]
            if not known or chance.random() < 0.1:
                known = sorted(token for token in allowed if token < EOS)
                chance.shuffle(known)
            matcher.accept(known[0])
        return None

    def _any(self, allowed: list[int], by_byte: float, chance: random.Random) -> int:
        longer = [token for token in allowed if token > EOS]
        if longer and chance.random() > by_byte:
            return chance.choice(longer)
        others = [token for token in allowed if token != EOS]
        plain = [token for token in others if 32 <= token < 127]
        return chance.choice(plain if plain and chance.random() < 0.9 else others)

    def _allowed(self, matcher: Matcher) -> list[int]:
        matcher.fill_mask(self.row)
        bits = np.unpackbits(self.row.view(np.uint8), bitorder="little")  # (32 * W,)
        tokens: list[int] = np.flatnonzero(bits).tolist()
        return tokens

    def _text(self, matcher: Matcher) -> bytes:
        spelled = (self.vocabulary.token_bytes(token) for token in matcher.tokens)
        return b"".join(piece or b"" for piece in spelled)
