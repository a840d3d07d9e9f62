"""Random records: objects and arrays with slots, counts and keys that may not come again."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.laws.grammars import Description, GrammarDescription, VocabularyDescription

EMPTY: Description = ("sequence", ())
NEVER: Description = ("choice", ())


def literal(text: str) -> Description:
    return ("literal", text)


def either(*parts: Description) -> Description:
    return ("choice", parts)


def then(*parts: Description) -> Description:
    return ("sequence", parts)


def repeat(part: Description, minimum: int = 0, maximum: int | None = None) -> Description:
    return ("repeat", part, minimum, maximum)


GAP = repeat(literal(" "), 0, 2)
OBJECT = (literal("{"), EMPTY, literal(","), literal("}"), literal("}"))
ARRAY = (literal("["), EMPTY, literal(","), literal("]"), literal("]"))
SPACED = (literal("{"), GAP, then(GAP, literal(","), GAP), then(GAP, literal("}")), literal("{}"))
LAYOUTS = [
    *[OBJECT] * 4,
    *[ARRAY] * 4,
    *[SPACED] * 2,
    (literal("{"), literal(" "), either(literal(","), literal(",a")), literal("}}"), NEVER),
    (literal("["), EMPTY, NEVER, literal("]"), literal("]")),
    (literal("["), EMPTY, literal("1,"), literal("1]"), literal("a")),
    (either(literal("{"), literal("[")), NEVER, literal(","), literal("}"), literal("}")),
]

LETTER = ("class", [(0x61, 0x62)])
ESCAPED = r"\u0061"
STRINGS = ['"a"', '"b"', '"ab"', '"1"', f'"{ESCAPED}"', f'"{ESCAPED}b"', r'"\u00e9"', '"é"', '""']
NUMBERS = ["1", "1.0", "1e0", "11", "0", "-0", "10e-1", "-1", "1.1", "110", "11e1"]
SETS = st.one_of(
    st.lists(st.sampled_from(STRINGS), min_size=1, max_size=4),
    st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=4),
    st.lists(st.sampled_from([*STRINGS[:5], *NUMBERS[:5]]), min_size=1, max_size=4),
).map(lambda texts: either(*map(literal, texts)))
RUNS = st.sampled_from(
    [
        then(literal('"'), repeat(LETTER), literal('"')),
        then(literal('"'), repeat(LETTER, 0, 1), literal('"')),
        then(literal('"'), repeat(LETTER, 1, 2), literal('"')),
        then(literal('"'), repeat(either(LETTER, literal(ESCAPED))), literal('"')),
        then(literal('"a'), repeat(either(literal("b"), literal(ESCAPED)), 0, 1), literal('"')),
        ("minus", then(literal('"'), repeat(LETTER), literal('"')), literal('"a"')),
        then(literal("1"), repeat(literal("1"))),
        then(literal("1"), repeat(literal("1"), 0, 2)),
        then(literal("1."), repeat(literal("0"), 1)),
        then(either(literal("1"), literal("11")), repeat(literal(".0"), 0, 1)),
        then(repeat(literal("-"), 0, 1), literal("0"), repeat(literal(".0"), 0, 1)),
        then(literal("1"), repeat(literal("0"), 0, 2), either(literal("e0"), literal("e1"), EMPTY)),
    ]
)
NAMES = {
    "a": either(literal('"a"'), literal(f'"{ESCAPED}"')),
    "b": literal('"b"'),
    "ab": literal('"ab"'),
    "é": either(literal('"é"'), literal(r'"\u00e9"'), literal(r'"\u00E9"')),
}
VALUES = [literal(":1"), literal(":a"), then(literal(":"), repeat(LETTER, 0, 2)), literal(":11")]
ITEMS = [literal("1"), literal("a"), repeat(LETTER, 0, 2), literal("1,1")]


def _is_endless(key: Description) -> bool:
    """Return True if a key has infinitely many values: those of the runs of letters."""
    return key[0] == "sequence" and any(
        part[0] == "repeat" and part[3] is None and part[1] != literal("0") for part in key[1]
    )


@st.composite
def _members(draw: st.DrawFn, slot: int, named: bool, inner: list[Description]) -> Description:
    """Draw a way to fill a slot; `inner` are the nodes that may stand deeper."""
    kind = draw(st.sampled_from(["named", "named", "recorded", "recorded", "bare"]))
    if kind == "named":
        name = draw(st.sampled_from(list(NAMES)))
        key, recorded = NAMES[name], False
    else:
        name, recorded = None, kind == "recorded"
        key = draw(SETS | RUNS) if recorded else EMPTY
    if kind == "bare":
        values = [*ITEMS, *inner]
    elif named:
        values = [*VALUES, *(then(literal(":"), part) for part in inner)]
    else:
        values = [EMPTY, *VALUES, *inner]
    node = st.sampled_from([*values, *values, NEVER])
    bits = st.sampled_from([0, 0, 1, 1, 2, 3])
    if draw(st.booleans()):
        node = node.map(lambda value: ("part", value))
    variants = draw(st.lists(st.tuples(bits, node), min_size=1, max_size=2).map(tuple))
    return (slot, key, name, recorded, variants)


def is_scarce(member: Description) -> bool:
    """Return True if the key of a member is recorded and may spell a few values only."""
    _, key, _, recorded, _ = member
    return bool(recorded) and "None" not in repr(key)


@st.composite
def records(draw: st.DrawFn, inner: list[Description]) -> Description:
    """Draw a record over up to four slots, whose values may hold the nodes of `inner`."""
    layout = draw(st.sampled_from(LAYOUTS))
    order = draw(st.sampled_from(["each", "later", "any"]))
    size = draw(st.integers(1, 4))
    some = st.sampled_from([False, False, True])
    owed = (
        st.just(())
        if order == "each"
        else st.just(()) | st.lists(st.integers(0, size - 1), max_size=2).map(tuple)
    )
    many = [draw(some) and (order != "each" or slot == size - 1) for slot in range(size)]
    if draw(st.booleans()):
        many[-1] = True
    # What is used many times may also be not used at all: neither required nor owed.
    slots = tuple(
        (
            not many[slot] and draw(some),
            many[slot],
            tuple(other for other in draw(owed) if order != "each" and not many[other]),
        )
        for slot in range(size)
    )
    named = draw(st.booleans())
    members = []
    for slot in range(size):
        for _ in range(draw(st.sampled_from([1, 1, 1, 2]))):
            members.append(draw(_members(slot, named, inner)))
    minimum = draw(st.sampled_from([0, 0, 0, 1, 2, 3]))
    maximum = draw(st.sampled_from([None, None, minimum, minimum + 1, minimum + 2]))
    low = st.sampled_from([0, 0, 1, 2])
    bounds = st.tuples(low, st.none() | st.integers(0, 2)).map(
        lambda pair: (pair[0], None if pair[1] is None else pair[0] + pair[1])
    )
    counts: Description = draw(st.sampled_from([(), ()]) | st.tuples(bounds, bounds))
    if any(is_scarce(member) for member in members):
        # Whether few values can meet counts is not foreseen.
        counts = tuple((0, high) for _, high in counts)
    if any(member[3] and not _is_endless(member[1]) for member in members):
        counts = ()  # that few texts suffice for counts is not foreseen
    if not counts:
        members = [(*member[:4], tuple((0, node) for _, node in member[4])) for member in members]
    excluded = draw(st.just(()) | st.lists(st.sampled_from("ab"), max_size=2).map(tuple))
    return ("record", layout, slots, tuple(members), order, minimum, maximum, counts, excluded)


def plain_records() -> st.SearchStrategy[GrammarDescription]:
    return records([]).map(GrammarDescription)


@st.composite
def nested_records(draw: st.DrawFn) -> GrammarDescription:
    """Draw records within records, rules that lead back, and text around them."""
    low = draw(records([]))
    rules = [("rule", 0), ("rule", 1)]
    bodies = tuple(either(draw(records([low, *rules])), literal("a")) for _ in rules)
    start = draw(
        st.sampled_from(
            [
                rules[0],
                repeat(rules[0], 0, 2),
                then(literal("1"), rules[0], repeat(literal(","), 0, 1)),
                either(rules[0], rules[1], ("part", low)),
            ]
        )
    )
    return GrammarDescription(start, bodies)


def record_grammars() -> st.SearchStrategy[GrammarDescription]:
    return st.one_of(plain_records(), plain_records(), nested_records())


LETTERS = '"ab\\u061.e-{}[]:, é9E'
PIECES = ['"a"', '"a":1', '"b"', '":', "1,1", ',"', "1.0", ESCAPED, "},{", ":1,", ':1,"', "]", "}}"]
PIECES += ['"a":1,"b"', "1,1.0", '{"a":', '"}', ":1}", "{}", "[1", ",1]", "1e0", "0,", "\\u0", '""']


@st.composite
def json_vocabularies(draw: st.DrawFn) -> VocabularyDescription:
    """Draw a vocabulary of all single bytes of records and of tokens that span members."""
    single = [bytes([byte]) for byte in sorted(set(LETTERS.encode()))]
    piece = st.sampled_from([*PIECES, *LETTERS[:16]])
    longer = st.lists(piece, min_size=1, max_size=4).map(lambda parts: "".join(parts).encode())
    chosen = draw(st.lists(st.sampled_from(PIECES).map(str.encode), max_size=8, unique=True))
    tokens = [None, None, None, None, *single, *chosen, *draw(st.lists(longer, max_size=12))]
    return VocabularyDescription(tuple(tokens), (3,), len(tokens) + draw(st.integers(0, 3)))


def wide_json_vocabulary() -> VocabularyDescription:
    """Return all bytes and some thousand tokens of up to three pieces, whole keys among them."""
    single = [bytes([byte]) for byte in range(256)]
    pieces = ['"', "a", "b", "é", ESCAPED, '"a"', '"b":', '""', ",", ":1", "{", "}", "[", "]", " "]
    pairs = [a + b for a in pieces for b in pieces]
    texts = dict.fromkeys([*pairs, *(pair + c for pair in pairs for c in pieces)])
    tokens = [None, None, None, None, *single, *(text.encode() for text in texts)]
    return VocabularyDescription(tuple(tokens), (3,), len(tokens))
