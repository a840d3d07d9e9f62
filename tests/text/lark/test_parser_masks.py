"""Masks under a parser are made ahead of the tokens: they must agree with reading each token."""

from __future__ import annotations

import random
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from guided import Grammar, Matcher, Vocabulary
from guided.errors import LimitError
from tests.text.lark.matching import GRAMMARS, needs_corpora

PIECES = (
    "x", "if", "i", "f(", "(", ")", "()", "())", ")(", "((", "]", "[x", "[", "].y", "):", ")):\n",
    ":", ": ", ":\n", ":\n  ", ":\n    ", ":\n\t", "\n", "\n\n", "\n ", "\n  ", "\n    ", "\n  x",
    "\n    x\n", "\n  x\n    y", "\n  if x:\n    y", "x\ny", ")\n", ")\n  x", ",\n   ", "\n#",
    "\n  # c\n", "#", "##", " #", "# c\n", "# c\n  x", " ", "  ", "\t", " x", " if", " in",
    " not", " is", " x =", "=", "==", "=x", " == x", "!=", ".", "..", "...", "....", ".x", ".x(",
    "1", "1.", ".1", "1.x", "0", "00", "1if", "1 if", "'", "''", "'''", "''''", "'x'", "'x", "x'",
    "x''", "'\n", "\\", "\\\n", "'x'.y", '"', '""', '"""', '"x"', '"):', "not", "notx", "def",
    "def f", "def f(", "class", "return", "pass\n", "else", "else:", "\nelse:", "\n  else:\n",
    "elif x", "lambda", "lambda x:", ";", "; x", "**", "*", "-", "-x", "->", "- ", ",", ", x",
    ",x)", "é", "x, y", "x.y", "x.y(", "x = x\n", "{", "}", "{x: y}", "\r\n",
)  # fmt: skip
VOCABULARY = Vocabulary.from_tokens([piece.encode() for piece in PIECES] + [b""], eos=[len(PIECES)])


def disagreements(matcher: Matcher) -> list[str]:
    """Return the tokens whose bit in the mask is not the verdict of reading them."""
    row = np.zeros(VOCABULARY.words, np.int32)  # (W,)
    matcher.fill_mask(row)
    return [
        piece
        for token, piece in enumerate((*PIECES, "the end"))
        if bool(row[token >> 5] >> (token & 31) & 1) is not matcher.can_accept(token)
    ]


def walk(grammar: Grammar, seed: int, steps: int) -> None:
    """Compare at each step of a random text."""
    draw = random.Random(seed)
    matcher = grammar.compile(VOCABULARY).matcher()
    for _ in range(steps):
        assert disagreements(matcher) == [], b"".join(
            VOCABULARY.token_bytes(token) or b"" for token in matcher.tokens
        )
        allowed = [token for token in matcher.allowed_tokens() if token < len(PIECES)]
        if not allowed:
            return
        matcher.accept(draw.choice(allowed))


@needs_corpora
@pytest.mark.parametrize("seed", range(12))
def test_random_texts_under_python(python: Grammar, seed: int) -> None:
    walk(python, seed, 60)


@needs_corpora
def test_a_real_file_under_python(python: Grammar) -> None:
    text = (Path(sysconfig.get_path("stdlib")) / "bisect.py").read_bytes()
    matcher = python.compile(VOCABULARY).matcher()
    for byte in text[:2500]:
        assert disagreements(matcher) == []
        matcher.accept_bytes(bytes([byte]))


@pytest.fixture(scope="module")
def python() -> Grammar:
    path = GRAMMARS / "lark" / "python.lark"
    return Grammar.from_lark(path.read_text(), start="file_input", path=path)


# A comment that only a line break may follow, lexemes that begin others, rules for nothing, and
# a text that may end in several places.
LINES = """
start: line*
line: [call ("," call)*] [";"] "\\n"
call: NAME ["=" NAME] | "if" call "else" call | call "(" [call] ")" | call dots | STRING
dots: "." | ".." | "..." | "....x"
NAME: /[a-z]+/
STRING: /'[^'\\n]*'/ | /'''.*?'''/s
%ignore /#[^\\n]*/
%ignore " "
"""
BLOCKS = """
start: (_NEWLINE | item)+
item: NAME ["(" [NAME ("," NAME)*] ")"] _NEWLINE [_INDENT item+ _DEDENT] -> plain
    | "if" NAME ":" (_NEWLINE _INDENT item+ _DEDENT | NAME _NEWLINE)
LPAR: "("
RPAR: ")"
%import common.CNAME -> NAME
%ignore " "
%ignore /#[^\\n]*/
%declare _INDENT _DEDENT
_NEWLINE: /(\\r?\\n[\\t ]*|#[^\\n]*\\n[\\t ]*)+/
"""
RIGHT = """
start: "x" list
list: "(" list ")" nothing | "[" "]" | "1" list | nothing
nothing:
"""


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", [LINES, BLOCKS, RIGHT], ids=["lines", "blocks", "right"])
def test_random_texts_under_small_grammars(text: str, seed: int) -> None:
    walk(Grammar.from_lark(text), seed, 40)


def test_a_token_of_thousands_of_lexemes_is_a_limit() -> None:
    vocabulary = Vocabulary.from_tokens([b"(" * 5000, b"(", b"x", b")", b""], eos=[4])
    grammar = Grammar.from_lark('start: "(" start ")" | "x"')
    with pytest.raises(LimitError, match="a token spells too many lexemes"):
        grammar.compile(vocabulary).matcher().allowed_tokens()
