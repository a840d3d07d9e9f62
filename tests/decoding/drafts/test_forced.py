"""What the grammar dictates is proposed as the tokenizer would write it."""

from __future__ import annotations

import pytest

from guided.decoding.drafts.forced import ForcedDrafter
from guided.grammar import Grammar, Matcher
from guided.vocabulary import Vocabulary
from tests.decoding.drafts.asking import ask, job_of, write
from tests.decoding.tiny_model import VOCABULARY, tiny_tokenizer

TOKENIZER = tiny_tokenizer()


def encode(text: str) -> list[int]:
    return [int(token) for token in TOKENIZER(text)["input_ids"]]


def matcher_of(grammar: Grammar) -> Matcher:
    return grammar.compile(Vocabulary.from_tokenizer(TOKENIZER, size=VOCABULARY)).matcher()


@pytest.mark.parametrize(
    ("pattern", "before", "most", "forced"),
    [
        pytest.param('{"abc":true}', "", 8, '{"abc":true}', id="all of it"),
        pytest.param('{"abc":true}', "", 3, '{"abc', id="three tokens of it"),
        pytest.param('{"abc":(true|12)}', "", 8, '{"abc":', id="up to a choice"),
        pytest.param('{"abc":(true|12)}', '{"abc":1', 8, "2}", id="after a choice"),
        pytest.param('{"abc":(true|12)}', '{"abc":', 8, "", id="nothing at a choice"),
        pytest.param("x(abc)?", "x", 8, "", id="nothing where the text may end"),
    ],
)
def test_what_must_come_is_proposed(pattern: str, before: str, most: int, forced: str) -> None:
    drafter = ForcedDrafter()
    job = job_of([0], matcher_of(Grammar.from_regex(pattern)))
    if before:
        write(drafter, job, encode(before))
    draft = ask(drafter, job, most)
    assert draft.tokens == encode(forced)
    assert draft.parents == list(range(-1, len(draft) - 1))
    assert set(draft.classes) <= {0}


def test_a_special_token_is_proposed_too() -> None:
    job = job_of([0], matcher_of(Grammar.from_gbnf('root ::= <|turn|> "a"')))
    assert ask(ForcedDrafter(), job).tokens == [2, *encode("a")]


def test_a_free_text_has_none() -> None:
    assert len(ask(ForcedDrafter(), job_of([0]))) == 0
