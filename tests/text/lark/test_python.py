"""python.lark, whose blocks are told by indentation: real files, and what is wrong in them."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from guided import Grammar
from guided.errors import UnsupportedError
from tests.text.lark.matching import GRAMMARS, Peer, accepts, needs_corpora

PATH = GRAMMARS / "lark" / "python.lark"
# Files of the standard library that lark's python.lark parses.
FILES = ("bisect.py", "heapq.py", "keyword.py", "stat.py", "sched.py", "queue.py", "colorsys.py")


@pytest.fixture(scope="module")
def python() -> Grammar:
    return Grammar.from_lark(PATH.read_text(), start="file_input", path=PATH)


@pytest.fixture(scope="module")
def peer() -> Peer:
    return Peer(PATH.read_text(), start="file_input", path=PATH, indented=True)


@needs_corpora
@pytest.mark.parametrize("name", FILES)
def test_real_files_are_accepted(python: Grammar, peer: Peer, name: str) -> None:
    text = (Path(sysconfig.get_path("stdlib")) / name).read_text()
    assert peer.accepts(text)
    assert accepts(python, text)


@needs_corpora
@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n",
        "x = 1",
        "if x:\n  y\n",
        "if x:\n  y\n z\n",
        "if x:\n  y\n  z\n",
        "if x:\n\ty\n        z\n",
        "if x:\n\ty\n  z\n",
        "if x:\n  if y:\n    z\nw\n",
        "if x:\n  if y:\n    z\n   w\n",
        "if x:\n  y",
        "if x:\ny\n",
        "  x\n",
        "x = (1,\n  2)\n",
        "x = (1,\n  2\n",
        "x = 1)\n",
        "def f():\n    # note\n\n    return 1\n",
        "def f():\n  return 1\n\n\n# end\n",
        "x = '''a\nb'''\n",
        "x = \\\n  1\n",
        "x = 007\n",
        "x = 00\n",
        "print('a' \"b\")\n",
        "class A: pass\n",
        "lambda: 0\n",
        "nota in b\n",
        "not a in b\n",
        "x = 1if y else 2\n",
        "\n\n\nx\n",
        "",
        "\n",
    ],
)
def test_small_texts_have_the_verdict_of_lark(python: Grammar, peer: Peer, text: str) -> None:
    assert accepts(python, text) is peer.accepts(text)


TREE = """
start: _NEWLINE? item+
item: NAME _NEWLINE [_INDENT item+ _DEDENT]
%import common.CNAME -> NAME
%import common.WS_INLINE
%declare _INDENT _DEDENT
%ignore WS_INLINE
_NEWLINE: /(\\r?\\n[\\t ]*)+/
"""


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("a\n", True),
        ("a\n  b\n  c\nd\n", True),
        ("a\n  b\n    c\nd\n", True),
        ("a\n  b\n c\n", False),
        ("  a\n", True),
        ("a\n    b\n\tc\n", True),
        ("a\n        b\n\tc\n", True),
        ("a\n         b\n\tc\n", False),
        ("a", False),
    ],
)
def test_other_grammars_may_have_indentation(text: str, verdict: bool) -> None:
    assert Peer(TREE, indented=True).accepts(text) is verdict
    assert accepts(Grammar.from_lark(TREE), text) is verdict


def test_indentation_needs_the_name_that_python_lark_gives_new_lines() -> None:
    with pytest.raises(UnsupportedError) as caught:
        Grammar.from_lark(
            'start: "a" _NL _INDENT "b" _DEDENT\n%declare _INDENT _DEDENT\n_NL: /\\n */'
        )
    assert str(caught.value) == (
        'terminal "_DEDENT" is declared and not defined: what it matches, a post-lexer knows'
        " (scope: docs/grammars.md)\n"
        "  line 1, column 28\n"
        '    1 | start: "a" _NL _INDENT "b" _DEDENT\n'
        "      |                            ^^^^^^^\n"
        '  mend: call the terminal of new lines "_NEWLINE", as python.lark does'
    )
