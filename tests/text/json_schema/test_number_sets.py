"""Sets of numbers: what is in them, what is empty, and their automata, against plain fractions."""

from __future__ import annotations

import itertools
import random
import re
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guided._core import Arena, Automaton, Matcher
from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.numbers.automata import Table, unsigned_automaton
from guided.text.json_schema.numbers.decimals import decimal_of
from guided.text.json_schema.numbers.digits import NEVER
from guided.text.json_schema.numbers.sets import (
    End,
    NumberSet,
    disjoint_numbers,
    holds,
    is_void,
    is_void_numbers,
    number_set,
)
from guided.text.json_schema.numbers.spelling import number_in
from guided.text.json_schema.shapes.shape import Bound, Finite, Multiple, NumberShape
from tests.text.json_schema.matching import byte_vocabulary

PLACE = Subschema({}, None, ())

VALUES = "0 1 2 3 5 9 10 12 0.5 1.2 0.25 2.99 -1 -2.5 -0.01 3.3 100"
STEPS = "1 2 3 5 7 0.5 0.25 0.01 1.5 0.3 12 100 6 10 0.1"
DECIMALS = st.sampled_from(VALUES.split()).map(Decimal)
BOUNDS = st.none() | st.builds(Bound, DECIMALS, st.booleans(), st.just(PLACE), st.just("bound"))
MULTIPLES = st.builds(Multiple, st.sampled_from(STEPS.split()).map(Decimal), st.just(PLACE))


def _shapes(inner: st.SearchStrategy[tuple[NumberShape, ...]]) -> st.SearchStrategy[NumberShape]:
    return st.builds(
        NumberShape,
        st.booleans(),
        BOUNDS,
        BOUNDS,
        st.none()
        | st.lists(DECIMALS, min_size=1, max_size=4, unique=True).map(
            lambda values: Finite(tuple(values), PLACE, "enum")
        ),
        st.lists(MULTIPLES, max_size=2).map(tuple),
        inner,
    )


SHAPES = st.recursive(
    _shapes(st.just(())),
    lambda inner: _shapes(st.lists(inner, max_size=2).map(tuple)),
    max_leaves=5,
)

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")

# Every hundredth from -3 to 3, and some further away.
GRID = [Fraction(count, 100) for count in range(-300, 301)]
BEYOND = "4.5 6 7 9 9.99 10 11 12 12.01 84 100 100.5 2100"
GRID += [Fraction(Decimal(text)) for text in BEYOND.split()]
GRID += [-value for value in GRID[601:]]


def _fits(shape: NumberShape, value: Fraction) -> bool:
    """Say by the definition whether a number fits."""
    low, high = shape.low, shape.high
    return (
        (not shape.is_integer or value.denominator == 1)
        and (low is None or value > low.value or (value == low.value and not low.is_open))
        and (high is None or value < high.value or (value == high.value and not high.is_open))
        and (shape.values is None or value in map(Fraction, shape.values.members))
        and all((value / Fraction(m.value)).denominator == 1 for m in shape.multiples)
        and not any(_fits(other, value) for other in shape.excluded)
    )


def _spellings(value: Fraction) -> list[str]:
    plain = f"{decimal_of(value):f}"
    if "." in plain:
        return [plain, plain + "0", plain + "000"]
    return [plain, plain + ".0", plain + ".00"]


def _accepts(table: Table, text: str) -> bool:
    state = 0 if table else None
    for byte in text.encode():
        if state is None:
            return False
        ranges = table[state][1]
        state = next((target for low, high, target in ranges if low <= byte <= high), None)
    return state is not None and table[state][0]


@given(SHAPES)
@settings(max_examples=25)
def test_membership_is_as_defined(shape: NumberShape) -> None:
    numbers = number_set(shape)
    for value in GRID:
        expected = _fits(shape, value)
        assert holds(shape, decimal_of(value)) is expected
        assert (value in numbers) is expected
        assert (-value in numbers.mirrored()) is expected


@given(SHAPES)
@settings(max_examples=25)
def test_an_automaton_accepts_the_members_in_every_spelling(shape: NumberShape) -> None:
    numbers = number_set(shape)
    for side in (numbers, numbers.mirrored()):
        automaton = unsigned_automaton(side, None)
        members = [value for value in GRID if value >= 0 and value in side]
        assert automaton.has_positive >= any(members)
        for value in GRID:
            if value >= 0:
                for text in _spellings(value):
                    assert _accepts(automaton.table, text) is (value in side)


@given(SHAPES)
@settings(max_examples=25)
def test_a_node_matches_the_usual_spellings_of_the_members(shape: NumberShape) -> None:
    arena = Arena()
    node = number_in(arena, number_set(shape))
    for value in GRID:
        for text in _spellings(value)[:1]:
            assert arena.matches(node, text) is _fits(shape, value), text
        for text in _spellings(value):
            assert _fits(shape, value) or not arena.matches(node, text), text


@given(SHAPES)
def test_what_is_empty_is_known_to_be(shape: NumberShape) -> None:
    numbers = number_set(shape)
    automata = [unsigned_automaton(side, None) for side in (numbers, numbers.mirrored())]
    is_empty = not any(automaton.table for automaton in automata)
    assert is_void(numbers) in (is_empty, None)
    assert not is_void_numbers(shape) or is_empty
    assert not is_empty or not any(_fits(shape, value) for value in GRID)


@given(SHAPES, SHAPES)
@settings(max_examples=25)
def test_disjoint_shapes_share_no_number(a: NumberShape, b: NumberShape) -> None:
    if disjoint_numbers(a, b):
        assert not any(_fits(a, value) and _fits(b, value) for value in GRID)


def _walk(node: int, arena: Arena, seed: int) -> Fraction:
    """Write a number byte by byte, and end it soon where that is allowed."""
    draw = random.Random(seed)
    matcher = Matcher(Automaton(arena, node, byte_vocabulary()))
    text = b""
    # Sooner behind an exponent, whose value is large soon.
    while not matcher.is_complete or draw.random() < (0.2 if b"e" in text.lower() else 0.6):
        if not matcher.allowed_bytes():
            break
        byte = bytes([draw.choice(matcher.allowed_bytes())])
        matcher.accept_bytes(byte)
        text += byte
    assert NUMBER.fullmatch(text.decode())
    return Fraction(Decimal(text.decode()))


@given(SHAPES, st.integers(0, 2**32))
def test_what_is_written_is_a_member(shape: NumberShape, seed: int) -> None:
    arena = Arena()
    numbers = number_set(shape)
    node = number_in(arena, numbers)
    if node == NEVER:
        assert is_void(numbers) is not False
        return
    for number in range(5):
        value = _walk(node, arena, seed + number)
        assert _fits(shape, value), value


@pytest.mark.nightly
@given(SHAPES, st.integers(0, 2**32))
@settings(max_examples=5_000)
def test_the_same_for_many_more(shape: NumberShape, seed: int) -> None:
    numbers = number_set(shape)
    arena = Arena()
    node = number_in(arena, numbers)
    members = [value for value in GRID if _fits(shape, value)]
    for value in members:
        assert arena.matches(node, _spellings(value)[0])
    assert not (members and is_void(numbers))
    if node != NEVER:
        assert _walk(node, arena, seed) in numbers


def _shape(
    low: str | None = None, high: str | None = None, *multiples: str, integer: bool = False
) -> NumberShape:
    return NumberShape(
        integer,
        None if low is None else Bound(Decimal(low), False, PLACE, "minimum"),
        None if high is None else Bound(Decimal(high), False, PLACE, "maximum"),
        None,
        tuple(Multiple(Decimal(value), PLACE) for value in multiples),
    )


def _listing(*values: str) -> NumberShape:
    return NumberShape(values=Finite(tuple(map(Decimal, values)), PLACE, "enum"))


@pytest.mark.parametrize(
    ("a", "b", "are_disjoint"),
    [
        (_shape("3"), _shape(None, "2.99"), True),
        (_shape("3"), _shape(None, "3"), False),
        (_shape("1", "4"), _shape(None, None, "5"), True),
        (_shape("1", "5"), _shape(None, None, "5"), False),
        (_shape("0.1", "0.9"), _shape(integer=True), True),
        (_shape(None, None, "4"), _shape(integer=True)._replace(excluded=(_shape("0"),)), False),
        (_shape(None, None, "4"), NumberShape(excluded=(_shape(None, None, "2"),)), True),
        (_shape(None, None, "2"), NumberShape(excluded=(_shape(None, None, "4"),)), False),
        (_listing("1", "2"), _listing("2.0", "3"), False),
        (_listing("1", "2"), _listing("3"), True),
        (_listing("1.5"), _shape(integer=True), True),
        (NumberShape(excluded=(_listing("7"),)), _shape("7", "7"), True),
        (_shape(None, None, "1e308"), _shape("1", "1e307"), True),
        (_shape(None, None, "1e-300"), _shape("1e-301", "2e-301"), True),
        (_shape(None, None, "123456789"), _shape("1", "123456788"), True),
        (_shape("1" + "0" * 400), _shape(None, "9" * 400), True),
    ],
)
def test_disjoint_is_what_can_be_proven_so(
    a: NumberShape, b: NumberShape, are_disjoint: bool
) -> None:
    assert disjoint_numbers(a, b) is are_disjoint
    assert disjoint_numbers(b, a) is are_disjoint


@pytest.mark.parametrize(
    ("step", "states"),
    [("1000000", 15), ("0.01", 9), ("0.25", 10), ("7", 16), ("1e308", 320), ("65536", 2840)],
)
def test_an_automaton_of_a_step_is_small_where_the_last_digits_decide(
    step: str, states: int
) -> None:
    table = unsigned_automaton(NumberSet(Fraction(Decimal(step))), 2).table
    assert len(table) <= states


@pytest.mark.parametrize("step", ["7", "12", "0.25", "1.5", "64", "1000", "86400"])
def test_multiples_between_bounds_are_the_right_ones(step: str) -> None:
    unit = Fraction(Decimal(step))
    low, high = 17 * unit, 40 * unit
    table = unsigned_automaton(NumberSet(unit, End(low, True), End(high, False)), 2).table
    for count, shift in itertools.product(range(45), ("0", "0.01", "-0.01")):
        value = count * unit + Fraction(Decimal(shift))
        if value >= 0:
            expected = 17 < count <= 40 and shift == "0"
            assert _accepts(table, f"{decimal_of(value):f}") is expected
