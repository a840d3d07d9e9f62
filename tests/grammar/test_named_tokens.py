"""Tokens that a grammar names are looked up in the vocabulary that it is compiled for."""

from __future__ import annotations

import pytest

from guided import Grammar, Matcher, TokenRejected, Vocabulary, VocabularyError

SPECIAL = {"<eos>": 256, "<think>": 257, "</think>": 258}
WORD = 259  # spelled "<word>", as an ordinary token


def vocabulary() -> Vocabulary:
    tokens: list[bytes | None] = [bytes([byte]) for byte in range(256)]
    return Vocabulary.from_tokens([*tokens, None, None, None, b"<word>"], [256], SPECIAL)


def matcher(grammar: str) -> Matcher:
    return Grammar.from_gbnf(grammar).compile(vocabulary()).matcher()


def accepts(grammar: str, tokens: list[int]) -> bool:
    walk = matcher(grammar)
    try:
        walk.accept_all(tokens)
    except TokenRejected:
        return False
    return walk.is_complete


@pytest.mark.parametrize("token", ["<think>", "<[257]>"])
def test_a_token_is_given_by_its_text_or_its_number(token: str) -> None:
    assert accepts(f'root ::= {token} "a"', [257, ord("a")])
    assert not accepts(f'root ::= {token} "a"', [258, ord("a")])
    assert not accepts(f'root ::= {token} "a"', [*b"<think>a"])


def test_an_ordinary_token_may_be_named_too() -> None:
    assert accepts("root ::= <word>", [WORD])
    assert not accepts("root ::= <word>", [*b"<word>"])
    assert accepts('root ::= "<word>"', [WORD])
    assert accepts('root ::= "<word>"', [*b"<word>"])


def test_what_is_negated_is_any_token_but_one_and_but_the_end() -> None:
    grammar = "root ::= <think> !</think>* </think>"
    assert accepts(grammar, [257, 258])
    assert accepts(grammar, [257, 97, 257, 195, WORD, 258])
    assert not accepts(grammar, [257, 258, 258])
    assert not accepts("root ::= !<think>", [257])
    assert matcher("root ::= !<think>").allowed_tokens() == [*range(256), 258, WORD]


def test_one_grammar_serves_vocabularies_with_other_numbers() -> None:
    grammar = Grammar.from_gbnf("root ::= <think>")
    other = Vocabulary.from_tokens([None, None, b"a"], [0], {"<think>": 1})
    assert grammar.compile(other).matcher().allowed_tokens() == [1]
    assert grammar.compile(vocabulary()).matcher().allowed_tokens() == [257]


def test_an_encoder_tells_which_token_a_text_is() -> None:
    tokens = [b"a", b"<b>", None]
    encoded = Vocabulary.from_tokens(tokens, [2], encode=lambda text: [1] if text == "<b>" else [0])
    assert Grammar.from_gbnf("root ::= <b>").compile(encoded).matcher().allowed_tokens() == [1]


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        (
            "root ::= <thnk>",
            "the vocabulary has no token <thnk>\n"
            '  mend: did you mean <think>? Or write "<thnk>" in double quotes for its characters,'
            " or give the token by its number",
        ),
        (
            "root ::= !<[1000]>",
            "the vocabulary has no token 1000: it has 260 tokens\n"
            "  mend: give the token by its text, or use the tokenizer that the grammar is meant"
            " for",
        ),
        (
            "root ::= <eos>",
            "token <eos> ends the output, so nothing in a grammar can stand for it\n"
            "  mend: leave it out: the end is allowed where the grammar is complete",
        ),
    ],
)
def test_what_the_vocabulary_lacks_is_refused(grammar: str, message: str) -> None:
    with pytest.raises(VocabularyError) as raised:
        matcher(grammar)
    assert str(raised.value) == message
