"""A grammar in the place of a schema: the JSON string there, decoded, fits the grammar."""

from __future__ import annotations

import itertools
import json
import random
import re
from typing import Annotated, Any

import pydantic
import pytest
from hypothesis import strategies as st

from guided import Grammar, SchemaError, Tag, UnsupportedError, Vocabulary, _core
from guided.text.json_schema.strings.byte_walk import ByteWalk
from guided.text.json_schema.strings.grammar_strings import spelled_grammar
from guided.text.json_schema.strings.spelling import JsonSpelling
from guided.text.regex import compile_regex
from tests.laws.law import law

END = 256
BYTES = Vocabulary.from_tokens(
    [bytes([byte]) for byte in range(256)] + [None, None], eos=[END], special={"<think>": 257}
)
QUERY = Grammar.from_gbnf(r"""
root  ::= "SELECT \"" [a-zé😀]+ "\"" blank ("(" root ")")?
blank ::= [ \n]*
""")
HOST = Grammar.from_json_schema({"type": "string", "format": "hostname"})

# Characters that JSON escapes, that share their first bytes, and that take two escapes.
ALPHABET = ['"', "\\", "\n", "a", "é", "è", "€", "😀", "😁", "\x7f", "/"]
ATOMS = st.sampled_from(
    [
        r"\"", r"\\", r"\n", "a", "é", "(?:é|è)", "(?:éa|è€)", ".", "[^a]", '[^"é]', "[a-é]",
        "[é-😀]", "😀", "[^😁]", "[\x00-\x1f]", "(?!é)", "(?=[a-è])", r"\s",
    ]
)  # fmt: skip
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from("*+?")).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        inner.map(lambda part: f"(?:{part}){{1,2}}"),
    ),
    max_leaves=5,
)


def field(schema: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"q": schema},
        "required": ["q"],
        "additionalProperties": False,
    }


def fits(grammar: Grammar, text: str) -> bool:
    matcher = grammar.compile(BYTES).matcher()
    tokens = list(text.encode())
    return matcher.accepted_prefix([*tokens, END]) == len(tokens) + 1


def spellings(text: str, numbers: random.Random) -> list[str]:
    """The string as json.dumps writes it, with escapes and without."""
    ascii_only = json.dumps(text)
    upper = re.sub(r"\\u(....)", lambda found: "\\u" + found[1].upper(), ascii_only)
    mixed = [json.dumps(each, ensure_ascii=numbers.random() < 0.5)[1:-1] for each in text]
    return [ascii_only, upper, json.dumps(text, ensure_ascii=False), f'"{"".join(mixed)}"']


def wildly(text: str, numbers: random.Random) -> str:
    """The string with any escapes that RFC 8259 has."""

    def spell(character: str) -> str:
        units = character.encode("utf-16-be")
        long = "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
        plain = json.dumps(character, ensure_ascii=False)[1:-1]
        return numbers.choice([long, plain, "\\/" if character == "/" else long.upper()
                               .replace("\\U", "\\u")])  # fmt: skip

    return f'"{"".join(map(spell, text))}"'


def same(arena: _core.Arena, a: int, b: int) -> bool:
    return arena.is_void(arena.minus(a, b)) and arena.is_void(arena.minus(b, a))


@law(PATTERNS, st.sampled_from(["minimal", "any"]), plain=60)
def test_a_pattern_is_spelled_as_one_that_is_compiled_so(pattern: str, escapes: Any) -> None:
    spelling = JsonSpelling(escapes)
    grammar = Grammar.from_regex(pattern)
    arena = _core.Arena()
    wanted = compile_regex(arena, pattern, spelling=spelling)
    nodes = grammar._nodes
    assert same(arena, spelled_grammar(nodes, arena, spelling), wanted)
    assert same(arena, spelling.automaton(arena, nodes.arena, nodes.start), wanted)


def random_grammar(numbers: random.Random, depth: int) -> Grammar:
    """A composition of parts that each have something that is hard to spell."""
    if not depth:
        return numbers.choice(LEAVES)
    parts = [random_grammar(numbers, depth - 1) for _ in range(2)]
    kind = numbers.choice(["row", "choice", "repeat", "unordered"])
    if kind == "row":
        return Grammar.sequence(*parts)
    if kind == "choice":
        return Grammar.choice(*parts)
    if kind == "unordered":
        return Grammar.unordered(*parts, separator=numbers.choice([None, '"', "é"]))
    return parts[0].repeat(0, numbers.choice([1, 2, None]), separator=numbers.choice([None, "\\"]))


LEAVES = [
    Grammar.from_regex('[a"é]?'),
    Grammar.from_choices(["é", "è", "éa", "\\"]),
    Grammar.until(["é", "\n"]),
    Grammar.until('"', text=Grammar.from_regex("[aé]*")),
    Grammar.verbatim('"é\\😀😁', unit="characters"),
    Grammar.from_gbnf(r'root ::= "[" root "]" | "\"" | ""'),
    Grammar.from_gbnf(r'root ::= a "é" | "è"' "\n" r'a ::= [^a"]'),
    Grammar.from_lark('start: A start?\nA: /"a|"|é(?!a)/', lexer="dynamic"),
]


@law(st.integers(0, 2**32), st.integers(0, 2), plain=40, nightly=400)
def test_a_string_fits_if_what_it_decodes_to_does(seed: int, depth: int) -> None:
    numbers = random.Random(seed)
    grammar = random_grammar(numbers, depth)
    schema = Grammar.from_json_schema(field(grammar), whitespace="compact")
    wild = Grammar.from_json_schema(field(grammar), whitespace="compact", escapes="any")
    texts = ["".join(numbers.choices([*ALPHABET, "[", "]"], k=numbers.randint(0, 4)))
             for _ in range(40)] + walked(grammar, numbers)  # fmt: skip
    for text in texts:
        wanted = fits(grammar, text)
        for spelled in spellings(text, numbers):
            assert fits(schema, f'{{"q":{spelled}}}') is wanted, spelled
            assert fits(wild, f'{{"q":{spelled}}}') is wanted, spelled
        assert fits(wild, f'{{"q":{wildly(text, numbers)}}}') is wanted, text
    for each in (schema, wild):
        for written in walked(each, numbers):
            assert fits(grammar, json.loads(written)["q"]), written


def walked(grammar: Grammar, numbers: random.Random) -> list[str]:
    """Texts of a grammar that end within 60 bytes, met by random walks."""
    found = []
    automaton = grammar.compile(BYTES)
    for _ in range(6):
        matcher = automaton.matcher()
        data = bytearray()
        while len(data) < 60 and not (matcher.is_complete and numbers.random() < 0.3):
            allowed = matcher.allowed_bytes()
            if not allowed:
                break
            data.append(numbers.choice(allowed))
            matcher.accept_bytes(bytes(data[-1:]))
        if matcher.is_complete:
            found.append(data.decode())
    return found


@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_a_grammar_with_rules_stands_for_a_string(ensure_ascii: bool) -> None:
    grammar = Grammar.from_json_schema(field(QUERY))

    def spelled(text: str) -> str:
        return json.dumps({"q": text}, ensure_ascii=ensure_ascii)

    assert fits(grammar, spelled('SELECT "aé"'))
    assert fits(grammar, spelled('SELECT "😀"\n (SELECT "b" )'))
    assert not fits(grammar, spelled('SELECT "a'))
    assert not fits(grammar, '{"q": 1}')


@pytest.mark.parametrize(
    ("schema", "accepted", "rejected"),
    [
        pytest.param(QUERY, ['SELECT "a"'], ["a", 1], id="the whole schema"),
        pytest.param({"anyOf": [QUERY, {"type": "null"}]}, [None, 'SELECT "a"'], ["a"], id="anyOf"),
        pytest.param({"oneOf": [QUERY, {"const": "b"}]}, ["b", 'SELECT "a"'], ["a"], id="oneOf"),
        pytest.param(
            {"enum": ["a", 'SELECT "a"'], "allOf": [QUERY]}, ['SELECT "a"'], ["a"], id="listed"
        ),
        pytest.param({"$defs": {"q": QUERY}, "items": {"$ref": "#/$defs/q"}, "type": "array"},
                     [['SELECT "a"', 'SELECT "b"'], []], [["a"]], id="reference"),
        pytest.param({"type": "object", "additionalProperties": QUERY},
                     [{"a": 'SELECT "a"'}], [{"a": "a"}], id="additional"),
        pytest.param(
            {"allOf": [Grammar.from_regex("[é-ü]*"), {"maxLength": 2}]}, ["éé"], ["ééé"], id="size"
        ),
        pytest.param(
            {"type": "string", "not": Grammar.from_choices(["a", "b"])}, ["c"], ["a"], id="not"
        ),
        pytest.param({"type": "array", "items": Grammar.from_regex("a*"), "uniqueItems": True},
                     [["a", "aa"]], [["a", "a"]], id="unique"),
        pytest.param({"propertyNames": Grammar.from_regex("[ab]"), "type": "object"},
                     [{"a": 1}], [{"c": 1}], id="names"),
        pytest.param(
            {"allOf": [Grammar.from_gbnf('root ::= a a\na ::= "x" | "yy"'), {"maxLength": 3}]},
            ["xx", "xyy"], ["yyyy"], id="rules that end are regular",
        ),
        pytest.param(Grammar.from_json_schema(field({"type": "integer"})),
                     ['{"q": 1}'], ['{"q": "a"}', {"q": 1}], id="JSON in a string"),
    ],
)  # fmt: skip
def test_where_a_grammar_may_stand(schema: Any, accepted: list[Any], rejected: list[Any]) -> None:
    grammar = Grammar.from_json_schema(schema)
    assert [fits(grammar, json.dumps(value)) for value in accepted] == [True] * len(accepted)
    assert [fits(grammar, json.dumps(value)) for value in rejected] == [False] * len(rejected)


def test_any_texts_of_a_small_alphabet_are_told_apart() -> None:
    grammar = Grammar.until(["é", "a"])
    node = Grammar.from_json_schema(grammar, whitespace="compact")
    for length in range(4):
        for letters in itertools.product(['"', "é", "è", "a"], repeat=length):
            text = "".join(letters)
            wanted = re.fullmatch('["è]*[éa]', text) is not None
            assert fits(node, json.dumps(text)) is wanted


def test_equal_schemas_with_equal_grammars_are_one() -> None:
    def make(word: str) -> Grammar:
        return Grammar.from_json_schema(field("a" + Grammar.from_regex(word)))

    assert make("b") is make("b")
    assert make("b") is not make("c")


def test_the_value_is_what_json_says() -> None:
    assert Grammar.from_json_schema(field(QUERY)).read('{"q": "SELECT"}') == {"q": "SELECT"}


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        pytest.param(
            {"allOf": [QUERY, {"maxLength": 3}]},
            "the grammar is not regular, and so nothing else can be asked of the same string"
            " (scope: docs/json-schema.md)\n  at /properties/q/allOf/0\n"
            '  mend: take it out, or compile with unsupported="ignore" to go without it',
            id="with another keyword",
        ),
        pytest.param(
            {"allOf": [HOST, {"pattern": "de"}]},
            "the grammar has host names, and so nothing else can be asked of the same string"
            " (scope: docs/json-schema.md)\n  at /properties/q/allOf/0\n"
            '  mend: take it out, or compile with unsupported="ignore" to go without it',
            id="host names, with another keyword",
        ),
        pytest.param(
            {"type": "string", "not": QUERY},
            "the grammar is not regular, and so nothing else can be asked of the same string"
            " (scope: docs/json-schema.md)\n  at /properties/q/not\n"
            '  mend: take it out, or compile with unsupported="ignore" to go without it',
            id="not",
        ),
        pytest.param(
            {"type": "object", "propertyNames": QUERY},
            "the grammar is not regular, and so cannot be told from other strings"
            " (scope: docs/json-schema.md)\n  at /properties/q/propertyNames\n"
            '  mend: take it out, or compile with unsupported="ignore" to go without it',
            id="names",
        ),
        pytest.param(
            {"type": "array", "items": QUERY, "uniqueItems": True},
            "uniqueItems is not supported where a string must fit a grammar with rules"
            " (scope: docs/json-schema.md)\n  at /properties/q/uniqueItems\n"
            '  mend: take it out, or compile with unsupported="ignore" to go without it',
            id="unique",
        ),
        pytest.param(
            Grammar.token("<think>") + "a",
            "a grammar in a JSON string has tokens or the markers of tags, which are no text"
            " (scope: docs/json-schema.md)\n  at /properties/q\n"
            '  mend: write them as text, or compile with unsupported="ignore" to go without it',
            id="token",
        ),
        pytest.param(
            Grammar.from_tags([Tag("<a>", "</a>")]),
            "a grammar in a JSON string has tokens or the markers of tags, which are no text"
            " (scope: docs/json-schema.md)\n  at /properties/q\n"
            '  mend: write them as text, or compile with unsupported="ignore" to go without it',
            id="tags",
        ),
        pytest.param(
            Grammar.from_lark('start: "a"'),
            "a grammar of Lark with a contextual or basic lexer cannot stand within another one"
            " (scope: docs/json-schema.md)\n  at /properties/q\n"
            '  mend: read it by Grammar.from_lark(..., lexer="dynamic"), or compile with'
            ' unsupported="ignore" to go without it',
            id="whole texts",
        ),
        pytest.param(
            Grammar.from_json_schema({"type": "object"}),
            "a grammar in a JSON string has an object whose keys, or an array whose items, must"
            " differ (scope: docs/json-schema.md)\n  at /properties/q\n"
            '  mend: let its objects have "additionalProperties": false, or compile with'
            ' unsupported="ignore" to go without it',
            id="keys that differ",
        ),
    ],
)
def test_what_cannot_be_enforced_is_refused(schema: Any, message: str) -> None:
    with pytest.raises(UnsupportedError) as raised:
        Grammar.from_json_schema(field(schema))
    assert str(raised.value) == message
    lenient = Grammar.from_json_schema(field(schema), unsupported="ignore")
    place = message.split("\n")[1].removeprefix("  at ")
    assert lenient.not_enforced == [place]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        pytest.param(
            QUERY + Grammar.from_regex("(?=b)c"),
            "no string can fit the grammar\n  at /properties/q\n  mend: change the grammar",
            id="nothing",
        ),
        pytest.param(
            {"allOf": [Grammar.from_regex("a"), {"minLength": 2}]},
            "no string can fit the grammar and have at least 2 characters\n"
            "  at /properties/q/allOf/0\n  mend: change the grammar or the lengths",
            id="too short",
        ),
    ],
)
def test_what_nothing_fits_is_named(schema: Any, message: str) -> None:
    with pytest.raises(SchemaError) as raised:
        Grammar.from_json_schema(field(schema))
    assert str(raised.value) == message


class Report(pydantic.BaseModel):
    query: Annotated[str, QUERY]
    others: list[Annotated[str, QUERY]] = []
    note: Annotated[str, QUERY, pydantic.Field(description="d", max_length=30)] | None = None


def test_python_types_are_annotated_with_grammars() -> None:
    grammar = Grammar.from_json_schema(Annotated[str, Grammar.from_regex("a+")])
    assert fits(grammar, '"aa"')
    assert not fits(grammar, '"b"')
    with pytest.raises(UnsupportedError, match="not regular"):
        Grammar.from_json_schema(Report)

    class Plain(Report):
        note: None = None

    report = Grammar.from_json_schema(Plain)
    good = json.dumps({"query": 'SELECT "a"', "others": ['SELECT "b"'], "note": None})
    assert fits(report, good)
    assert not fits(report, good.replace("SELECT", "select"))
    assert report.read(good) == Plain(query='SELECT "a"', others=['SELECT "b"'])


def test_rules_that_begin_within_a_character_are_refused() -> None:
    arena = _core.Arena()
    rest = arena.rule("rest")
    arena.define(rest, arena.choice([arena.literal(b"\xa9"), arena.sequence([rest, rest])]))
    start = arena.sequence([arena.literal(b"\xc3"), rest])
    grammar = Grammar(arena, start, kind="gbnf")
    with pytest.raises(UnsupportedError, match="begin or end within a character"):
        Grammar.from_json_schema(grammar)


def test_a_walk_tells_whether_anything_matches() -> None:
    arena = _core.Arena()
    assert ByteWalk(arena, 1).is_void
    assert not ByteWalk(arena, 0).is_void
