"""What comes out is parsed by lark: texts written by walking the masks at random."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.extra.lark import from_lark

from guided import Grammar, Vocabulary
from guided.text.lark import LexerName
from tests.text.json_schema.walking import large_walker, small_walker
from tests.text.lark.matching import GRAMMARS, Peer, accepts, needs_corpora, samples
from tests.text.lark.walking import GrammarWalker, judge


def tokens_of(sample: dict[str, Any]) -> Vocabulary:
    """Return a vocabulary of the bytes and of what is often written in the samples."""
    texts = [text for text in sample["accept"] if len(text) < 5000]
    pieces = {
        text[at : at + length]
        for text in texts
        for at in range(len(text))
        for length in range(2, 7)
    }
    source = random.Random(0)
    longer = source.sample(sorted(pieces), min(300, len(pieces)))
    tokens: list[bytes | None] = [bytes([value]) for value in range(128)]
    tokens += [piece.encode() for piece in longer]
    return Vocabulary.from_tokens([*tokens, None], eos=[len(tokens)])


def both_readings(sample: dict[str, Any]) -> tuple[Peer, Grammar]:
    """Return lark's parser of a grammar of the corpora, as the samples declare it, and our own."""
    path = GRAMMARS / sample["grammar"]
    lexer: LexerName = "contextual" if sample["parser"] == "lalr" else "dynamic"
    start = sample["start"]
    indented = sample.get("postlex") is not None
    peer = Peer(path.read_text(), lexer=lexer, start=start, path=path, indented=indented)
    return peer, Grammar.from_lark(path.read_text(), start=start, lexer=lexer, path=path)


@needs_corpora
@pytest.mark.parametrize("sample", samples(), ids=lambda sample: str(sample["grammar"]))
def test_each_text_written_by_the_masks_is_parsed_by_lark(sample: dict[str, Any]) -> None:
    peer, grammar = both_readings(sample)
    vocabulary = tokens_of(sample)
    automaton = grammar.compile(vocabulary)
    source = random.Random(3)
    complete = 0
    for _ in range(25):
        matcher = automaton.matcher()
        text = b""
        for _ in range(25):
            allowed = [token for token in matcher.allowed_tokens() if token not in vocabulary.eos]
            if not allowed:
                break
            token = source.choice(allowed)
            matcher.accept(token)
            text += vocabulary.token_bytes(token) or b""
            if matcher.is_complete:
                complete += 1
                assert peer.accepts(text.decode()), text
    assert complete or sample["grammar"] in SELDOM_COMPLETE


# Their texts have an end that is seldom met at random.
SELDOM_COMPLETE = ("lark/verilog.lark", "lark/own_query.lark")


@needs_corpora
@pytest.mark.nightly
@pytest.mark.parametrize("name", ["smollm2", "qwen"])
@pytest.mark.parametrize("sample", samples(), ids=lambda sample: str(sample["grammar"]))
def test_so_is_each_of_very_many_with_a_real_tokenizer(sample: dict[str, Any], name: str) -> None:
    peer, grammar = both_readings(sample)
    text = (GRAMMARS / sample["grammar"]).read_text()
    tokens = large_walker(name) or small_walker()
    walker = GrammarWalker(tokens, grammar, text, sample["accept"])
    judge(walker, f"{sample['grammar']} {name}", peer.parser.parse)


UNAMBIGUOUS = {
    "json": r"""
        start: value
        ?value: object | array | STRING | NUMBER | "true" | "false" | "null"
        array: "[" [value ("," value)*] "]"
        object: "{" [pair ("," pair)*] "}"
        pair: STRING ":" value
        STRING: /"[a-z\\" ]*?"/
        NUMBER: /-?[0-9]+(\.[0-9]+)?/
        %ignore /[ \n]+/
    """,
    "sums": r"""
        start: sum
        ?sum: product | sum "+" product | sum "-" product
        ?product: atom | product "*" atom
        ?atom: NUMBER | NAME | "(" sum ")" | "if" sum "then" sum "else" sum "end"
        NUMBER: /[0-9]+/
        NAME: /[a-z]+/
        %ignore " "
    """,
}


@pytest.mark.parametrize("name", UNAMBIGUOUS)
def test_texts_drawn_from_a_grammar_have_the_verdict_of_lark(name: str) -> None:
    peer = Peer(UNAMBIGUOUS[name])
    grammar = Grammar.from_lark(UNAMBIGUOUS[name])
    seen = []

    @given(from_lark(peer.parser))
    @settings(
        max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    def check(text: str) -> None:
        # Pieces that are drawn next to each other may be read as one, so some are no text of it.
        verdict = peer.accepts(text)
        seen.append(verdict)
        assert accepts(grammar, text) is verdict, text

    check()
    assert seen.count(True) > 10
