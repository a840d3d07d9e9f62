"""A grammar behind a text that was taken back: tokens may begin in the text and end behind it."""

from __future__ import annotations

import random
import re

import pytest

from guided import Grammar, GrammarError, Matcher, Vocabulary
from guided.grammar.healing import compile_behind

TOKENS = [
    b"a",
    b"b",
    b"(",
    b")",
    b" ",
    b"ab",
    b"(a",
    b"((",
    b" (",
    b"b a",
    b"a(",
    b"aa",
    None,
    None,
]
END, SPECIAL = len(TOKENS) - 2, len(TOKENS) - 1
VOCABULARY = Vocabulary.from_tokens(TOKENS, eos=[END], special={"<x>": SPECIAL})
NESTED = 'start: item+\nitem: NAME | "(" item* ")"\nNAME: /[ab]+/\n%ignore " "'
GRAMMARS = {
    "regex": Grammar.from_regex(r"\(?[ab]*"),
    "gbnf": Grammar.from_gbnf('root ::= ("(" root ")" | "a"*) " "?'),
    "contextual": Grammar.from_lark(NESTED),
    "dynamic": Grammar.from_lark(NESTED, lexer="dynamic"),
    "choices": Grammar.from_choices(["a(b", "ab", ""]),
}


@pytest.mark.parametrize("text", [b"a", b"a(", b"b a"])
@pytest.mark.parametrize("name", GRAMMARS)
def test_a_mask_allows_what_rewrites_the_text_or_goes_on_from_it(name: str, text: bytes) -> None:
    numbers = random.Random(1)
    grammar = GRAMMARS[name]
    plain = grammar.compile(VOCABULARY)
    automaton = compile_behind(text, grammar, VOCABULARY)
    for _ in range(60):
        matcher, written = automaton.matcher(), b""
        for _ in range(8):
            allowed = [token for token in range(len(TOKENS))
                       if fits(plain.matcher(), text, written, token)]  # fmt: skip
            assert matcher.allowed_tokens() == allowed
            token = numbers.choice(allowed)
            matcher.accept(token)
            if token == END:
                break
            written += TOKENS[token] or b""


def fits(plain: Matcher, text: bytes, written: bytes, token: int) -> bool:
    """Whether a token may come, found out byte by byte."""
    spelled = TOKENS[token]
    if spelled is None:
        rest = written[len(text) :]
        if token == SPECIAL or len(written) < len(text):
            return False
        plain.accept_bytes(rest)
        return plain.is_complete
    whole = written + spelled
    if len(whole) <= len(text):
        return text.startswith(whole)
    if not whole.startswith(text):
        return False
    for byte in whole[len(text) :]:
        if byte not in plain.allowed_bytes():
            return False
        plain.accept_bytes(bytes([byte]))
    return True


def test_behind_the_text_anything_may_come_if_there_is_no_grammar() -> None:
    matcher = compile_behind(b"a(", None, VOCABULARY).matcher()
    assert [TOKENS[token] for token in matcher.allowed_tokens()] == [b"a", b"a("]
    matcher.accept(TOKENS.index(b"a"))
    assert [TOKENS[token] for token in matcher.allowed_tokens()] == [b"(", b"(a", b"(("]
    matcher.accept(TOKENS.index(b"(("))
    assert matcher.allowed_tokens() == list(range(len(TOKENS)))


def test_halves_of_characters_may_come_where_anything_may() -> None:
    bytewise = Vocabulary.from_tokens([bytes([each]) for each in range(256)] + [None], [256])
    matcher = compile_behind(b"\xa9x", None, bytewise).matcher()
    matcher.accept_all([0xA9, ord("x"), 0xC3, 0xC3])
    assert matcher.is_complete


def test_a_grammar_at_fault_is_refused_as_ever() -> None:
    with pytest.raises(GrammarError, match="no text matches the pattern"):
        compile_behind(b"a", Grammar.from_regex("(?=a)b"), VOCABULARY)


def test_it_is_kept_by_text_and_grammar() -> None:
    first = compile_behind(b"a", Grammar.from_regex("b+"), VOCABULARY)
    assert compile_behind(b"a", Grammar.from_regex("b+"), VOCABULARY) is first
    assert compile_behind(b"b", Grammar.from_regex("b+"), VOCABULARY) is not first
    assert re.match("<Automaton over", repr(first))
