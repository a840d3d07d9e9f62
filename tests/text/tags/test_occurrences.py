"""Free text: no marker in it, or the first one at its end. Against a search in all short texts."""

from __future__ import annotations

from itertools import product

import pytest

from guided._core import Arena
from guided.text.tags.occurrences import Occurrences

MARKERS = [
    pytest.param(["ab"], id="one"),
    pytest.param(["aab"], id="overlaps itself"),
    pytest.param(["aa"], id="all of one letter"),
    pytest.param(["abab", "ba"], id="one inside the other"),
    pytest.param(["ab", "abb"], id="one begins the other"),
    pytest.param(["b", "ab"], id="one ends the other"),
    pytest.param(["abc", "bcd", "ca"], id="overlapping each other"),
]


def first_end(text: str, markers: list[str]) -> tuple[int, set[str]]:
    """The first place at which an occurrence ends, and the markers that end there."""
    for end in range(len(text) + 1):
        found = {marker for marker in markers if text[:end].endswith(marker)}
        if found:
            return end, found
    return -1, set()


@pytest.mark.parametrize("markers", MARKERS)
def test_free_text_is_what_a_search_finds_no_marker_in(markers: list[str]) -> None:
    arena = Arena()
    without = Occurrences(arena, markers).without()
    for length in range(7):
        for letters in product("abc", repeat=length):
            text = "".join(letters)
            assert arena.matches(without, text) is (first_end(text, markers)[0] < 0), text


@pytest.mark.parametrize("markers", MARKERS)
def test_the_first_marker_ends_the_text(markers: list[str]) -> None:
    arena = Arena()
    occurrences = Occurrences(arena, markers)
    for marker in markers:
        node = occurrences.first(marker)
        for length in range(7):
            for letters in product("abcd" if length < 6 else "ab", repeat=length):
                text = "".join(letters)
                end, found = first_end(text, markers)
                assert arena.matches(node, text) is (end == len(text) and marker in found), text


BRACKETS = ["[aa", "[ab", "[b", "c[", "ab"]
BEFORE_BRACKETS = ["[a", "[b", "b[c"]


@pytest.mark.parametrize("markers", [*MARKERS, BRACKETS, BEFORE_BRACKETS])
def test_a_first_marker_is_what_is_shared_and_its_rest(markers: list[str]) -> None:
    arena = Arena()
    occurrences = Occurrences(arena, markers)
    for marker in markers:
        shared, written = occurrences.first_shared(marker)
        node = arena.sequence([shared, arena.literal(marker[written:])])
        for length in range(6):
            for letters in product("abc[" if "[" in "".join(markers) else "abcd", repeat=length):
                text = "".join(letters)
                end, found = first_end(text, markers)
                assert arena.matches(node, text) is (end == len(text) and marker in found), text


def test_markers_that_begin_alike_share_the_text_before_them() -> None:
    markers = [f"[tool_{number}(" for number in range(50)]
    shared = {Occurrences(arena := Arena(), markers).first_shared(each) for each in markers}
    assert len(shared) == 1
    occurrences = Occurrences(arena, [*markers, "<|start|>["])
    assert len({occurrences.first_shared(each) for each in markers}) == 1
    # Another marker may have begun before the bracket: which one it is, its end tells.
    assert Occurrences(arena, ["[b", "[c", "a[d"]).first_shared("[b")[1] == 2


def test_free_text_is_utf_8() -> None:
    arena = Arena()
    without = Occurrences(arena, ["é"]).without()
    assert arena.matches(without, "naïve ê 🎉")
    assert not arena.matches(without, "café")
    assert not arena.matches(without, b"\xc3")
    assert not arena.matches(without, b"\xed\xa0\x80")
