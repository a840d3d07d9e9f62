"""Random outputs under a grammar file with a real tokenizer: walks over the masks, then closed."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from guided import Grammar, Matcher
from tests.text.json_schema.walking import Contradiction, DeadEnd, Ids, Walker

WALKS = 2_000
MAX_BYTES = 1 << 27  # of states; then walks begin on an empty table
LENGTHS = (3, 5, 8, 10, 15, 20, 40)
CLOSINGS, MAX_CLOSING = 40, 60
CLOSERS = tuple(bytes([byte]) for byte in b")]}>;\"'\n")
SHORT = tuple(bytes([byte]) for byte in b"abxe01:,=-/ .*+~|")
LONGEST_TOKEN, LONGEST_COPY = 16, 200


def judge(walker: GrammarWalker, name: str, read: Callable[[str], object]) -> None:
    """Read what many walks write; one that is not read, or has no way on, is a failure."""
    seen: Counter[str] = Counter()
    for number in range(WALKS):
        try:
            text = walker.walk(random.Random(f"{name} {number}"))
            if text is None:
                seen["without an end"] += 1
            else:
                read(text)
                seen["read"] += 1
        except Exception as error:
            raise AssertionError(f"walk {number} of {name}: {error}") from error
    print(name, dict(seen))
    assert seen["read"] > WALKS / 4


class GrammarWalker:
    """Walks under one grammar with the tokens of one vocabulary."""

    def __init__(
        self, walker: Walker, grammar: Grammar, text: str, accepted: Sequence[str] = ()
    ) -> None:
        """Take a grammar with its `text`, whose words are tried, and texts that it accepts."""
        self._walker = walker
        self._grammar = grammar
        self._accepted = [each.encode() for each in accepted if each]
        self._ids = {token: id_ for id_, token in enumerate(walker.tokens) if token}
        words = re.findall(r'"((?:[^"\\\n]|\\.)+)"', text)
        spaced = [form for word in words for form in (word, f"{word} ", f" {word}")]
        self._pieces = list(dict.fromkeys([*(each.encode() for each in spaced), *SHORT]))

    def walk(self, chance: random.Random) -> str | None:
        """Return a text of the grammar; None if the walk did not find to the end.

        Raises:
            DeadEnd: there was no way on.
            Contradiction: the mask is not what is accepted.
        """
        automaton = self._grammar.compile(self._walker.vocabulary, max_bytes=MAX_BYTES)
        matcher = automaton.matcher()
        if self._accepted and chance.random() < 0.4:
            self._copy(matcher, chance)
        length = len(matcher.tokens) + chance.choice(LENGTHS)
        by_byte, by_word = chance.choice([(0.3, 0.1), (0.7, 0.1), (0.6, 0.5), (0.0, 0.0)])
        while len(matcher.tokens) < length:
            if chance.random() < 0.2:
                self._compare(matcher, chance)
            word = chance.choice(self._pieces)
            if chance.random() < by_word and self._spell(matcher, word):
                continue
            allowed = self._allowed(matcher)
            others = allowed[allowed != self._walker.eos]
            if not len(others):
                break
            matcher.accept(self._any(others, by_byte, chance))
        endings = (self._end(matcher.fork(), chance) for _ in range(CLOSINGS))
        return next((text for text in endings if text is not None), None)

    def _copy(self, matcher: Matcher, chance: random.Random) -> None:
        """Begin as an accepted text does, in tokens drawn at random: all of them are allowed."""
        text = chance.choice(self._accepted)
        end = chance.randint(1, min(len(text), LONGEST_COPY))
        at = 0
        while at < end:
            starts = (text[at : at + length] for length in range(1, LONGEST_TOKEN + 1))
            tokens = [self._ids[start] for start in dict.fromkeys(starts) if start in self._ids]
            for token in tokens:
                if not matcher.can_accept(token):
                    raise Contradiction(
                        f"{self._walker.tokens[token]!r} is forbidden {text!r}[{at}:]"
                    )
            token = chance.choice(tokens)
            matcher.accept(token)
            at += len(self._walker.tokens[token] or b"")

    def _compare(self, matcher: Matcher, chance: random.Random) -> None:
        """Ask for some tokens one by one, before the mask of the state and after it is made."""
        walker = self._walker
        near = np.flatnonzero(np.isin(walker.first, list(matcher.allowed_bytes())))
        sample = [*chance.choices(range(len(walker.tokens)), k=20)]
        sample += chance.choices(near.tolist(), k=40) if len(near) else []
        before = [matcher.can_accept(token) for token in sample]
        allowed = set(self._allowed(matcher).tolist())
        for token, verdict in zip(sample, before, strict=True):
            if {verdict, matcher.can_accept(token)} != {token in allowed}:
                says = "allows" if token in allowed else "forbids"
                about = f"the mask {says} {walker.tokens[token]!r} after {walker.text(matcher)!r}"
                raise Contradiction(about)

    def _allowed(self, matcher: Matcher) -> Ids:
        allowed = self._walker.allowed(matcher)
        if not len(allowed):
            raise DeadEnd(f"nothing may follow {self._walker.text(matcher)!r}")
        return allowed

    def _any(self, allowed: Ids, by_byte: float, chance: random.Random) -> int:
        """Return one of the tokens; those that begin with a rare byte come up as well."""
        first = self._walker.first
        if chance.random() < by_byte:
            byte = chance.choice(np.unique(first[allowed]).tolist())
            allowed = allowed[first[allowed] == byte]
        return int(chance.choice(allowed))

    def _spell(self, matcher: Matcher, piece: bytes) -> bool:
        """Accept a piece byte by byte, or nothing of it; return True if it was accepted."""
        for count, byte in enumerate(piece):
            token = self._ids[bytes([byte])]
            if not matcher.can_accept(token):
                matcher.rollback(count)
                return False
            matcher.accept(token)
        return True

    def _end(self, matcher: Matcher, chance: random.Random) -> str | None:
        """Go to the end by words of the grammar and by what ends something."""
        # Not all words each time: what begins a comment may be in the way.
        count = len(self._pieces)
        words = chance.sample(self._pieces, chance.choice([count, chance.randint(8, count)]))
        closers = chance.sample(CLOSERS, len(CLOSERS))
        for _ in range(MAX_CLOSING):
            if matcher.can_accept(self._walker.eos):
                return self._walker.text(matcher).decode()
            order = closers + words if chance.random() < 0.7 else words + closers
            piece = next((each for each in order if self._spell(matcher, each)), None)
            if piece is None:
                matcher.accept(self._any(self._allowed(matcher), 0.5, chance))
            elif piece in words:
                # What was written comes last from now on: a name does not grow for ever.
                words.remove(piece)
                words.append(piece)
            elif chance.random() < 0.2:
                closers.remove(piece)  # a comment takes them all and ends nothing
        return None
