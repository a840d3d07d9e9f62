"""Residual tables: masks over a vocabulary large enough for rows, against plain decoding."""

from __future__ import annotations

import codecs
import random
from collections.abc import Iterable
from functools import cache

import pytest

from guided import Grammar, Vocabulary

LETTERS = "abcdefghijklmnopqrstuvwxyzABC0123456789"
OTHERS = ' .,-_/"\\\n\t\x7féßж中文\u2028\u2029\u201c\U0001f600'


def make_tokens(seed: int) -> list[bytes]:
    """Make all single bytes, and words, mixtures and pieces of characters."""
    draw = random.Random(seed)
    tokens = {bytes([byte]) for byte in range(256)}
    while len(tokens) < 900:
        tokens.add("".join(draw.choices(LETTERS, k=draw.randint(2, 12))).encode())
    while len(tokens) < 1500:
        tokens.add("".join(draw.choices(LETTERS[:6] + OTHERS, k=draw.randint(1, 9))).encode())
    while len(tokens) < 1800:
        text = "".join(draw.choices(OTHERS[10:] + "ab", k=draw.randint(2, 6))).encode()
        tokens.add(text[draw.randint(0, 2) : len(text) - draw.randint(0, 2)] or b"ab")
    shuffled = sorted(tokens)
    draw.shuffle(shuffled)
    return shuffled


class Run:
    """The texts of some characters."""

    def __init__(self, characters: Iterable[str]) -> None:
        self.allowed = set(characters)
        spelled = [character.encode() for character in self.allowed]
        self.beginnings = {one[:size] for one in spelled for size in range(1, len(one))}

    def may_begin(self, data: bytes, most: int) -> bool:
        """Whether a text of at most `most` characters begins so."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            text = decoder.decode(data)
        except UnicodeDecodeError:
            return False
        pending = decoder.getstate()[0]
        if len(text) + bool(pending) > most or not set(text) <= self.allowed:
            return False
        return not pending or pending in self.beginnings


ALL = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
CLASSES = {
    "[^\\n\\u2028\\u2029]": [c for c in ALL if c not in "\n\u2028\u2029"],
    '[^"\\\\\\\\]': [c for c in ALL if c not in '"\\'],
    "[a-f0-9]": list("abcdef0123456789"),
    "[a-zA-Z0-9 .é-]": [*LETTERS, *"DEFGHIJKLMNOPQRSTUVWXYZ .é-"],
}


@cache
def run_of(characters: str) -> Run:
    return Run(CLASSES[characters])


@pytest.mark.parametrize("most", [3, 7, 40])
@pytest.mark.parametrize("characters", CLASSES)
def test_a_mask_within_a_run_allows_what_decodes_to_few_enough_characters(
    characters: str, most: int
) -> None:
    pattern = characters.replace("\\\\\\\\", "\\\\") + f"{{0,{most}}}"
    run = run_of(characters)
    for seed in range(2):
        tokens = make_tokens(seed)
        vocabulary = Vocabulary.from_tokens([*tokens, None], [len(tokens)])
        automaton = Grammar.from_regex(pattern).compile(vocabulary)
        draw = random.Random(seed)
        for _ in range(2):
            matcher, text = automaton.matcher(), b""
            for _ in range(6):
                wanted = [
                    token
                    for token, spelled in enumerate(tokens)
                    if run.may_begin(text + spelled, most)
                ]
                allowed = [token for token in matcher.allowed_tokens() if token < len(tokens)]
                assert allowed == wanted, (seed, text)
                if not wanted:
                    break
                token = draw.choice(wanted)
                matcher.accept(token)
                text += tokens[token]


SCHEMAS = {
    "escapes within a count": {"type": "string", "minLength": 2, "maxLength": 5},
    "a search with many states": {"pattern": "\\d{4}.\\d{4,5}|\\w+-/\\d", "type": "string"},
    "all but line ends": {"type": "string", "pattern": "^a.*é$"},
    "one character, then a run": {"type": "string", "pattern": "^[A-Za-z0-9_][^<>*#.]*$"},
    "names that are excluded": {"properties": {"abc": {}, 'ab"c': {}, "é": {}, "a b": {}}},
    "a counted name": {"patternProperties": {"^[0-9a-z_-]{1,60}$": {"type": "integer"}}},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_mask_allows_the_tokens_that_can_be_accepted(name: str) -> None:
    tokens = make_tokens(7)
    vocabulary = Vocabulary.from_tokens([*tokens, None], [len(tokens)])
    automaton = Grammar.from_json_schema(SCHEMAS[name]).compile(vocabulary)
    draw = random.Random(7)
    for _ in range(8):
        matcher = automaton.matcher()
        for _ in range(12):
            allowed = matcher.allowed_tokens()
            assert allowed == [t for t in range(len(tokens) + 1) if matcher.can_accept(t)]
            token = draw.choice(allowed)
            if token == len(tokens):
                break
            matcher.accept(token)
