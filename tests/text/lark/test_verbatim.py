"""Spans of a given text, by words and by characters."""

from __future__ import annotations

import random
import re
import time

import pytest

from guided import Grammar
from guided._core import Arena
from guided.errors import GrammarError, LimitError
from guided.text.lark import compile_lark
from guided.text.lark.suffix_automaton import suffix_automaton
from guided.text.lark.verbatim import span_automaton, units, write_spans
from tests.text.lark.matching import accepts, every_text

# Characters that share their first bytes, words within words, an apostrophe, a combining mark.
ALPHABET = "ab _'\u2019é×è\u0301\n.😀"


def spans_by_words(text: str) -> set[str]:
    """All spans that cut no word, straight from what a word is."""
    inner = "[\\w\u0301]"
    cuts = {0, len(text)}
    words = [each.span() for each in re.finditer(f"{inner}+(?:['\u2019]{inner}+)*", text)]
    for at in range(len(text)):
        if not any(start < at < end for start, end in words):
            cuts.add(at)
    ordered = sorted(cuts)
    return {text[i:j] for i in ordered for j in ordered if i < j}


def spans_by_characters(text: str) -> set[str]:
    return {text[i:j] for i in range(len(text)) for j in range(i + 1, len(text) + 1)}


@pytest.mark.parametrize("unit", ["words", "characters"])
@pytest.mark.parametrize("seed", range(30))
def test_a_span_is_a_part_of_the_text_and_nothing_else_is(unit: str, seed: int) -> None:
    source = random.Random(seed)
    alphabet = source.sample(ALPHABET, source.randint(2, len(ALPHABET)))
    text = "".join(source.choice(alphabet) for _ in range(source.randint(1, 24)))
    wanted = spans_by_words(text) if unit == "words" else spans_by_characters(text)
    arena = Arena()
    node = write_spans(arena, text, unit)  # type: ignore[arg-type]
    for span in spans_by_characters(text):
        assert arena.matches(node, span) is (span in wanted), (text, span)
    for _ in range(200):
        drawn = "".join(source.choice(alphabet) for _ in range(source.randint(0, 5)))
        assert arena.matches(node, drawn) is (drawn in wanted), (text, drawn)
    for short in ("", *every_text("ab'", 3)):
        assert arena.matches(node, short) is (short in wanted), (text, short)


@pytest.mark.parametrize("seed", range(10))
def test_no_character_is_cut(seed: int) -> None:
    source = random.Random(seed)
    text = "".join(source.choice("é×è😀a") for _ in range(12))
    arena = Arena()
    node = write_spans(arena, text, "characters")
    spelled = text.encode()
    whole = {span.encode() for span in spans_by_characters(text)}
    for start in range(len(spelled)):
        for end in range(start, len(spelled) + 1):
            assert arena.matches(node, spelled[start:end]) is (spelled[start:end] in whole)


def test_words_are_whole() -> None:
    text = "I don't know café-bars, nor e\u0301tudes."
    grammar = Grammar.from_lark(f'start: "<" %verbatim "{text}" words ">"', lexer="dynamic")
    for span in ("I don't", "know café", "-bars, nor", "e\u0301tudes.", "don't know", text):
        assert accepts(grammar, f"<{span}>"), span
    for other in ("I don", "'t know", "caf", "e", "I know", "", "bar", "don't know caf"):
        assert not accepts(grammar, f"<{other}>"), other


def test_the_caller_gives_a_text_by_its_name() -> None:
    text = 'start: "<" %verbatim letter words ">" | "(" %verbatim letter characters ")"'
    letter = 'Dear "you",\nyours'
    grammar = Grammar.from_lark(text, lexer="dynamic", texts={"letter": letter})
    other = Grammar.from_lark(text, lexer="dynamic", texts={"letter": "me"})
    assert accepts(other, "<me>")
    assert not accepts(other, "<yours>")
    assert accepts(grammar, '<Dear "you">')
    assert accepts(grammar, '(ar "you",\ny)')
    assert not accepts(grammar, '<ar "you">')
    assert not accepts(grammar, "<letter>")


def test_the_automaton_of_suffixes_has_at_most_two_states_a_symbol() -> None:
    source = random.Random(4)
    rows = ["a" * 50, "ab" * 25, "abbb" * 12, "".join(source.choice("ab") for _ in range(300))]
    for row in rows:
        built = suffix_automaton(row)
        assert len(built.following) <= 2 * len(row)
        assert sum(map(len, built.following)) <= 3 * len(row)


def test_states_are_linear_in_the_text() -> None:
    source = random.Random(1)
    words = [
        "".join(source.choice("abcdé") for _ in range(source.randint(1, 8))) for _ in range(40)
    ]
    text = " ".join(source.choice(words) for _ in range(3000))
    size = len(text.encode())
    assert len(span_automaton(list(text))) < 2 * size
    assert len(span_automaton(list(units(text)))) < 2 * size


def test_a_text_that_is_too_long_is_refused_soon() -> None:
    start = time.process_time()
    for text in ("x" * 10_000_000, "".join(map(chr, range(0x4E00, 0x9000))) * 4):
        with pytest.raises(LimitError, match="%verbatim is too long: over the limit of 200000"):
            write_spans(Arena(), text, "characters")
    with pytest.raises(LimitError, match="too long"):
        write_spans(Arena(), "abbabaab" * 10_000 + "b" * 60_000 + "ab" * 40_000, "characters")
    assert time.process_time() - start < 20


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        pytest.param(
            "start: %verbatim leter words",
            'no text "leter" is given\n'
            "  line 1, column 8\n"
            "    1 | start: %verbatim leter words\n"
            "      |        ^^^^^^^^^\n"
            '  mend: did you mean "letter"?',
            id="a name that is not given",
        ),
        pytest.param(
            "start: %verbatim novel words",
            'no text "novel" is given\n'
            "  line 1, column 8\n"
            "    1 | start: %verbatim novel words\n"
            "      |        ^^^^^^^^^\n"
            '  mend: give texts={"novel": ...}',
            id="a name unlike any other",
        ),
        pytest.param(
            "start: %verbatim nothing words",
            'the text "nothing" is empty: it has no span\n'
            "  line 1, column 8\n"
            "    1 | start: %verbatim nothing words\n"
            "      |        ^^^^^^^^^\n"
            "  mend: give one that is not",
            id="an empty text",
        ),
        pytest.param(
            "start: %verbatim broken words",
            'the text "broken" has a surrogate, which UTF-8 cannot write\n'
            "  line 1, column 8\n"
            "    1 | start: %verbatim broken words\n"
            "      |        ^^^^^^^^^\n"
            "  mend: write the character itself",
            id="a surrogate",
        ),
        pytest.param(
            'start: "a" %verbatim letter',
            "%verbatim has no text after it, or does not say how it is cut\n"
            "  line 1, column 12\n"
            '    1 | start: "a" %verbatim letter\n'
            "      |            ^^^^^^^^^\n"
            '  mend: write %verbatim name words, or %verbatim "some text" characters',
            id="no unit",
        ),
    ],
)
def test_what_is_wrong_with_a_text_is_told(grammar: str, message: str) -> None:
    texts = {"letter": "a b", "nothing": "", "broken": "a\ud800"}
    with pytest.raises(GrammarError) as caught:
        compile_lark(grammar, lexer="dynamic", texts=texts)
    assert str(caught.value) == message
