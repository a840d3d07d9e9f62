"""The regular part of the oracle against Python's `re`, on all short texts."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import Arena, accepts, is_viable_prefix

TEXTS = ["".join(text) for n in range(6) for text in itertools.product("abé", repeat=n) if n < 5]


def characters(arena: Arena, text: str) -> int:
    return arena.char_class([(ord(character), ord(character)) for character in text])


def patterns() -> st.SearchStrategy[tuple[object, ...]]:
    leaf = st.one_of(
        st.tuples(st.just("text"), st.sampled_from(["", "a", "b", "ab", "é", "aé"])),
        st.tuples(st.just("class"), st.sampled_from(["a", "ab", "bé", "abé"])),
    )
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.tuples(st.just("sequence"), st.lists(inner, min_size=2, max_size=3)),
            st.tuples(st.just("choice"), st.lists(inner, min_size=2, max_size=3)),
            st.tuples(st.just("repeat"), inner, st.integers(0, 2), st.none() | st.integers(0, 2)),
        ),
        max_leaves=6,
    )


def pattern_and_node(arena: Arena, sample: tuple[object, ...]) -> tuple[str, int]:
    match sample:
        case ("text", str(text)):
            return re.escape(text), arena.literal(text)
        case ("class", str(text)):
            return f"[{text}]", characters(arena, text)
        case ("sequence", list(parts)):
            built = [pattern_and_node(arena, part) for part in parts]
            return "".join(p for p, _ in built), arena.sequence([n for _, n in built])
        case ("choice", list(parts)):
            built = [pattern_and_node(arena, part) for part in parts]
            return f"(?:{'|'.join(p for p, _ in built)})", arena.choice([n for _, n in built])
        case ("repeat", tuple(part), int(low), extra):
            pattern, node = pattern_and_node(arena, part)
            high = None if extra is None else low + int(str(extra))
            return f"(?:{pattern}){{{low},{'' if high is None else high}}}", arena.repeat(
                node, low, high
            )
        case _:
            raise AssertionError(sample)


@given(patterns())
@settings(max_examples=200)
def test_a_regular_node_matches_what_the_pattern_matches(sample: tuple[object, ...]) -> None:
    arena = Arena()
    pattern, node = pattern_and_node(arena, sample)
    for text in TEXTS:
        expected = re.fullmatch(pattern, text) is not None
        assert arena.matches(node, text) is expected, (pattern, text)


@given(patterns(), patterns())
@settings(max_examples=100)
def test_both_and_minus_combine_verdicts(
    left: tuple[object, ...], right: tuple[object, ...]
) -> None:
    arena = Arena()
    first, a = pattern_and_node(arena, left)
    second, b = pattern_and_node(arena, right)
    both, minus, negation = arena.both(a, b), arena.minus(a, b), arena.negation(a)
    for text in TEXTS:
        in_a = re.fullmatch(first, text) is not None
        in_b = re.fullmatch(second, text) is not None
        assert arena.matches(both, text) is (in_a and in_b)
        assert arena.matches(minus, text) is (in_a and not in_b)
        assert arena.matches(negation, text) is not in_a


@given(patterns(), patterns())
@settings(max_examples=100)
def test_void_means_that_no_text_matches_and_shortest_is_shortest(
    left: tuple[object, ...], right: tuple[object, ...]
) -> None:
    arena = Arena()
    _, a = pattern_and_node(arena, left)
    _, b = pattern_and_node(arena, right)
    node = arena.minus(a, b)
    matched = [text.encode() for text in TEXTS if arena.matches(node, text)]
    shortest = arena.shortest(node)
    assert arena.is_void(node) is (shortest is None)
    if shortest is None:
        assert not matched
    else:
        assert arena.matches(node, shortest)
        assert all(len(text) >= len(shortest) for text in matched)


@given(patterns(), patterns())
@settings(max_examples=100)
def test_prefixes_of_regular_nodes_are_those_of_matched_texts(
    left: tuple[object, ...], right: tuple[object, ...]
) -> None:
    arena = Arena()
    _, a = pattern_and_node(arena, left)
    _, b = pattern_and_node(arena, right)
    node = arena.minus(a, b)
    if arena.is_void(node):
        return
    for text in TEXTS:
        if len(text) > 2:
            continue
        data = text.encode()
        assert accepts(arena, node, data) is arena.matches(node, data)
        rest = arena.algebra.shortest(
            arena.algebra.after(arena.term(node) or arena.algebra.never, data)
        )
        assert is_viable_prefix(arena, node, data) is (rest is not None)
        if rest is not None:
            assert accepts(arena, node, data + rest)


@pytest.mark.parametrize(
    "ranges",
    [
        [(0, 0x10FFFF)],
        [(0x7F, 0x80)],
        [(0x7FF, 0x800), (0xFFFF, 0x10000)],
        [(0xD000, 0xE000)],
        [(0x1F300, 0x1F33F)],
    ],
)
def test_a_class_matches_the_utf8_of_its_code_points(ranges: list[tuple[int, int]]) -> None:
    arena = Arena()
    node = arena.char_class(ranges)
    edges = {low + step for low, _ in ranges for step in (-1, 0, 1)}
    edges |= {high + step for _, high in ranges for step in (-1, 0, 1)}
    edges |= {0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF}
    for code_point in sorted(edges):
        if 0 <= code_point <= 0x10FFFF and not 0xD800 <= code_point <= 0xDFFF:
            wanted = any(low <= code_point <= high for low, high in ranges)
            assert arena.matches(node, chr(code_point)) is wanted, hex(code_point)
    for malformed in (b"\xc0\x80", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80"):
        assert not is_viable_prefix(arena, node, malformed)


def test_any_character_is_all_that_python_decodes() -> None:
    arena = Arena()
    node = arena.char_class([(0, 0x10FFFF)])
    pairs = {bytes([first, second]) for first in range(256) for second in range(256)}
    samples = pairs | {pair + tail for pair in pairs for tail in (b"\x80", b"\xbf\xbf", b"\x80a")}
    for data in samples | {bytes([byte]) for byte in range(256)}:
        try:
            wanted = len(data.decode()) == 1
        except UnicodeDecodeError:
            wanted = False
        assert arena.matches(node, data) is wanted, data
