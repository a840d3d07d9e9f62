"""What the tests of the Lark front end share: does a grammar, or lark itself, take a text?"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import lark.lexer
import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput
from lark.indenter import PythonIndenter

from guided import Grammar, Vocabulary
from guided.errors import TokenRejected
from guided.text.lark import LexerName

CORPORA = Path(os.environ.get("GUIDED_CORPORA", Path(__file__).parents[4] / "shared" / "corpora"))
GRAMMARS = CORPORA / "grammars"
needs_corpora = pytest.mark.skipif(not CORPORA.exists(), reason="the corpora are not here")

# lark compares all terminals with each other where interegular is installed, which takes long.
lark.lexer.has_interegular = False


@cache
def vocabulary_of_bytes() -> Vocabulary:
    """A token for each byte, so that the automaton sees a text byte by byte."""
    return Vocabulary.from_tokens([bytes([value]) for value in range(256)] + [None], eos=[256])


def accepts(grammar: Grammar, text: str) -> bool:
    """Return True if the grammar accepts the whole text."""
    matcher = grammar.compile(vocabulary_of_bytes()).matcher()
    try:
        matcher.accept_all(list(text.encode()))
    except TokenRejected:
        return False
    return matcher.is_complete


class Peer:
    """lark's own parser, as the lexer's name says."""

    def __init__(
        self,
        text: str,
        *,
        lexer: LexerName = "contextual",
        start: str = "start",
        path: Path | None = None,
        indented: bool = False,
    ) -> None:
        parser: Literal["lalr", "earley"] = "lalr" if lexer in ("contextual", "basic") else "earley"
        options: dict[str, Any] = {} if path is None else {"source_path": str(path)}
        if indented:
            options["postlex"] = PythonIndenter()
        self.parser = Lark(text, parser=parser, lexer=lexer, start=start, **options)

    def accepts(self, text: str) -> bool:
        """Return True if lark parses the whole text."""
        try:
            self.parser.parse(text)
        except (UnexpectedInput, lark.exceptions.LarkError, AssertionError, IndexError):
            return False
        return True


def samples() -> list[dict[str, Any]]:
    """Return the samples of Lark grammars in the corpora."""
    if not GRAMMARS.exists():
        return []
    lines = (GRAMMARS / "samples.jsonl").read_text("utf-8").strip().split("\n")
    return [each for each in map(json.loads, lines) if each["dialect"] == "lark"]


def reported_cases() -> list[dict[str, Any]]:
    """Return the reported failures about Lark grammars."""
    if not CORPORA.exists():
        return []
    lines = (CORPORA / "reported-cases.jsonl").read_text("utf-8").strip().split("\n")
    return [each for each in map(json.loads, lines) if each["input"]["kind"] == "lark"]


def every_text(alphabet: str, longest: int) -> Sequence[str]:
    """Return all texts over an alphabet up to a length."""
    texts = [""]
    for start in texts:
        if len(start) < longest:
            texts += [start + character for character in alphabet]
    return texts
