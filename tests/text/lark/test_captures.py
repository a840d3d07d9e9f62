"""`name[capture]`: what rules spelled is what they spell in the tree of lark."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any, Literal

import pytest
from lark import Lark, Tree
from lark.indenter import PythonIndenter

from guided import Grammar
from guided.errors import GrammarError, GuidedError, LimitError, UnsupportedError
from tests.text.lark.matching import GRAMMARS, accepts, every_text, needs_corpora, samples
from tests.text.lark.test_walks import tokens_of


def plain(text: str) -> str:
    """Return a grammar whose rules all stand in lark's tree, under their own names."""
    lines = re.sub(r"(?m)^[?!]+(?=\w)", "", text).split("\n")
    return "\n".join(
        line if line.startswith("%import") else re.sub(r"->\s*\w+", "", line) for line in lines
    )


def rules_of(text: str) -> list[str]:
    """Return the rules of such a grammar that stand in the tree, no templates."""
    return re.findall(r"(?m)^([a-z][a-z0-9_]*)(?=[.\d ]*\s*:)", text)


def capture_all(text: str) -> str:
    """Return the grammar with `capture` on all rules that stand in the tree."""
    return re.sub(r"(?m)^([a-z][a-z0-9_]*)(?=[.\d ]*\s*:)", r"\1[capture]", text)


def in_the_tree(tree: Tree[Any], text: str, names: list[str]) -> dict[str, list[str]]:
    """Return what each rule spelled, outer before inner and first before last."""
    found: dict[str, list[str]] = {name: [] for name in names}
    for each in tree.iter_subtrees_topdown():  # type: ignore[no-untyped-call]
        name = str(each.data)
        if name in found:
            meta = each.meta
            found[name].append("" if meta.empty else text[meta.start_pos : meta.end_pos])
    return found


def peer_of(text: str, start: str = "start", **options: Any) -> Lark:
    # Without all tokens a rule of one that is dropped would have no place.
    return Lark(
        text, parser="lalr", start=start, propagate_positions=True, keep_all_tokens=True,
        maybe_placeholders=False, **options,
    )  # fmt: skip


TABLES = [sample for sample in samples() if sample["parser"] == "lalr"]


@needs_corpora
@pytest.mark.parametrize("sample", TABLES, ids=lambda sample: str(sample["grammar"]))
def test_rules_spell_what_they_spell_in_the_tree_of_lark(sample: dict[str, Any]) -> None:
    path = GRAMMARS / sample["grammar"]
    text = plain(path.read_text())
    names = rules_of(text)
    options: dict[str, Any] = {"source_path": str(path)}
    if sample.get("postlex") is not None:
        options["postlex"] = PythonIndenter()
    peer = peer_of(text, sample["start"], **options)
    grammar = Grammar.from_lark(capture_all(text), start=sample["start"], path=path)
    compared = 0
    for each in [*sample["accept"], *written(grammar, sample)]:
        found = grammar.captures(each)
        assert found == in_the_tree(peer.parse(each), each, names), each
        compared += sum(map(len, found.values()))
    assert compared > 10


def written(grammar: Grammar, sample: dict[str, Any]) -> list[str]:
    """Return texts that walks over the masks came by."""
    vocabulary = tokens_of(sample)
    automaton = grammar.compile(vocabulary)
    source = random.Random(5)
    texts = []
    for _ in range(20):
        matcher, text = automaton.matcher(), b""
        for _ in range(25):
            allowed = [token for token in matcher.allowed_tokens() if token not in vocabulary.eos]
            if not allowed:
                break
            matcher.accept(source.choice(allowed))
            text += vocabulary.token_bytes(matcher.tokens[-1]) or b""
            if matcher.is_complete:
                texts.append(text.decode())
    return texts


SMALL = {
    "empty rules": 'start: a b a\na: "x"?\nb: "(" a ")" | "y"\n%ignore " "',
    "left and right recursion": 'start: a b\na: a "x" | "x"\nb: "y" b | "y"\n%ignore " "',
    "a rule of one rule": 'start: a+\na: b\nb: "x" | "(" a* ")" | "y" /x/',
    "strings in patterns": 'start: (a | b)*\na: "xy"\nb: /[xy]+/\n%ignore " "',
}


@pytest.mark.parametrize("lexer", ["contextual", "basic"])
@pytest.mark.parametrize("name", SMALL)
def test_so_does_each_rule_in_all_short_texts(
    name: str, lexer: Literal["contextual", "basic"]
) -> None:
    text = SMALL[name]
    peer, grammar = peer_of(text, lexer=lexer), Grammar.from_lark(capture_all(text), lexer=lexer)
    taken = [each for each in every_text("xy()" + " " * (" " in text), 5) if accepts(grammar, each)]
    assert len(taken) > 15
    for each in taken:
        assert grammar.captures(each) == in_the_tree(peer.parse(each), each, rules_of(text)), each


def test_a_capture_has_a_name_of_its_own_or_that_of_its_rule() -> None:
    grammar = Grammar.from_lark(
        'start: pair ("," pair)*\n'
        'pair: KEY "=" value\n'
        'KEY[capture="key"]: /[a-zé]+/\n'
        "?value[capture]: KEY | _other\n"
        '_other[capture="key"]: "<" KEY? ">"\n'
        '%ignore " "'
    )
    assert grammar.captures("é = b, c = < d >,e=<>") == {
        "key": ["é", "b", "c", "< d >", "d", "e", "<>"],
        "value": ["b", "< d >", "<>"],
    }


def test_a_rule_that_the_text_has_none_of_spells_nothing() -> None:
    grammar = Grammar.from_lark('start: a | "b"\na[capture]: "a"\nunused[capture]: "c"')
    assert grammar.captures("b") == {"a": [], "unused": []}
    assert Grammar.from_lark('start: "b"').captures("b") == {}
    assert Grammar.from_regex("b").captures("b") == {}


def test_captures_know_terminals_with_stops_templates_and_parts_in_any_order() -> None:
    grammar = Grammar.from_lark(
        'start: unordered{thought, _pair{WORD, "!"}} LAST?\n'
        'thought[capture]: "so" TEXT\n'
        'TEXT[stop=".", capture]: /(?s:.*)/\n'
        '_pair{x, y}[capture]: x ":" y\n'
        "WORD: /[a-z]+/\n"
        "LAST[capture, lazy]: /x+y?y/\n"
    )
    assert grammar.captures("so it.ab:!xxy") == {
        "thought": ["so it."],
        "TEXT": [" it."],
        "_pair": ["ab:!"],
        "LAST": ["xxy"],
    }
    assert grammar.captures("ab:!so it.") == {
        "thought": ["so it."],
        "TEXT": [" it."],
        "_pair": ["ab:!"],
        "LAST": [],
    }


def test_a_terminal_that_may_be_empty_spells_nothing_when_it_is_left_out() -> None:
    grammar = Grammar.from_lark('start: A "b"\nA[capture]: /a*/')
    assert grammar.captures("aab") == {"A": ["aa"]}
    assert grammar.captures("b") == {"A": [""]}


def test_blocks_are_captured_with_the_line_that_ends_them() -> None:
    grammar = Grammar.from_lark(
        "start: item+\nitem[capture]: NAME _NEWLINE [block]\n"
        "block[capture]: _INDENT item+ _DEDENT\n"
        "NAME: /[a-z]+/\n_NEWLINE: /(\\n *)+/\n%declare _INDENT _DEDENT"
    )
    assert grammar.captures("a\n  b\n  c\nd\n") == {
        "item": ["a\n  b\n  c\n", "b\n  ", "c\n", "d\n"],
        "block": ["b\n  c\n"],
    }


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("1,\ud800", "line 1, column 3"),
        ("1,x", "line 1, column 3"),
        ("1,\né,", "line 2, column 1"),
        ("1,", "line 1, column 3"),
    ],
)
def test_a_text_that_does_not_fit_has_no_captures(text: str, place: str) -> None:
    grammar = Grammar.from_lark('start: a ("," a)*\na[capture]: /[0-9]+/\n%ignore /\\s/')
    with pytest.raises(GuidedError) as caught:
        grammar.captures(text)
    assert str(caught.value) == (
        "the text does not fit the grammar, so its rules spell nothing\n"
        f"  {place}\n"
        "  mend: give a whole text of the grammar"
    )


def test_long_texts_of_rules_within_each_other_are_bounded() -> None:
    grammar = Grammar.from_lark('start: tail\ntail[capture]: "a" tail | "a"')
    found = grammar.captures("a" * 2_000)["tail"]
    assert found == ["a" * length for length in range(2_000, 0, -1)]
    with pytest.raises(LimitError, match="over the limit of 100000000 bytes"):
        grammar.captures("a" * 20_000)


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        pytest.param(
            'start: A\nA: B\nB[capture]: "b"',
            'terminal "B" stands in no rule that the start leads to, so it has no text to capture\n'
            "  line 3, column 1\n"
            '    3 | B[capture]: "b"\n'
            "      | ^\n"
            "  mend: capture a rule or terminal that it is used in, or leave the attribute out",
            id="a part of other terminals",
        ),
        pytest.param(
            'start: "a" B\nB[capture]: "b"\n%ignore B',
            'terminal "B" is ignored, so it has no text to capture\n'
            "  line 2, column 1\n"
            '    2 | B[capture]: "b"\n'
            "      | ^\n"
            "  mend: leave the attribute out",
            id="what is ignored",
        ),
    ],
)
def test_a_terminal_that_never_stands_by_itself_is_refused(grammar: str, message: str) -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_lark(grammar)
    assert str(caught.value) == message


@pytest.mark.parametrize("lexer", ["dynamic", "dynamic_complete"])
def test_captures_are_refused_where_a_text_may_be_read_in_several_ways(
    lexer: str, tmp_path: Path
) -> None:
    with pytest.raises(UnsupportedError) as caught:
        Grammar.from_lark('start: a\na[capture]: "b"', lexer=lexer)  # type: ignore[arg-type]
    assert str(caught.value) == (
        '"a" has the attribute "capture", and a dynamic lexer may read a text in several ways'
        " (scope: docs/grammars.md)\n"
        "  line 2, column 1\n"
        '    2 | a[capture]: "b"\n'
        "      | ^\n"
        '  mend: give lexer="contextual" or "basic", or leave the attribute out'
    )
    (tmp_path / "inner.lark").write_text('start[capture]: "b"')
    with pytest.raises(UnsupportedError, match=r'"start" has .* \(in .*inner.lark\)'):
        Grammar.from_lark(
            'start: %grammar "inner.lark"',
            lexer=lexer,  # type: ignore[arg-type]
            import_paths=[tmp_path],
        )
