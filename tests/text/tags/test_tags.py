"""`Grammar.from_tags`: free text, and parts between markers that fit grammars of their own."""

from __future__ import annotations

from typing import Any

import pytest

from guided.errors import GrammarError, UnsupportedError, VocabularyError
from guided.grammar import Grammar
from guided.text.tags import Tag
from tests.text.tags.matching import is_prefix, matches

ACCEPT, REJECT = True, False
ROOT = Tag("<int>", "</int>", regex=r"-?\d+")
SAY = Tag("<say>", "</say>", schema={"type": "object", "properties": {"text": {"type": "string"}}})


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        pytest.param("", ACCEPT, id="nothing"),
        pytest.param("just text", ACCEPT, id="text alone"),
        pytest.param("<int>12</int>", ACCEPT, id="a tag alone"),
        pytest.param("a <int>12</int> b <int>-3</int>", ACCEPT, id="text and tags"),
        pytest.param("<int>12</int><say>{}</say>", ACCEPT, id="tags without text between"),
        pytest.param("<<int>1</int>", ACCEPT, id="what begins like a marker before one"),
        pytest.param("<interest> and <in", ACCEPT, id="near misses are text"),
        pytest.param("<int>twelve</int>", REJECT, id="the body does not fit"),
        pytest.param("<int>12", REJECT, id="not closed"),
        pytest.param("a <int> b", REJECT, id="a marker is no text"),
        pytest.param('<say>{"text": "</say>"}</say>', ACCEPT, id="a marker within a JSON string"),
        pytest.param('<say>{"text": "<int>"}</say>', ACCEPT, id="another one within a string"),
    ],
)
def test_a_text_has_tags_in_it(text: str, verdict: bool) -> None:
    assert matches(Grammar.from_tags([ROOT, SAY]), text) is verdict


@pytest.mark.parametrize(
    ("options", "text", "verdict"),
    [
        pytest.param({"at_least_one": True}, "text", REJECT, id="one is asked for"),
        pytest.param({"at_least_one": True}, "text <int>1</int> more", ACCEPT, id="one is there"),
        pytest.param({"stop_after_first": True}, "<int>1</int>", ACCEPT, id="the first ends it"),
        pytest.param({"stop_after_first": True}, "<int>1</int> more", REJECT, id="nothing after"),
        pytest.param({"stop_after_first": True}, "text", ACCEPT, id="none is there"),
        pytest.param({"free_text": False}, "<int>1</int><int>2</int>", ACCEPT, id="only tags"),
        pytest.param({"free_text": False}, " <int>1</int>", REJECT, id="no text before"),
        pytest.param({"free_text": False}, "", ACCEPT, id="none at all"),
        pytest.param(
            {"free_text": False, "at_least_one": True}, "", REJECT, id="none, and one asked for"
        ),
    ],
)
def test_options_bound_text_and_tags(options: dict[str, Any], text: str, verdict: bool) -> None:
    assert matches(Grammar.from_tags([ROOT], **options), text) is verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        pytest.param("<f=a>1</f>", ACCEPT, id="the first"),
        pytest.param("<f=ab>x</f>", ACCEPT, id="the second, whose name goes on"),
        pytest.param("<f=a>x</f>", REJECT, id="the body of the other"),
        pytest.param("<f=c>1</f>", REJECT, id="no tag goes on so"),
        pytest.param("the <f= of", REJECT, id="a trigger leads to a tag"),
        pytest.param("<f and <g=a>", ACCEPT, id="not yet a trigger"),
    ],
)
def test_a_trigger_must_go_on_to_a_tag(text: str, verdict: bool) -> None:
    tags = [Tag("<f=a>", "</f>", regex=r"\d"), Tag("<f=ab>", "</f>", regex="x")]
    assert matches(Grammar.from_tags(tags, triggers=["<f="]), text) is verdict


def test_free_text_may_stand_between_markers() -> None:
    grammar = Grammar.from_tags([Tag("<q>", "</q>")])
    assert matches(grammar, "<q>any <q> text, <not> closed</q> after")
    assert matches(grammar, "<q></q>")
    assert not matches(grammar, "<q>")


def test_a_tag_may_stay_open() -> None:
    grammar = Grammar.from_tags([Tag("ANSWER: ", regex="yes|no")], stop_after_first=True)
    assert matches(grammar, "hm, ANSWER: yes")
    assert not matches(grammar, "hm, ANSWER: yes!")


MARKED = Tag("<|call|>", "<|done|>", schema={"type": "string"})


@pytest.mark.parametrize(
    ("special", "text", "verdict"),
    [
        pytest.param(["<|call|>"], 'x <|call|>"a"<|done|>', ACCEPT, id="the opening one"),
        pytest.param(["<|done|>"], '<|call|>"a"<|done|> y', ACCEPT, id="the closing one"),
        pytest.param(["|call"], '<|call|>"a"<|done|>', ACCEPT, id="a part of one"),
        pytest.param(["<|call|>"], 'x <|call|>"a', REJECT, id="not closed"),
        pytest.param(["<|other|>"], "x <|other|>", REJECT, id="another special token is no text"),
    ],
)
def test_markers_are_special_tokens_where_there_are_such(
    special: list[str], text: str, verdict: bool
) -> None:
    assert matches(Grammar.from_tags([MARKED]), text, special) is verdict


def test_a_special_token_is_never_spelled() -> None:
    grammar = Grammar.from_tags([MARKED])
    from tests.text.tags.matching import byte_vocabulary

    matcher = grammar.compile(byte_vocabulary(("<|call|>",))).matcher()
    spelled = list(b"<|call|>")
    assert matcher.accepted_prefix(spelled) == len(spelled) - 1


@pytest.mark.parametrize(
    ("end", "eos", "text", "verdict"),
    [
        pytest.param("<|done|>", ["<|done|>"], '<|call|>"a"<|done|>', ACCEPT, id="the only one"),
        pytest.param(
            ["<|end|>", "<|done|>"], ["<|done|>"], '<|call|>"a"<|done|>', ACCEPT, id="one of two"
        ),
        pytest.param(
            ["<|end|>", "<|done|>"], ["<|done|>"], '<|call|>"a"<|end|> more', ACCEPT, id="the other"
        ),
        pytest.param("<|done|>", ["<|done|>"], '<|call|>"a"', ACCEPT, id="complete before it"),
        pytest.param("<|done|>", ["<|done|>"], '<|call|>"a<|done|>', REJECT, id="too early"),
    ],
)
def test_an_end_token_may_close_a_tag(
    end: str | list[str], eos: list[str], text: str, verdict: bool
) -> None:
    grammar = Grammar.from_tags([Tag("<|call|>", end, schema={"type": "string"})])
    special = ["<|call|>", "<|end|>", "<|done|>"]
    assert matches(grammar, text, special, eos) is verdict


def test_an_end_token_opens_nothing() -> None:
    from tests.text.tags.matching import byte_vocabulary

    with pytest.raises(VocabularyError, match="token <eos> ends the output"):
        Grammar.from_tags([Tag("<eos>", "x")]).compile(byte_vocabulary())


def test_a_grammar_may_stand_in_a_tag() -> None:
    gbnf = Grammar.from_gbnf('root ::= "(" root ")" | <|x|>')
    grammar = Grammar.from_tags([Tag("<p>", "</p>", grammar=gbnf)])
    assert matches(grammar, "a <p>((<|x|>))</p>", ["<|x|>"])
    assert not matches(grammar, "a <p>((<|x|>)</p>", ["<|x|>"])


def test_tags_may_stand_in_a_tag() -> None:
    inner = Grammar.from_tags([ROOT], free_text=False, at_least_one=True)
    grammar = Grammar.from_tags([Tag("<list>", "</list>", grammar=inner)])
    assert matches(grammar, "<list><int>1</int><int>2</int></list>", ["<int>"])
    assert not matches(grammar, "<list></list>", ["<int>"])


def test_a_dynamic_lark_grammar_may_stand_in_a_tag_and_a_contextual_one_may_not() -> None:
    text = 'start: "a" start | "b"'
    dynamic = Grammar.from_lark(text, lexer="dynamic")
    assert matches(Grammar.from_tags([Tag("<l>", "</l>", grammar=dynamic)]), "<l>aab</l>")
    with pytest.raises(UnsupportedError, match="contextual or basic lexer"):
        Grammar.from_tags([Tag("<l>", "</l>", grammar=Grammar.from_lark(text))])


def test_what_is_written_can_be_gone_on_with() -> None:
    grammar = Grammar.from_tags([ROOT])
    text = "a < b <int>-1</int> <in"
    assert all(is_prefix(grammar, text[:end]) for end in range(len(text) + 1))


@pytest.mark.parametrize(
    ("tags", "options", "message"),
    [
        pytest.param([], {}, "there is no tag", id="none"),
        pytest.param([Tag("", "x")], {}, "a tag has no opening marker", id="no opening"),
        pytest.param([Tag("<a>", [])], {}, "the tag '<a>' has an empty list", id="no closing"),
        pytest.param([Tag("<a>")], {"triggers": [""]}, "a trigger is empty", id="empty trigger"),
        pytest.param(
            [Tag("<a>")], {"triggers": ["<b"]}, "no tag begins with the trigger '<b'", id="no tag"
        ),
        pytest.param(
            [Tag("<a>"), Tag("<b>")],
            {"triggers": ["<a"]},
            "no trigger leads to the tag '<b>'",
            id="no trigger",
        ),
        pytest.param(
            [Tag("<a<b>"), Tag("<b")],
            {},
            "the trigger '<b' lies within the trigger '<a<b>'",
            id="never first",
        ),
        pytest.param([Tag("<\ud800>")], {}, "has a surrogate", id="no UTF-8"),
    ],
)
def test_tags_that_make_no_sense_are_refused(
    tags: list[Tag], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(GrammarError, match=message):
        Grammar.from_tags(tags, **options)


@pytest.mark.parametrize(
    ("tags", "options"),
    [
        pytest.param("<a>", {}, id="a text"),
        pytest.param(["<a>"], {}, id="a list of texts"),
        pytest.param([Tag("<a>", regex="x", schema={})], {}, id="two bodies"),
        pytest.param([Tag("<a>", grammar="x")], {}, id="no grammar"),
        pytest.param([Tag("<a>")], {"triggers": "<a>"}, id="a text as triggers"),
    ],
)
def test_what_is_no_tag_is_refused(tags: Any, options: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Grammar.from_tags(tags, **options)
