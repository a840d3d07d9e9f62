"""Lengths beside a pattern that asks for one character, with any number of others around it."""

from __future__ import annotations

import json
import re
import time
from itertools import product
from typing import Any

import pytest

from guided._core import Matcher
from guided.errors import LimitError
from guided.text.json_schema.strings import lengths, shared_lengths
from tests.text.json_schema.matching import check, language

TEXTS = ["".join(text) for n in range(5) for text in product('a\n\u00a0"', repeat=n)]
BOUNDS: list[tuple[int, int | None]] = [(2, None), (3, None), (0, 2), (2, 3), (3, 3)]

# Each with whether its lengths are shared out; those of the others are counted in a product.
PATTERNS = [
    pytest.param(r"\S", True, id="a character anywhere"),
    pytest.param(r"^\s*\S", True, id="behind others"),
    pytest.param(r"\S\s*$", True, id="before others"),
    pytest.param(r"^(?!\s*$)", True, id="not others alone"),
    pytest.param(r"^(?!\s*$).+", True, id="not others alone, and no line break first"),
    pytest.param(r"^(?!\s+$).{2,}$", True, id="not others alone, and at least two"),
    pytest.param(r"^\s*\S.*$", True, id="behind others, with other ones behind"),
    pytest.param(r'^[^"]*a[\n"]*$', True, id="in the first run, that holds not all of the second"),
    pytest.param(r'^[a\n]*a[\n"]*$', True, id="in the first run"),
    pytest.param(r'^"\s*\S', True, id="behind a beginning"),
    pytest.param(r'^[^"]*a[\n"a]*$', False, id="in both runs, and neither holds the other"),
    pytest.param(r"^a*[a\n]a*$", False, id="anything and anything, in many ways"),
    pytest.param(r"^a.*\S$", False, id="one run"),
    pytest.param(r"aa", False, id="two characters"),
    pytest.param(r"^a*\S(\n|aa)*$", False, id="a run of pairs"),
]


def fits(pattern: str, text: str, least: int, most: int | None) -> bool:
    """What `re` and `len` say of a text; ECMA-262 has another `$` and another point."""
    python = pattern.replace("$", r"\Z").replace(".", r"[^\n]")
    is_within = least <= len(text) and (most is None or len(text) <= most)
    return is_within and re.search(python, text) is not None


@pytest.mark.parametrize("written_out", [2, 500])
@pytest.mark.parametrize(("pattern", "is_shared"), PATTERNS)
def test_lengths_and_pattern_hold_together(
    monkeypatch: pytest.MonkeyPatch, pattern: str, is_shared: bool, written_out: int
) -> None:
    monkeypatch.setattr(shared_lengths, "_WITHOUT_MINIMUM", written_out)
    shared: list[int] = []

    def share(*args: Any) -> int | None:
        node = shared_lengths.share_lengths(*args)
        shared.extend([] if node is None else [node])
        return node

    monkeypatch.setattr(lengths, "share_lengths", share)
    for least, most in BOUNDS:
        bounds = {"minLength": least} | ({} if most is None else {"maxLength": most})
        compiled = language({"type": "string", "pattern": pattern, **bounds})
        for text in TEXTS:
            expected = fits(pattern, text, least, most)
            for spelled in {json.dumps(text), json.dumps(text, ensure_ascii=False)}:
                assert compiled.matches(spelled) is expected, (text, bounds)
    assert bool(shared) is is_shared


def test_what_does_not_match_is_cut_off_as_well() -> None:
    blank = {"type": "string", "not": {"pattern": r"^\s*$"}, "minLength": 3, "maxLength": 5}
    check(
        blank,
        accept=['"a  "', '"  a"', '"    a"', '"aaaaa"'],
        reject=['"   "', '"a "', '"     "', '"aaaaaa"', '"     a"'],
    )


@pytest.mark.parametrize("pattern", [r"\S", r"^\s*\S", r"^(?!\s*$).+"])
def test_a_long_text_is_quickly_begun(pattern: str) -> None:
    string = {"type": "string", "pattern": pattern, "minLength": 2000}
    nested = {"type": "array", "items": {"type": "object", "properties": {"text": string}}}
    start = time.perf_counter()
    compiled = language(nested)
    Matcher(compiled.automaton).accept_bytes(b'[{"text":"')
    assert time.perf_counter() - start < 0.5
    for text, verdict in [
        ("x" * 2000, True),
        (" " * 1999 + "x", True),
        (" " * 3000 + "x", True),
        ("x" + " " * 1999, True),
        ("x" * 1999, False),
        (" " * 1998 + "x", False),
        (" " * 3000, False),
    ]:
        assert compiled.matches(f'[{{"text":"{text}"}}]') is verdict


def test_a_maximum_of_any_size_costs_no_more() -> None:
    start = time.perf_counter()
    compiled = language({"type": "string", "pattern": r"\S", "maxLength": 100_000})
    assert time.perf_counter() - start < 0.5
    assert compiled.matches(f'"{"x" * 100_000}"')
    assert not compiled.matches(f'"{"x" * 100_001}"')
    assert compiled.matches(f'"{" " * 600}x"')


@pytest.mark.parametrize("pattern", [r"\S", r"\S\s*$", r'^[a ]*a[" ]*$', r"^(?!\s*$)"])
def test_the_readings_of_a_text_stay_few(pattern: str) -> None:
    compiled = language({"type": "string", "pattern": pattern, "minLength": 400})
    assert compiled.matches(f'"{"a " * 200}"')
    assert compiled.automaton.stats()["heads_max"] < 20


def test_a_minimum_beyond_the_bound_is_refused() -> None:
    with pytest.raises(LimitError, match="a pattern, or patterns that must hold together"):
        language({"type": "string", "pattern": r"\S", "minLength": 20_000})
