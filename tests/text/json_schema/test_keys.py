"""The keys of objects, parted into sets by the patterns that they match."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import Any

import pytest
from hypothesis import strategies as st

from guided.errors import LimitError
from guided.text.json_schema.document.document import Document
from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.objects.key_cells import MAX_LISTED, KeyCell, KeyCells
from guided.text.json_schema.reader import Reader
from guided.text.json_schema.shapes.shape import Child, Pattern
from guided.text.json_schema.values.any_json import any_json
from guided.text.json_schema.values.scalars import Scalars
from tests.laws.law import law

PATTERNS = ["a", "^a", "b$", "^[a-c]+$", "^(ab|c)*$", "^.{1,3}$", "^(?!ab)", "[^a]", "^$", "é"]
PATTERNS += ["^x-", "^y-", "^(a|b|é)$", "", "^.*$", "^[a-z]{2}$"]

KEYS: list[dict[str, Any]] = [
    {"maxLength": 2},
    {"enum": ["a", "ab", "x-", "é"]},
    {"pattern": "^[a-c]"},
    {"not": {"pattern": "b"}},
    {"minLength": 1, "not": {"enum": ["a", "b"]}},
    {"type": "integer"},
]

NAMES = ["".join(letters) for count in range(3) for letters in product("abcxé-\n", repeat=count)]


class Case:
    """The cells of some patterns and key schemas."""

    def __init__(
        self, patterns: list[str], strings: list[dict[str, Any]], is_base: bool, **options: Any
    ) -> None:
        document = Document({"propertyNames": strings})
        root = document.root
        blank = any_json("flexible", **options)
        self.scalars = Scalars(Reader(document, "refuse"), blank, blank.arena.clone())
        children: list[Child] = [
            (document.subschema(schema, root, ("propertyNames", index)),)
            for index, schema in enumerate(strings)
        ]
        self.keys = children[0] if is_base else ()
        self.cells = KeyCells(
            self.scalars, [Pattern(text, root) for text in patterns], children, self.keys
        )

    def of(self, name: str, *, ascii_only: bool = False) -> list[KeyCell]:
        """Return the cells that a name is in, by their nodes."""
        text = json.dumps(name, ensure_ascii=ascii_only)
        matches = self.scalars.arena.matches
        return [cell for cell in self.cells.cells() if matches(cell.node, text)]


@law(
    st.lists(st.sampled_from(PATTERNS), max_size=4, unique=True),
    st.lists(st.sampled_from(KEYS), max_size=2, unique_by=str),
    st.booleans(),
    st.sampled_from(["minimal", "any"]),
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=10),
    plain=40,
)
def test_each_key_is_in_the_one_cell_of_what_it_matches(
    patterns: list[str],
    strings: list[dict[str, Any]],
    is_base: bool,
    escapes: str,
    names: list[str],
) -> None:
    case = Case(patterns, strings, is_base and bool(strings), escapes=escapes)
    for name in names:
        # Here $ is the end of the text, and in Python also the place before a last line feed.
        matched = {text for text in patterns if re.search(text.replace("$", "\\Z"), name)}
        traits = case.cells.traits(name)
        assert {trait for trait in traits if isinstance(trait, str)} == matched
        cells = case.of(name)
        assert cells == case.of(name, ascii_only=True)
        if case.keys and case.keys not in traits:
            assert not cells
            continue
        assert [cell.traits for cell in cells] == [traits]
        assert cells[0].texts is None or name in cells[0].texts
    for cell in case.cells.cells():
        if cell.texts is not None:
            assert 0 < len(cell.texts) <= MAX_LISTED
            assert not cell.is_endless
            assert all(case.cells.traits(text) == cell.traits for text in cell.texts)


@pytest.mark.parametrize(
    ("patterns", "texts"),
    [
        (["^(a|b)$"], [["a", "b"]]),
        (["^a{70,72}$"], [["a" * 70, "a" * 71, "a" * 72]]),
        (["^[a-c]$", "^[c-d]$"], [["a", "b"], ["c"], ["d"]]),
        (["^/", "^[^/]"], [[""]]),
        (["^x", "x?"], []),
    ],
)
def test_a_cell_of_few_keys_lists_them(patterns: list[str], texts: list[list[str]]) -> None:
    case = Case(patterns, [], False)
    listed = [sorted(cell.texts) for cell in case.cells.cells() if cell.texts is not None]
    assert sorted(listed) == texts


@pytest.mark.parametrize(
    ("pattern", "verdict"),
    [
        ("^x-", True),
        ("^a*b$", True),
        ("^[0-9a-zA-Z_-]{1,255}$", True),
        ("^[a-z]{7}$", True),
        ("^[a-z]{2}$", False),
        ("^(a|b)$", False),
        ("^(?=.*a)[ab]{40}$", True),
        ("^(?!.*a)[ab]{40}$", False),
    ],
)
def test_endless_are_as_many_keys_as_can_be_counted(pattern: str, verdict: bool) -> None:
    case = Case([pattern], [], False)
    (cell,) = (cell for cell in case.cells.cells() if cell.traits)
    assert cell.is_endless is verdict


def test_lengths_without_end_do_not_count_the_characters() -> None:
    case = Case(["^x"], [{"maxLength": 100_000}], True)
    assert [cell.is_endless for cell in case.cells.cells()] == [True, True]


def test_patterns_apart_make_a_cell_each_and_those_within_each_other_too() -> None:
    apart = Case([f"^x{number}-" for number in range(60)], [], False)
    assert len(apart.cells.cells()) == 61
    nested = Case([f"^[a-{chr(98 + number)}]+$" for number in range(20)], [], False)
    assert len(nested.cells.cells()) == 21


def test_patterns_that_overlap_in_all_ways_are_limited() -> None:
    few = Case(["a", "b", "c"], [], False)
    assert len(few.cells.cells()) == 8
    many = Case(list("abcdefghij"), [], False)
    with pytest.raises(LimitError, match="7 patterns for keys overlap in too many ways"):
        many.cells.cells()


def test_cells_are_found_once_for_all_objects_of_a_schema() -> None:
    case = Case(["^a"], [], False)
    again = KeyCells(case.scalars, [Pattern("^a", Subschema({}, None, ()))])
    assert again.cells() is case.cells.cells()
