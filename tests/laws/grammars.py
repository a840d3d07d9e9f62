"""Random grammars and vocabularies, as descriptions for the core and the oracle to build from."""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from hypothesis import strategies as st

from tests import reference

Description = tuple[Any, ...]

# Every byte of these characters is a token of each random vocabulary.
CHARACTERS = "abcéê€😀"
BYTES = sorted(set(CHARACTERS.encode()))
LITERALS: list[str | bytes] = [
    "a",
    "b",
    "ab",
    "ba",
    "aab",
    "c",
    "é",
    "ê",
    "a€",
    "😀",
    b"\xc3",
    b"\xa9b",
]
CLASSES: list[list[tuple[int, int]]] = [
    [(0x61, 0x62)],
    [(0x61, 0x63), (0xE9, 0xE9)],
    [(0xE9, 0xEA)],
    [(0x62, 0x62), (0x20AC, 0x20AC), (0x1F600, 0x1F600)],
    [(0x80, 0x7FF)],
    [(0, 0x10FFFF)],
    [(0, 0x60), (0x62, 0x10FFFF)],
]
# In each random vocabulary the first three are special, 3 is an end token, 4 and 5 spell something
# (and may be end tokens, too); the last is in none.
NAMED_TOKENS = [0, 0, 1, 1, 2, 3, 4, 5, 1000]


class Builder(Protocol):
    """The builder methods that the arena of the core and that of the oracle share."""

    def literal(self, data: bytes | str) -> int: ...
    def char_class(self, ranges: Sequence[tuple[int, int]]) -> int: ...
    def dfa(self, states: Sequence[tuple[bool, Sequence[tuple[int, int, int]]]]) -> int: ...
    def sequence(self, nodes: Sequence[int]) -> int: ...
    def choice(self, nodes: Sequence[int]) -> int: ...
    def repeat(self, node: int, minimum: int = 0, maximum: int | None = None) -> int: ...
    def rule(self, name: str) -> int: ...
    def define(self, rule: int, body: int) -> None: ...
    def both(self, a: int, b: int) -> int: ...
    def minus(self, a: int, b: int) -> int: ...
    def negation(self, a: int) -> int: ...
    def any_text(self) -> int: ...
    def token(self, ids: Sequence[int], negated: bool = False) -> int: ...
    def lexeme(self, body: int, longer: int) -> int: ...
    def capture(self, name: str, node: int) -> int: ...
    def part(self, node: int) -> int: ...
    def record(
        self,
        layout: tuple[int, int, int, int, int],
        slots: Sequence[tuple[bool, bool, Sequence[int]]],
        members: Sequence[tuple[int, int, str | None, bool, Sequence[tuple[int, int]]]],
        order: Literal["each", "later", "any"],
        minimum: int = 0,
        maximum: int | None = None,
        counts: Sequence[tuple[int, int | None]] = (),
        excluded: Sequence[str] = (),
    ) -> int: ...


@dataclass(frozen=True)
class GrammarDescription:
    """The start and the bodies of the rules that ("rule", index) refers to."""

    start: Description
    rules: tuple[Description, ...] = ()


def build(grammar: GrammarDescription, arena: Builder) -> int:
    """Build all nodes of `grammar` in `arena` and return that of the start."""
    rules = [arena.rule(f"rule{index}") for index in range(len(grammar.rules))]
    for rule, body in zip(rules, grammar.rules, strict=True):
        arena.define(rule, _node(body, arena, rules))
    return _node(grammar.start, arena, rules)


def _node(description: Description, arena: Builder, rules: list[int]) -> int:
    def inner(part: Description) -> int:
        return _node(part, arena, rules)

    match description:
        case ("literal", data):
            return arena.literal(data)
        case ("class", ranges):
            return arena.char_class(ranges)
        case ("any text",):
            return arena.any_text()
        case ("dfa", states):
            return arena.dfa(states)
        case ("sequence", parts):
            return arena.sequence([inner(part) for part in parts])
        case ("choice", parts):
            return arena.choice([inner(part) for part in parts])
        case ("repeat", part, minimum, maximum):
            return arena.repeat(inner(part), minimum, maximum)
        case ("rule", index):
            return rules[index]
        case ("both", a, b):
            return arena.both(inner(a), inner(b))
        case ("minus", a, b):
            return arena.minus(inner(a), inner(b))
        case ("negation", a):
            return arena.negation(inner(a))
        case ("token", ids, negated):
            return arena.token(ids, negated)
        case ("lexeme", body, longer):
            return arena.lexeme(inner(body), inner(longer))
        case ("capture", name, part):
            return arena.capture(name, inner(part))
        case ("part", part):
            return arena.part(inner(part))
        case ("record", layout, slots, members, *limits):
            begin, first, between, end, empty = map(inner, layout)
            built = [
                (slot, inner(key), name, recorded, [(bits, inner(part)) for bits, part in variants])
                for slot, key, name, recorded, variants in members
            ]
            return arena.record((begin, first, between, end, empty), slots, built, *limits)
        case _:
            raise AssertionError(description)


def _composites(inner: st.SearchStrategy[Description]) -> list[st.SearchStrategy[Description]]:
    parts = st.lists(inner, max_size=3).map(tuple)
    minimum, extra = st.integers(0, 3), st.none() | st.integers(0, 3)
    counts = st.tuples(minimum, extra).map(lambda c: (c[0], None if c[1] is None else c[0] + c[1]))
    return [
        st.tuples(st.just("sequence"), parts),
        st.tuples(st.just("choice"), parts),
        st.tuples(inner, counts).map(lambda pair: ("repeat", pair[0], *pair[1])),
        st.tuples(st.just("capture"), st.sampled_from(["x", "y"]), inner),
        st.tuples(st.just("part"), inner),
    ]


def _regular_composites(inner: st.SearchStrategy[Description]) -> st.SearchStrategy[Description]:
    return st.one_of(
        *_composites(inner),
        st.tuples(st.just("both"), inner, inner),
        st.tuples(st.just("minus"), inner, inner),
        st.tuples(st.just("negation"), inner),
    )


LITERAL_NODES = st.tuples(st.just("literal"), st.sampled_from(LITERALS))
# More options than the core keeps apart.
MANY = [a + b + c for a in "abcé" for b in "abê€" for c in ["", "a", "b", "c", "€"]]
WIDE_CHOICE = ("choice", tuple(("literal", text) for text in MANY))
# A run without some words, as names of properties are.
CLASS_NODES = st.tuples(st.just("class"), st.sampled_from(CLASSES))
COUNTS = st.sampled_from([(0, None), (1, None), (2, None), (0, 3), (1, 5)])
RUNS = st.tuples(CLASS_NODES, COUNTS).map(lambda pair: ("repeat", pair[0], *pair[1]))
WORDS = st.lists(LITERAL_NODES, min_size=1, max_size=3).map(lambda words: ("choice", tuple(words)))
OTHER_WORDS = st.tuples(st.just("minus"), RUNS, WORDS)


@st.composite
def automata(draw: st.DrawFn) -> Description:
    """Draw automata over bytes, dead ends and all; runs of bytes split characters, too."""
    size = draw(st.integers(1, 4))
    cuts = st.lists(st.sampled_from([0x61, 0x62, 0x63, 0x64, 0x80, 0xC3, 0xC4, 0xE2]), max_size=4)
    states = []
    for _ in range(size):
        edges: list[tuple[int, int, int]] = []
        for low in sorted(set(draw(cuts))):
            high = min(255, low + draw(st.sampled_from([0, 0, 1, 30])))
            if not edges or edges[-1][1] < low:
                edges.append((low, high, draw(st.integers(0, size - 1))))
        states.append((draw(st.booleans()), tuple(edges)))
    return ("dfa", tuple(states))


REGULAR_LEAVES = st.one_of(
    LITERAL_NODES,
    LITERAL_NODES,
    LITERAL_NODES,
    st.sampled_from([("literal", "ab"), WIDE_CHOICE]),
    OTHER_WORDS,
    CLASS_NODES,
    st.just(("any text",)),
    automata(),
)
REGULAR_NODES = st.recursive(REGULAR_LEAVES, _regular_composites, max_leaves=6)


def regular_grammars() -> st.SearchStrategy[GrammarDescription]:
    return REGULAR_NODES.map(GrammarDescription)


@functools.cache
def _context_free(count: int) -> st.SearchStrategy[GrammarDescription]:
    references = st.tuples(st.just("rule"), st.integers(0, count - 1))
    ids = st.lists(st.sampled_from(NAMED_TOKENS), min_size=1, max_size=2).map(tuple)
    tokens = st.tuples(st.just("token"), ids, st.booleans())
    empty = st.just(("sequence", ()))
    leaves = st.one_of(LITERAL_NODES, references, references, REGULAR_NODES, empty, tokens)
    nodes = st.recursive(leaves, lambda inner: st.one_of(_composites(inner)), max_leaves=7)
    # A second alternative without recursion makes most rules productive.
    bodies = st.tuples(nodes, REGULAR_LEAVES, st.integers(0, 3)).map(
        lambda drawn: drawn[0] if drawn[2] == 0 else ("choice", drawn[:2])
    )
    rules = st.tuples(*[bodies] * count)
    return st.builds(GrammarDescription, st.just(("rule", 0)) | nodes, rules)


def context_free_grammars() -> st.SearchStrategy[GrammarDescription]:
    """Draw grammars of up to three rules: any recursion, ambiguous or not, nullable or not."""
    return st.one_of([_context_free(count) for count in (1, 2, 3)])


class _Maker:
    """Grammars larger than a strategy likes to draw, by a seed: few letters, much ambiguity."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.rules = self.random.choice([0, 0, 1, 2, 3, 4, 5])
        alphabets: list[list[str | bytes]] = [["a", "b"], ["a", "b", "ab", "é"], LITERALS]
        self.letters = self.random.choice(alphabets)

    def grammar(self) -> GrammarDescription:
        if not self.rules:
            return GrammarDescription(self.node(5, regular=True))
        bodies = [self.body() for _ in range(self.rules)]
        start = ("rule", 0) if self.random.random() < 0.7 else self.node(2)
        return GrammarDescription(start, tuple(bodies))

    def body(self) -> Description:
        options = [self.node(2) for _ in range(self.random.randrange(1, 4))]
        if self.random.random() < 0.7:
            options.append(self.leaf(regular=True))
        return ("choice", tuple(options))

    def leaf(self, regular: bool) -> Description:
        kinds = ["literal"] * 5 + ["class"] * 2 + ["any text", "empty", "many", "other"]
        if not regular:
            kinds += ["rule"] * 8 + ["token"]
        match self.random.choice(kinds):
            case "literal":
                return ("literal", self.random.choice(self.letters))
            case "class":
                return ("class", self.random.choice(CLASSES))
            case "any text":
                return ("any text",)
            case "many":
                return WIDE_CHOICE
            case "other":
                run = ("repeat", ("class", self.random.choice(CLASSES)), *self.counts())
                return ("minus", run, ("choice", (self.leaf(True), self.leaf(True))))
            case "rule":
                return ("rule", self.random.randrange(self.rules))
            case "token":
                ids = tuple(self.random.sample(NAMED_TOKENS, self.random.randrange(1, 3)))
                return ("token", ids, self.random.random() < 0.3)
            case _:
                return ("sequence", ())

    def counts(self) -> tuple[int, int | None]:
        minimum = self.random.choice([0, 0, 0, 1, 1, 2, 3])
        return minimum, self.random.choice([None, None, minimum + self.random.randrange(4)])

    def node(self, depth: int, regular: bool = False) -> Description:
        kinds = ["leaf", "sequence", "sequence", "sequence", "choice", "choice", "repeat", "repeat"]
        kinds += (
            ["capture", "both", "minus", "negation"] if regular else ["regular", "part", "part"]
        )
        inner = functools.partial(self.node, depth - 1, regular)
        match self.random.choice(kinds) if depth else "leaf":
            case ("sequence" | "choice") as kind:
                return (kind, tuple(inner() for _ in range(self.random.choice([1, 2, 2, 3]))))
            case "repeat":
                return ("repeat", inner(), *self.counts())
            case "part":
                return ("part", inner())
            case "capture":
                return ("capture", self.random.choice("xy"), inner())
            case ("both" | "minus") as kind:
                return (kind, inner(), inner())
            case "negation":
                return ("negation", inner())
            case "regular":
                return self.node(depth - 1, regular=True)
            case _:
                return self.leaf(regular)


def seeded_grammars() -> st.SearchStrategy[GrammarDescription]:
    return st.integers(0, 1 << 48).map(lambda seed: _Maker(seed).grammar())


def grammars() -> st.SearchStrategy[GrammarDescription]:
    seeded = seeded_grammars()
    return st.one_of(regular_grammars(), context_free_grammars(), seeded, seeded, seeded)


@dataclass(frozen=True)
class VocabularyDescription:
    tokens: tuple[bytes | None, ...]
    eos: tuple[int, ...]
    size: int

    def of_oracle(self) -> reference.Vocabulary:
        return reference.Vocabulary(self.tokens, self.eos, self.size)


@st.composite
def vocabularies(draw: st.DrawFn, all_bytes: bool = False) -> VocabularyDescription:
    """Draw a vocabulary of all single bytes that are used and of longer tokens.

    Some are duplicates, some end within a character, some spell nothing; there may be several end
    tokens, of which some spell something, and logits wider than the vocabulary.
    """
    single = [bytes([byte]) for byte in (range(256) if all_bytes else BYTES)]
    piece = st.sampled_from([*CHARACTERS.encode().split(b"c"), b"a", b"b", b"c", b"\xc3", b"\xa9"])
    longer = st.lists(piece | st.sampled_from(single), min_size=1, max_size=4).map(b"".join)
    extra = draw(st.lists(longer | st.none(), max_size=10))
    rest = draw(st.permutations(extra)) if all_bytes else draw(st.permutations([*single, *extra]))
    named = draw(st.tuples(longer, longer))
    tokens = [None, None, None, None, *named, *rest, *(single if all_bytes else [])]
    spare = [index for index, token in enumerate(tokens) if index > 3 and token not in single]
    eos = [3, *(draw(st.lists(st.sampled_from(spare), unique=True, max_size=3)) if spare else [])]
    size = len(tokens) + draw(st.integers(0, 40))
    return VocabularyDescription(tuple(tokens), tuple(eos), size)


@functools.cache
def _of_lexemes(count: int) -> st.SearchStrategy[GrammarDescription]:
    texts = st.tuples(st.just("literal"), st.sampled_from(["a", "b", "ab", "ba", "aab", "c", "é"]))
    units = st.one_of(texts, st.tuples(st.just("class"), st.sampled_from(CLASSES[:3])))
    runs = units.map(lambda unit: ("repeat", unit, 1, None))
    pairs = st.tuples(st.sampled_from(["choice", "sequence"]), st.tuples(units, units))
    bodies = st.one_of(units, runs, pairs)
    # Longest matches mostly, as of one lexer; or another text that must not match.
    lexemes = bodies.flatmap(
        lambda body: st.tuples(st.just("lexeme"), st.just(body), st.just(body) | bodies)
    )
    leaves: st.SearchStrategy[Description] = lexemes | st.just(("token", (0,), False))
    if count:
        leaves |= st.tuples(st.just("rule"), st.integers(0, count - 1))
    nodes = st.recursive(leaves, lambda inner: st.one_of(_composites(inner)), max_leaves=6)
    rules = st.tuples(st.just("choice"), st.tuples(nodes, lexemes))
    return st.builds(GrammarDescription, nodes, st.tuples(*[rules] * count))


def lexeme_grammars() -> st.SearchStrategy[GrammarDescription]:
    """Draw grammars whose leaves are lexemes and special tokens, as in tests.reference.lexing."""
    return st.one_of([_of_lexemes(count) for count in (0, 1, 2)])


def wide_vocabulary() -> VocabularyDescription:
    """Return all bytes and all texts of two or three of the characters, and some that are cut."""
    single = [bytes([byte]) for byte in range(256)]
    pairs = [a + b for a in CHARACTERS for b in CHARACTERS]
    texts = [text.encode() for text in pairs + [pair + c for pair in pairs for c in CHARACTERS]]
    cut = [text[:-1] for text in texts if len(text) > 3] + [text[1:] for text in texts[:64]]
    tokens = [None, None, None, None, b"a", b"ab", *single, *texts, *cut]
    return VocabularyDescription(tuple(tokens), (3,), len(tokens) + 3)


def choices(length: int = 6) -> st.SearchStrategy[list[int]]:
    """Draw numbers that pick one of what is allowed, at each step of a walk."""
    return st.lists(st.integers(0, 1 << 16), min_size=length - 2, max_size=length)


def pick(allowed: Sequence[int], eos: Sequence[int], choice: int) -> int:
    """Return one of the tokens allowed, the end only now and then."""
    further = [token for token in allowed if token not in eos]
    picked = allowed if choice % 16 == 0 or not further else further
    return picked[choice // 16 % len(picked)]
