"""Grammars put together of others: each block, what it captures, what is refused."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable

import pytest

from guided import (
    Grammar,
    GrammarError,
    GuidedError,
    LimitError,
    Tag,
    UnsupportedError,
    Vocabulary,
    VocabularyError,
)

END, THINK, AFTER = 256, 257, 258
DIGITS, WORD = Grammar.from_regex(r"\d+"), Grammar.from_regex("[a-z]+")
POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    tokens: list[bytes | None] = [bytes([byte]) for byte in range(256)]
    special = {"<think>": THINK, "</think>": AFTER}
    return Vocabulary.from_tokens([*tokens, None, None, None], [END], special)


def matches(grammar: Grammar, text: str | list[int], vocabulary: Vocabulary) -> bool:
    matcher = grammar.compile(vocabulary).matcher()
    tokens = list(text.encode()) if isinstance(text, str) else text
    return matcher.accepted_prefix([*tokens, END]) == len(tokens) + 1


@pytest.mark.parametrize(
    ("grammar", "accepted", "rejected"),
    [
        pytest.param(
            Grammar.sequence("n = ", DIGITS, "\n", Grammar.from_json_schema(POINT)),
            ['n = 12\n{"x": 3}'],
            ["n = 12", 'n = \n{"x": 3}', 'n = 12\n{"x": 3.5}'],
            id="sequence",
        ),
        pytest.param(
            Grammar.choice(DIGITS, "none", WORD + "!"),
            ["1", "none", "ab!"],
            ["ab", ""],
            id="choice",
        ),
        pytest.param("(" + DIGITS + ")" | WORD, ["(1)", "a"], ["1", "(a)"], id="operators"),
        pytest.param("no" | DIGITS, ["no", "7"], ["no7"], id="text on the left"),
        pytest.param(DIGITS.optional() + "!", ["!", "1!"], ["1"], id="optional"),
        pytest.param(
            WORD.repeat(2, 3, separator=", "),
            ["a, b", "a, b, c"],
            ["a", "a, b, ", "a, b, c, d"],
            id="separated",
        ),
        pytest.param(DIGITS.repeat(0, 0), [""], ["1"], id="never"),
        pytest.param((WORD + ".").repeat(), ["", "a.b."], ["a"], id="any number"),
        pytest.param(
            Grammar.until("</b>") + "c", ["</b>c", "x<</b>c"], ["</b></b>c", "c"], id="until"
        ),
        pytest.param(
            Grammar.until(["\n", "END"], text=Grammar.from_regex("[A-Z ]*")),
            ["A\n", "THE END"],
            ["a\n", "A END\n", "A"],
            id="until one of several",
        ),
        pytest.param(
            '"' + Grammar.verbatim("I don't know, he said.") + '"',
            ['"don\'t know"', '"he said."'],
            ['"don"', '""', '"know he"'],
            id="verbatim",
        ),
        pytest.param(
            Grammar.verbatim("know", unit="characters"), ["no", "k"], ["kw", ""], id="characters"
        ),
        pytest.param(
            Grammar.unordered("a", DIGITS, "b", separator=","),
            ["a,1,b", "b,1,a", "12,b,a"],
            ["a,b", "a,1,b,", "a,1,a", "a1b"],
            id="unordered",
        ),
        pytest.param(Grammar.unordered("a", "a", "b"), ["aab", "aba"], ["ab", "abb"], id="twice"),
        pytest.param(Grammar.sequence(), [""], ["a"], id="nothing"),
        pytest.param(
            Grammar.from_gbnf('root ::= "(" root ")" | "x"') + Grammar.from_gbnf('root ::= "y"'),
            ["((x))y"],
            ["((x)y", "x"],
            id="rules of one name",
        ),
        pytest.param(
            Grammar.from_lark('start: "a" "b"\n%ignore " "', lexer="dynamic").repeat(2),
            ["ab a  b", "abab"],
            ["ab"],
            id="lark",
        ),
        pytest.param(
            Grammar.from_tags([Tag("<x>", "</x>", regex="[0-9]")], free_text=False).repeat(1),
            ["<x>1</x>", "<x>1</x><x>2</x>"],
            ["<x>1"],
            id="tags",
        ),
    ],
)
def test_each_block(
    grammar: Grammar, accepted: list[str], rejected: list[str], vocabulary: Vocabulary
) -> None:
    assert grammar.kind == "composition"
    assert [matches(grammar, text, vocabulary) for text in accepted] == [True] * len(accepted)
    assert [matches(grammar, text, vocabulary) for text in rejected] == [False] * len(rejected)


def test_parts_in_any_order_have_all_orders(vocabulary: Vocabulary) -> None:
    parts: list[Grammar | str] = [DIGITS, "a", Grammar.from_choices(["x", "yy"]), "b"]
    grammar = Grammar.unordered(*parts, separator=" ")
    for order in itertools.permutations(["12", "a", "yy", "b"]):
        assert matches(grammar, " ".join(order), vocabulary)
        assert not matches(grammar, " ".join(order[1:]), vocabulary)


def test_tokens_are_parts_too(vocabulary: Vocabulary) -> None:
    thought = Grammar.token("</think>", negated=True).repeat()
    grammar = Grammar.token("<think>") + thought + Grammar.token(AFTER) + DIGITS
    assert matches(grammar, [THINK, 97, 0xC3, AFTER, 49], vocabulary)
    assert not matches(grammar, [THINK, 97, AFTER, 97], vocabulary)
    assert not matches(Grammar.sequence("<think>"), [THINK], vocabulary)
    with pytest.raises(VocabularyError, match="the vocabulary has no token <thnk>"):
        (Grammar.token("<thnk>") + DIGITS).compile(vocabulary)


def test_equal_compositions_are_compiled_once(vocabulary: Vocabulary) -> None:
    def make(word: str) -> Grammar:
        return Grammar.sequence("a", Grammar.from_regex(r"\d+").capture("n"), word) | "b"

    assert make("c").compile(vocabulary) is make("c").compile(vocabulary)
    assert make("c").compile(vocabulary) is not make("d").compile(vocabulary)
    assert (("a" + WORD) + "b").compile(vocabulary) is ("a" + (WORD + "b")).compile(vocabulary)


def test_a_long_sum_is_one_row(vocabulary: Vocabulary) -> None:
    grammar = Grammar.sequence("")
    for number in range(500):
        grammar = grammar + f"{number} " + DIGITS.optional()
    assert matches(grammar, "".join(f"{number} " for number in range(500)), vocabulary)


def test_captures_are_found_in_all_that_parts_become_part_of() -> None:
    pair = WORD.capture("key") + "=" + Grammar.from_json_schema(POINT).capture("value")
    grammar = "{" + pair.capture("pair").repeat(1, separator="; ") + "}"
    text = '{a={"x": 1}; bc={"x":2}}'
    assert grammar.captures(text) == {
        "pair": ['a={"x": 1}', 'bc={"x":2}'],
        "key": ["a", "bc"],
        "value": ['{"x": 1}', '{"x":2}'],
    }


@pytest.mark.parametrize(
    ("make", "text", "found"),
    [
        pytest.param(
            lambda: Grammar.from_regex("[a-z]*").capture("a") + WORD.capture("b"),
            "xyz",
            {"a": ["xy"], "b": ["z"]},
            id="the first part takes what it can",
        ),
        pytest.param(
            lambda: WORD.capture("a") | DIGITS.capture("n"), "7", {"a": [], "n": ["7"]}, id="choice"
        ),
        pytest.param(
            lambda: WORD.capture("first") | Grammar.from_regex(".").capture("second"),
            "a",
            {"first": ["a"], "second": []},
            id="the first choice counts",
        ),
        pytest.param(
            lambda: Grammar.until(["\n", ";"]).capture("line").repeat(),
            "é;b\n",
            {"line": ["é;", "b\n"]},
            id="lines",
        ),
        pytest.param(
            lambda: (
                Grammar.until(";", text=WORD.capture("k") + "=" + DIGITS.capture("v"))
                .capture("line")
                .repeat(1)
            ),
            "a=1;bc=23;",
            {"line": ["a=1;", "bc=23;"], "k": ["a", "bc"], "v": ["1", "23"]},
            id="before a stop text",
        ),
        pytest.param(
            lambda: Grammar.until(["b", "ab"], text=Grammar.from_regex("[ab]*").capture("x")),
            "aab",
            {"x": ["aa"]},
            id="before one of several",
        ),
        pytest.param(
            lambda: Grammar.unordered(WORD.capture("w"), DIGITS.capture("n"), separator=","),
            "12,ab",
            {"w": ["ab"], "n": ["12"]},
            id="unordered",
        ),
        pytest.param(
            lambda: (
                Grammar.token("<think>")
                + Grammar.from_regex("[a-z ]*").capture("thought")
                + Grammar.token("</think>")
                + DIGITS.capture("answer")
            ),
            "<think>so it is</think>42",
            {"thought": ["so it is"], "answer": ["42"]},
            id="tokens by their names",
        ),
    ],
)
def test_what_is_captured(
    make: Callable[[], Grammar], text: str, found: dict[str, list[str]]
) -> None:
    assert make().captures(text) == found


def test_a_long_text_is_read_in_time() -> None:
    line = Grammar.until("\n").capture("line")
    text = "".join(f"line {number}\n" for number in range(2_000))
    assert line.repeat().captures(text)["line"] == text.splitlines(keepends=True)


def test_the_value_of_a_composition_is_its_text() -> None:
    point = Grammar.from_json_schema(POINT)
    assert (point + "!").read('{"x": 1}!') == '{"x": 1}!'
    assert (point | WORD).read('{"x": 1}') == '{"x": 1}'
    assert point.capture("p").read('{"x": 1}') == {"x": 1}


def test_what_was_not_enforced_in_a_part_is_still_listed() -> None:
    lenient = Grammar.from_json_schema(
        {"type": "string", "format": "regex", "x-of-ours": 1}, unsupported="ignore"
    )
    grammar = "a" + lenient.optional().capture("b")
    assert grammar.unknown == lenient.unknown == ["/x-of-ours"]
    assert grammar.not_enforced == lenient.not_enforced == ["/format"]


def test_compositions_stand_in_tags(vocabulary: Vocabulary) -> None:
    body = DIGITS.repeat(1, separator=",").capture("list")
    grammar = Grammar.from_tags([Tag("<l>", "</l>", grammar=body)])
    assert matches(grammar, "so: <l>1,2</l>.", vocabulary)
    assert not matches(grammar, "so: <l>1,</l>.", vocabulary)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        pytest.param(
            lambda: Grammar.sequence("a", 3),  # type: ignore[arg-type]
            TypeError,
            "part 2 of a sequence must be a guided.Grammar or a str, found int",
            id="no part",
        ),
        pytest.param(
            lambda: WORD + 3,  # type: ignore[operator]
            TypeError,
            "unsupported operand type(s) for +: 'Grammar' and 'int'",
            id="no operand",
        ),
        pytest.param(
            Grammar.choice,
            GrammarError,
            "there is nothing to choose from\n  mend: give at least one grammar or text",
            id="no choice",
        ),
        pytest.param(
            lambda: Grammar.sequence("ab\ud800"),
            GrammarError,
            "the text 'ab\\ud800' has a surrogate, which UTF-8 cannot write\n"
            "  line 1, column 3\n    1 | ab\ud800\n      |   ^\n"
            "  mend: write the character itself",
            id="surrogate",
        ),
        pytest.param(
            lambda: Grammar.until([]),
            GrammarError,
            'there is no stop text, so nothing could end\n  mend: give one, as in until("\\n")',
            id="no stop",
        ),
        pytest.param(
            lambda: Grammar.until(["abc", "b"]),
            GrammarError,
            "the stop text 'b' lies within 'abc', which so never comes\n"
            "  mend: leave the longer one out",
            id="stop within a stop",
        ),
        pytest.param(
            lambda: Grammar.verbatim(""),
            GrammarError,
            "the text to quote is empty: it has no span\n  mend: give some text",
            id="nothing to quote",
        ),
        pytest.param(
            lambda: Grammar.verbatim("a", unit="lines"),  # type: ignore[arg-type]
            ValueError,
            "unit must be \"words\" or \"characters\", not 'lines'",
            id="unit",
        ),
        pytest.param(
            lambda: WORD.repeat(3, 2), ValueError, "minimum (3) is above maximum (2)", id="bounds"
        ),
        pytest.param(
            lambda: WORD.repeat(-1),
            ValueError,
            "minimum must be from 0 to 1,000,000,000, found -1",
            id="count",
        ),
        pytest.param(
            lambda: Grammar.unordered(*"abcdefghijklm"),
            LimitError,
            "unordered has 13 parts: over the limit of 12 parts in any order\n"
            "  mend: make the input smaller",
            id="too many orders",
        ),
        pytest.param(
            lambda: WORD.capture(""),
            GrammarError,
            'the name of a capture is empty\n  mend: give one, as in .capture("answer")',
            id="no name",
        ),
        pytest.param(
            lambda: Grammar.token(-1), ValueError, "there is no token -1", id="no token"
        ),
        pytest.param(
            lambda: "x" + Grammar.from_lark('start: "a"'),
            UnsupportedError,
            "a grammar of Lark with a contextual or basic lexer cannot stand within another one"
            " (scope: docs/composition.md)\n"
            '  mend: read it by Grammar.from_lark(..., lexer="dynamic")',
            id="whole texts only",
        ),
        pytest.param(
            lambda: WORD.capture("a") + Grammar.token("<t>", negated=True),
            UnsupportedError,
            "parts are captured in a grammar that has any token but <t>, which is not seen in a"
            " text (scope: docs/composition.md)\n"
            "  mend: give tokens by their text, or leave the captures out",
            id="token without a name",
        ),
        pytest.param(
            lambda: ("\n" + WORD.capture("a")).captures("\nab1"),
            GuidedError,
            "the text does not fit the grammar, so its parts spell nothing\n"
            "  line 2, column 3\n"
            "  mend: give a whole text of the grammar",
            id="misfit",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(make: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        make()
    assert str(raised.value) == message


def test_what_stands_before_a_stop_text_is_regular(vocabulary: Vocabulary) -> None:
    nested = Grammar.from_gbnf('root ::= "(" root ")" | "x"')
    with pytest.raises(UnsupportedError, match="before the stop text '!' is not regular"):
        Grammar.until("!", text=nested).compile(vocabulary)


def test_parts_within_parts_have_a_bound() -> None:
    def nest(levels: int) -> Grammar:
        return WORD if not levels else ("(" + nest(levels - 1) + ")").optional()

    assert nest(49).kind == "composition"
    with pytest.raises(LimitError, match="over the limit of 100 levels"):
        nest(200)


def test_a_schema_reads_what_is_captured_of_it() -> None:
    grammar = "x" + Grammar.from_json_schema(POINT).capture("p")
    assert json.loads(grammar.captures('x{"x": 5}')["p"][0]) == {"x": 5}
