"""Records of the oracle against the lists of all texts that they should let through."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import pytest

from guided.errors import GrammarError
from tests.reference import Arena, Matcher, Vocabulary, accepts, is_viable_prefix

Order = Literal["each", "later", "any"]
Slot = tuple[bool, bool, list[int]]
REQUIRED: Slot = (True, False, [])
OPTIONAL: Slot = (False, False, [])
MANY: Slot = (False, True, [])

KEYS = ['"a"', '"b"', '"c"']


def braces(arena: Arena) -> tuple[int, int, int, int, int]:
    opening, comma, closing = map(arena.literal, "{,}")
    return opening, 0, comma, closing, closing


def choice(arena: Arena, texts: Iterable[str]) -> int:
    return arena.choice([arena.literal(text) for text in texts])


def texts_of(arena: Arena, node: int, longest: int) -> set[str]:
    """Walk all viable prefixes, each of which must lead to a text; return the texts."""
    vocabulary = Vocabulary([None], eos=[0])
    found: set[str] = set()
    queue = [b""]
    matcher = Matcher(arena, node, vocabulary)
    while queue:
        prefix = queue.pop()
        trial = matcher.fork()
        trial.accept_bytes(prefix)
        if trial.is_complete:
            found.add(prefix.decode())
        further = trial.allowed_bytes()
        assert trial.is_complete or further, prefix
        assert len(prefix) < longest, "the text does not end"
        queue += [prefix + bytes([byte]) for byte in further]
    return found


def written(members: Iterable[str]) -> Iterator[str]:
    """Write all lists of different members, of any number and order."""
    members = list(members)
    for count in range(len(members) + 1):
        for chosen in itertools.permutations(members, count):
            yield "{" + ",".join(chosen) + "}"


def keys(text: str) -> list[str]:
    pairs: list[tuple[str, Any]] = json.loads(text, object_pairs_hook=list)
    return [name for name, _ in pairs]


@pytest.mark.parametrize(
    ("order", "slots", "fits"),
    [
        ("any", [OPTIONAL, OPTIONAL, OPTIONAL], lambda names: True),
        ("any", [OPTIONAL, REQUIRED, OPTIONAL], lambda names: "b" in names),
        ("any", [(False, False, [2]), OPTIONAL, OPTIONAL], lambda n: "a" not in n or "c" in n),
        ("later", [OPTIONAL, OPTIONAL, OPTIONAL], lambda names: names == sorted(names)),
        (
            "later",
            [OPTIONAL, REQUIRED, OPTIONAL],
            lambda names: names == sorted(names) and "b" in names,
        ),
        (
            "later",
            [OPTIONAL, OPTIONAL, (False, False, [0])],
            lambda names: names == sorted(names) and ("c" not in names or "a" in names),
        ),
        (
            "each",
            [REQUIRED, OPTIONAL, OPTIONAL],
            lambda names: names and names == ["a", "b", "c"][: len(names)],
        ),
    ],
)
def test_slots_are_filled_in_their_order(
    order: Order, slots: list[Slot], fits: Callable[[list[str]], bool]
) -> None:
    arena = Arena()
    value = arena.literal(":1")
    members = [
        (i, arena.literal(key), key.strip('"'), False, [(0, value)]) for i, key in enumerate(KEYS)
    ]
    node = arena.record(braces(arena), slots, members, order)
    wanted = {text for text in written(f"{key}:1" for key in KEYS) if fits(keys(text))}
    assert texts_of(arena, node, 30) == wanted


def test_recorded_keys_are_written_once_in_any_spelling() -> None:
    arena = Arena()
    spelt = ['"a"', r'"\u0061"', '"b"']
    member = (0, choice(arena, spelt), None, True, [(0, arena.literal(":1"))])
    node = arena.record(braces(arena), [MANY], [member], "any")
    lists = [text for text in written(f"{key}:1" for key in spelt)]
    assert texts_of(arena, node, 40) == {t for t in lists if len(keys(t)) == len(set(keys(t)))}


def test_recorded_keys_are_no_names_and_not_excluded() -> None:
    arena = Arena()
    value = [(0, arena.literal(":1"))]
    named = (0, arena.literal('"a"'), "a", False, value)
    other = (1, choice(arena, ['"a"', r'"\u0061"', '"b"', '"c"', '"d"']), None, True, value)
    node = arena.record(
        braces(arena), [OPTIONAL, MANY], [named, other], "later", excluded=["c", "x"]
    )
    assert texts_of(arena, node, 30) == {
        "{}",
        '{"a":1}',
        '{"b":1}',
        '{"d":1}',
        '{"a":1,"b":1}',
        '{"a":1,"d":1}',
        '{"b":1,"d":1}',
        '{"d":1,"b":1}',
        '{"a":1,"b":1,"d":1}',
        '{"a":1,"d":1,"b":1}',
    }


def test_numbers_are_compared_by_their_size() -> None:
    arena = Arena()
    spelt = ["1", "1.0", "1e0", "10e-1", "-0", "0", "null", '"1"']
    item = (0, choice(arena, spelt), None, True, [(0, 0)])
    node = arena.record(braces(arena), [MANY], [item], "each", maximum=3)

    def values(text: str) -> list[object]:
        return [(json.loads(t), type(json.loads(t)) is str) for t in text[1:-1].split(",") if t]

    wanted = {text for text in written(spelt) if text.count(",") < 3}
    wanted = {text for text in wanted if len(values(text)) == len(set(values(text)))}
    assert texts_of(arena, node, 30) == wanted


def test_a_key_that_is_needed_elsewhere_is_not_taken() -> None:
    arena = Arena()
    value = [(0, arena.literal(":1"))]
    any_key = (0, choice(arena, ['"a"', '"b"', '"c"']), None, True, value)
    one_key = (1, arena.literal('"b"'), None, True, value)
    node = arena.record(braces(arena), [MANY, REQUIRED], [any_key, one_key], "any", maximum=2)
    pairs = ['"b":1,"a":1', '"a":1,"b":1', '"b":1,"c":1', '"c":1,"b":1', '"b":1']
    assert texts_of(arena, node, 30) == {"{" + pair + "}" for pair in pairs}
    assert not is_viable_prefix(arena, node, '{"a":1,"c')
    assert not accepts(arena, node, "{}")


def test_a_record_whose_keys_run_out_is_void() -> None:
    arena = Arena()
    item = (0, choice(arena, ["1", "1.0", "2"]), None, True, [(0, 0)])
    two = arena.record(braces(arena), [MANY], [item], "each", minimum=2)
    assert texts_of(arena, two, 30) == {"{1,2}", "{2,1}", "{1.0,2}", "{2,1.0}"}
    three = arena.record(braces(arena), [MANY], [item], "each", minimum=3)
    with pytest.raises(GrammarError):
        accepts(arena, three, "")


def test_long_languages_of_few_values_run_out_too() -> None:
    arena = Arena()
    zeros = arena.repeat(arena.literal("0"), 0, None)
    one = arena.sequence([arena.literal("1."), zeros, arena.literal("0")])
    item = (0, arena.choice([one, arena.literal("2")]), None, True, [(0, 0)])
    node = arena.record(braces(arena), [MANY], [item], "each", minimum=2)
    assert accepts(arena, node, "{1.000,2}")
    assert not is_viable_prefix(arena, node, "{1.000,1")
    assert not is_viable_prefix(arena, node, "{2,1.00,")


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [
        ([(1, 1)], {"{x}", "{x,y}", "{y,x}", "{x,y,y}", "{y,x,y}", "{y,y,x}"}),
        ([(0, 0)], {"{}", "{y}", "{y,y}", "{y,y,y}"}),
        ([(3, None)], {"{x,x,x}"}),
    ],
)
def test_counts_are_of_variants(counts: list[tuple[int, int | None]], wanted: set[str]) -> None:
    arena = Arena()
    variants = [(1, arena.literal("x")), (0, arena.literal("y"))]
    node = arena.record(
        braces(arena), [MANY], [(0, 0, None, False, variants)], "each", 0, 3, counts
    )
    assert texts_of(arena, node, 30) == wanted


def test_two_counts_may_ask_for_more_members_than_there_may_be() -> None:
    arena = Arena()
    variants = [(1, arena.literal("x")), (2, arena.literal("y"))]
    members = [(0, 0, None, False, variants)]
    node = arena.record(braces(arena), [MANY], members, "each", 0, 3, [(2, None), (1, None)])
    assert texts_of(arena, node, 30) == {"{x,x,y}", "{x,y,x}", "{y,x,x}"}
    with pytest.raises(GrammarError):
        accepts(
            arena,
            arena.record(braces(arena), [MANY], members, "each", 0, 2, [(2, None), (1, None)]),
            "",
        )


def test_records_hold_records() -> None:
    arena = Arena()
    rule = arena.rule("object")
    value = arena.choice([arena.literal(":1"), arena.sequence([arena.literal(":"), rule])])
    key = choice(arena, ['"a"', '"b"'])
    arena.define(
        rule, arena.record(braces(arena), [MANY], [(0, key, None, True, [(0, value)])], "any")
    )
    assert accepts(arena, rule, '{"a":{"a":{"b":1,"a":1}},"b":{}}')
    assert not is_viable_prefix(arena, rule, '{"a":{"a":{"b":1,"a":1}},"a')
    assert not is_viable_prefix(arena, rule, '{"a":{"a":{"b":1,"a":1},"b":1,')


def test_a_record_that_needs_itself_is_void() -> None:
    arena = Arena()
    rule = arena.rule("object")
    member = (0, arena.literal('"a":'), None, False, [(0, rule)])
    arena.define(rule, arena.record(braces(arena), [REQUIRED], [member], "any"))
    with pytest.raises(GrammarError):
        accepts(arena, rule, "")
