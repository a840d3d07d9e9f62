"""Grammars: their sources, bad input, and that equal content is compiled once."""

from __future__ import annotations

import gc
import threading
import weakref
from decimal import Decimal
from typing import Any

import pydantic
import pytest
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from guided import (
    Grammar,
    GrammarError,
    LimitError,
    SchemaError,
    ValueRejected,
    Vocabulary,
    VocabularyError,
)

END = 256


class Place(pydantic.BaseModel):
    x: int


class Point(pydantic.BaseModel):
    x: int

    @pydantic.field_validator("x")
    @classmethod
    def lucky(cls, x: int) -> int:
        if x == 13:
            raise ValueError("13 brings bad luck")
        return x


def byte_vocabulary() -> Vocabulary:
    return Vocabulary.from_tokens([bytes([byte]) for byte in range(256)] + [None], eos=[END])


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return byte_vocabulary()


def matches(grammar: Grammar, text: str, vocabulary: Vocabulary) -> bool:
    matcher = grammar.compile(vocabulary).matcher()
    tokens = list(text.encode())
    return matcher.accepted_prefix([*tokens, END]) == len(tokens) + 1


@pytest.mark.parametrize(
    ("grammar", "accepted", "rejected"),
    [
        pytest.param(lambda: Grammar.from_regex("a+b"), ["ab", "aab"], ["a", "xab"], id="regex"),
        pytest.param(
            lambda: Grammar.from_regex("b", search=True), ["b", "abc"], ["a", ""], id="search"
        ),
        pytest.param(
            lambda: Grammar.from_regex(r"\u{e9}", dialect="ecma"), ["é"], ["u"], id="ecma"
        ),
        pytest.param(
            lambda: Grammar.from_json_schema({"enum": [1, "x"]}), ["1", '"x"'], ["2"], id="schema"
        ),
        pytest.param(
            lambda: Grammar.from_json_schema('{"const": 1.50}'), ["1.5"], ["1"], id="text"
        ),
        pytest.param(
            lambda: Grammar.from_choices(["yes", "no", ""]), ["yes", "no", ""], ["y"], id="choices"
        ),
    ],
)  # fmt: skip
def test_each_source(
    grammar: Any, accepted: list[str], rejected: list[str], vocabulary: Vocabulary
) -> None:
    made = grammar()
    assert [text for text in accepted if not matches(made, text, vocabulary)] == []
    assert [text for text in rejected if matches(made, text, vocabulary)] == []


def test_a_python_type_is_a_schema(vocabulary: Vocabulary) -> None:
    grammar = Grammar.from_json_schema(Point, whitespace="compact")
    assert matches(grammar, '{"x":3}', vocabulary)
    assert not matches(grammar, '{"x":"3"}', vocabulary)
    assert Grammar.from_json_schema(Point, whitespace="compact") is grammar
    assert Grammar.from_json_schema(list[Point]) is Grammar.from_json_schema(list[Point])


def test_a_grammar_reads_what_it_lets_through() -> None:
    assert Grammar.from_regex("a+").read("aa") == "aa"
    assert Grammar.from_choices(["1"]).read("1") == "1"
    assert Grammar.from_json_schema({"type": "object"}).read('{"a": 1}') == {"a": 1}
    assert Grammar.from_json_schema(list[Point]).read('[{"x": 1}]') == [Point(x=1)]
    with pytest.raises(ValueRejected, match="not Point: Value error, 13 brings bad luck") as caught:
        Grammar.from_json_schema(Point).read('{"x": 13}')
    assert caught.value.text == '{"x": 13}'


def test_types_that_differ_in_order_alone_are_read_each_in_its_own() -> None:
    first = Grammar.from_json_schema(Point | Place)
    other = Grammar.from_json_schema(Place | Point)
    assert (type(first.read('{"x": 1}')), type(other.read('{"x": 1}'))) == (Point, Place)


def test_what_was_not_enforced_is_listed() -> None:
    schema = {"type": "string", "pattern": "(a)\\1"}
    grammar = Grammar.from_json_schema(schema, unsupported="ignore")
    assert grammar.not_enforced == ["/pattern"]
    assert Grammar.from_regex("a").not_enforced == []


def test_the_order_of_properties_may_be_free(vocabulary: Vocabulary) -> None:
    schema = {"properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["a", "b"]}
    fixed = Grammar.from_json_schema(schema)
    free = Grammar.from_json_schema(schema, property_order="any")
    for grammar in (fixed, free):
        assert matches(grammar, '{"a": 1, "b": 2}', vocabulary)
    assert not matches(fixed, '{"b": 2, "a": 1}', vocabulary)
    assert matches(free, '{"b": 2, "a": 1}', vocabulary)


def test_a_reference_may_lead_into_a_registry(vocabulary: Vocabulary) -> None:
    schema = {"$ref": "https://example.org/item"}
    for kind, text in (("integer", "1"), ("string", '"a"')):
        resource = DRAFT202012.create_resource({"type": kind})
        registry = Registry().with_resource("https://example.org/item", resource)
        grammar = Grammar.from_json_schema(schema, registry=registry)
        assert matches(grammar, text, vocabulary)
        assert Grammar.from_json_schema(schema, registry=registry) is grammar


def test_twenty_thousand_choices_are_fine(vocabulary: Vocabulary) -> None:
    choices = [f"choice number {number}" for number in range(20_000)]
    grammar = Grammar.from_choices(choices)
    assert matches(grammar, choices[-1], vocabulary)
    assert not matches(grammar, "choice number 20000", vocabulary)


def test_no_choice_at_all_is_an_error() -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_choices([])
    assert str(caught.value) == (
        "there is nothing to choose from\n  mend: give at least one text, which may be empty"
    )


def test_a_choice_that_utf8_cannot_write_is_an_error() -> None:
    with pytest.raises(GrammarError, match="has a surrogate, which UTF-8 cannot write") as caught:
        Grammar.from_choices(["a", "b\ud800"])
    assert (caught.value.line, caught.value.column) == (1, 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Grammar.from_choices("yes"), "found the string 'yes'"),
        (lambda: Grammar.from_choices([1]), "a choice must be a str, found 1"),  # type: ignore[list-item]
        (lambda: Grammar.from_regex(b"a"), "a pattern must be a str, found bytes"),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_the_wrong_type(make: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make()


def test_a_tokenizer_is_no_vocabulary() -> None:
    with pytest.raises(TypeError, match=r"needs a guided\.Vocabulary, found object"):
        Grammar.from_regex("a").compile(object())  # type: ignore[arg-type]


def test_errors_of_the_languages_come_through() -> None:
    with pytest.raises(GrammarError):
        Grammar.from_regex("a(")
    with pytest.raises(SchemaError):
        Grammar.from_json_schema({"type": "strin"})
    with pytest.raises(SchemaError):
        Grammar.from_json_schema("{")


def test_a_schema_that_is_nested_too_deep_is_an_error() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"items": deep}
    for schema in (deep, "[" * 100_000):
        with pytest.raises(LimitError, match="nested too deeply"):
            Grammar.from_json_schema(schema)
    while deep:  # taken apart by hand: the interpreter frees it by recursion
        deep = deep.pop("items")


def test_a_schema_that_holds_itself_is_recursive(vocabulary: Vocabulary) -> None:
    circle: dict[str, Any] = {"type": "array"}
    circle["items"] = circle
    grammar = Grammar.from_json_schema(circle)
    assert matches(grammar, "[[],[[]]]", vocabulary)
    assert not matches(grammar, "[[],1]", vocabulary)


def test_equal_content_is_read_and_compiled_once(vocabulary: Vocabulary) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    grammar = Grammar.from_json_schema(schema)
    assert Grammar.from_json_schema(dict(schema)) is grammar
    assert Grammar.from_json_schema(schema, whitespace="compact") is not grammar
    assert grammar.compile(vocabulary) is grammar.compile(vocabulary)
    assert grammar.compile(vocabulary, max_heads=50) is not grammar.compile(vocabulary)
    assert grammar.compile(byte_vocabulary()) is not grammar.compile(vocabulary)


def test_the_order_of_properties_is_content() -> None:
    first = {"properties": {"a": True, "b": True}}
    other = {"properties": {"b": True, "a": True}}
    assert Grammar.from_json_schema(first) is not Grammar.from_json_schema(other)


def test_the_options_are_content() -> None:
    ways: list[dict[str, Any]] = [
        {},
        {"whitespace": "compact"},
        {"whitespace": 1},
        {"whitespace": " ?"},
        {"property_order": "any"},
        {"escapes": "any"},
        {"formats": "annotate"},
        {"unsupported": "ignore"},
        {"registry": Registry()},
        {"registry": Registry()},
    ]
    grammars = [Grammar.from_json_schema({"type": "object"}, **way) for way in ways]
    assert len(set(map(id, grammars))) == len(ways)


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ({"enum": [1, 2]}, {"enum": (1, 2)}),
        ({"properties": {"1": {}}}, {"properties": {1: {}}}),
        (True, 1),
        ({"const": "Decimal('1')"}, {"const": {1, 2}}),
    ],
)
def test_what_is_nearly_the_same_content_is_not_taken_for_it(good: Any, bad: Any) -> None:
    Grammar.from_json_schema(good)
    with pytest.raises(SchemaError):
        Grammar.from_json_schema(bad)


def test_numbers_that_are_equal_are_not_taken_for_each_other(vocabulary: Vocabulary) -> None:
    for constant, text in ((1, "1"), (True, "true"), (Decimal("0.1"), "0.1"), ("0.1", '"0.1"')):
        assert matches(Grammar.from_json_schema({"const": constant}), text, vocabulary)


def test_an_indent_of_one_is_not_taken_for_true() -> None:
    Grammar.from_json_schema({}, whitespace=1)
    with pytest.raises(ValueError, match="whitespace must be"):
        Grammar.from_json_schema({}, whitespace=True)


def test_parts_that_are_shared_are_read_once() -> None:
    shared: dict[str, Any] = {}
    for _ in range(50):  # spelled out these would be 2**50
        shared = {"properties": {"a": shared, "b": shared}}
    Grammar.from_json_schema(shared)


def test_kept_automata_go_with_their_vocabulary() -> None:
    vocabulary = byte_vocabulary()
    automaton = Grammar.from_regex("[0-9]+").compile(vocabulary)
    gone: list[weakref.ref[Any]] = [
        weakref.ref(vocabulary),
        weakref.ref(vocabulary.core),
        weakref.ref(automaton),
    ]
    del vocabulary, automaton
    gc.collect()
    assert [reference() for reference in gone] == [None, None, None]


def test_threads_that_compile_the_same_get_the_same(vocabulary: Vocabulary) -> None:
    automata = []
    start = threading.Barrier(8)

    def compile_it() -> None:
        start.wait()
        automata.append(Grammar.from_regex("(ab|c){3,9}").compile(vocabulary))

    threads = [threading.Thread(target=compile_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(automata) == 8
    assert len({id(automaton) for automaton in automata}) == 1


def test_bytes_that_no_token_spells_are_named() -> None:
    vocabulary = Vocabulary.from_tokens([b"a", b"b", None], eos=[2])
    with pytest.raises(VocabularyError) as caught:
        Grammar.from_regex("[{[]x").compile(vocabulary)
    assert caught.value.missing == b"[{"
    assert str(caught.value) == (
        "no token can write what must come next: one of the bytes b'[{'\n"
        "  mend: use a tokenizer that has a token for every byte, or change the grammar"
    )


def test_a_pattern_that_nothing_matches_is_said_to_be_one(vocabulary: Vocabulary) -> None:
    with pytest.raises(GrammarError, match="no text matches the pattern"):
        Grammar.from_regex("(?<=ab)c").compile(vocabulary)


def test_keywords_that_are_not_in_the_standard_are_listed() -> None:
    grammar = Grammar.from_json_schema({"minimun": 1, "items": {"nullable": True}})
    assert grammar.unknown == ["/minimun", "/items/nullable"]
