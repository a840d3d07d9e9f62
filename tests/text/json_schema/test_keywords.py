"""Each keyword does what it says: the cases that docs/json-schema.md compares engines by."""

from __future__ import annotations

import pytest

from guided.errors import UnsupportedError
from tests.bench.keyword_cases import CASES, KeywordCase
from tests.text.json_schema.matching import is_valid, language

REFUSED = {"`uniqueItems` of objects", "`regex`"}
NAMES = [case.name.replace("`", "") for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_keyword_is_enforced_or_refused(case: KeywordCase) -> None:
    if case.name in REFUSED:
        with pytest.raises(UnsupportedError):
            language(case.schema)
        return
    compiled = language(case.schema)
    assert [text for text in case.fit if not compiled.matches(text)] == []
    assert [text for text in case.unfit if compiled.matches(text)] == []
    assert compiled.compiled.unknown == compiled.compiled.not_enforced == []


# What has no say in whether JSON is valid, or is not asked about by default.
ELSEWHERE = {"no key twice (a declared one)", "no key twice (any)"}


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.group != "formats" and case.name not in ELSEWHERE],
    ids=lambda case: case.name.replace("`", ""),
)  # fmt: skip
def test_the_cases_are_what_the_standard_says(case: KeywordCase) -> None:
    assert [text for text in case.fit if not is_valid(case.schema, text)] == []
    assert [text for text in case.unfit if is_valid(case.schema, text)] == []
