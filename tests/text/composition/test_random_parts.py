"""Random compositions against `re`, and what they capture against all readings in their order."""

from __future__ import annotations

import random
import re

from hypothesis import strategies as st

from guided import Vocabulary
from tests.laws.law import law
from tests.text.composition.random_parts import build, every_text, first_reading

VOCABULARY = Vocabulary.from_tokens([b"a", b"b", b"ab", b"ba", b"aab", None], eos=[5])
TOKENS = {"a": 0, "b": 1}
TEXTS = list(every_text(6))

seeds = st.integers(0, 2**32)


@law(seeds, st.integers(0, 3), plain=60)
def test_a_composition_has_the_texts_of_its_pattern(seed: int, depth: int) -> None:
    built = build(random.Random(seed), depth)
    automaton = built.grammar.compile(VOCABULARY)
    for text in TEXTS:
        found = automaton.matcher().accepted_prefix([*(TOKENS[each] for each in text), 5])
        fits = first_reading(built.tree, text) is not None
        assert (found == len(text) + 1) is fits, (text, built.tree)
        if "\0" not in built.pattern:
            assert bool(re.fullmatch(built.pattern, text)) is fits, (text, built.pattern)


@law(seeds, st.integers(0, 3), plain=60)
def test_a_capture_is_that_of_the_first_reading(seed: int, depth: int) -> None:
    built = build(random.Random(seed), depth)
    grammar = built.grammar.capture("all")
    for text in TEXTS[:: 1 + depth]:
        notes = first_reading(built.tree, text)
        if notes is None:
            continue
        found: dict[str, list[str]] = {"all": [text]}
        for name, start, end in notes:
            found.setdefault(name, []).append(text[start:end])
        captured = grammar.captures(text)
        assert {name: texts for name, texts in captured.items() if texts} == found, built.tree
