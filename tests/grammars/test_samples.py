"""Each shipped grammar: what it is, what it accepts, what it rejects."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from guided import Grammar
from guided.grammar.files import shipped_grammars
from tests.grammars.samples import ACCEPTED, REJECTED
from tests.text.gbnf.matching import Texts

NAMES = sorted(shipped_grammars())


@cache
def texts_of(name: str) -> Texts:
    return Texts(Grammar.from_file(name))


def test_there_are_samples_of_each_grammar() -> None:
    assert set(ACCEPTED) == set(REJECTED) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_grammar_says_what_it_is_and_what_it_leaves_out(name: str) -> None:
    path = shipped_grammars()[name]
    comment = "#" if path.suffix == ".gbnf" else "//"
    lines = path.read_text(encoding="utf-8").splitlines()
    header = [line for line in lines[: lines.index("")] if line.startswith(comment)]
    assert header == lines[: lines.index("")]
    assert len(header) > 1 or "All of it." in header[0]


@pytest.mark.parametrize("name", NAMES)
def test_accepted_samples_are_accepted(name: str) -> None:
    assert [text for text in ACCEPTED[name] if not texts_of(name).has(text)] == []


def test_samples_of_python_are_what_python_reads() -> None:
    def reads(text: str) -> bool:
        try:
            ast.parse(text)
        except SyntaxError:
            return False
        return True

    assert [text for text in ACCEPTED["python"] if not reads(text)] == []
    # Tabs are left out of it, as Python has rules of its own on how they go with blanks.
    assert [text for text in REJECTED["python"] if reads(text) and "\t" not in text] == []


@pytest.mark.parametrize("name", NAMES)
def test_rejected_samples_are_rejected(name: str) -> None:
    assert [text for text in REJECTED[name] if texts_of(name).has(text)] == []
