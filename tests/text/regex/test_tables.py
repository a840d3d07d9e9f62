"""The parsers of patterns: their tables are up to date, and parse as lark does."""

from __future__ import annotations

import random
from importlib.resources import files
from typing import Any

import pytest

from guided.text.regex.table_writer import DIALECTS, make_parser, write_table
from guided.text.regex.tables import Stuck, read_table
from tests.test_house import fresh

PIECES = [*"ab-|.*+?^$&~[]{}()\\,1\udc00", "[^", "(?:", "(?=", "(?P<n>", "{2,3}", "\\d", "\\]"]
PIECES += ["&&", "--", "a-z", "\\u{61}", "\\p{L}", "(?i)", "[a]", "(b)", "[[a]--b]"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_tables_are_those_of_the_grammars(dialect: str) -> None:
    path = files("guided.text.regex").joinpath("tables", f"{dialect}.json")
    assert path.read_text("utf-8") == write_table(dialect), "call `make tables`"


def by_lark(parser: Any, text: str) -> Any:
    """The tree of a pattern, or what lark stops at, where, what it has by then, what was before."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput

    try:
        return shape(parser.parse(text))
    except UnexpectedInput as error:
        known: Any = error
        token = None if isinstance(error, UnexpectedCharacters) else known.token
        index = known.pos_in_stream if token is None else token.start_pos
        values = known.interactive_parser.parser_state.value_stack
        before = (getattr(error, "token_history", None) or [None])[0]
        return shape(token), None if is_end(token) else index, shape(values), shape(before)


def by_table(dialect: str, text: str) -> Any:
    try:
        return shape(read_table(dialect).parse(text))
    except Stuck as stuck:
        index = None if is_end(stuck.token) else stuck.index
        return shape(stuck.token), index, shape(stuck.values), shape(stuck.before)


def is_end(token: Any) -> bool:
    return token is not None and token.type == "$END"


def shape(value: Any) -> Any:
    """A tree of either kind as lists and tuples; what rules with "_" made counts as its parts."""
    if value is None:
        return None
    if isinstance(value, list):
        parts = [getattr(each, "children", each) if is_spread(each) else each for each in value]
        return [shape(each) for each in parts]
    if hasattr(value, "data"):
        return (str(value.data), shape(value.children))
    return (value.type, str(value), None if value.type == "$END" else value.start_pos)


def is_spread(value: Any) -> bool:
    return hasattr(value, "data") and str(value.data).startswith("_")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_table_parses_as_lark_does(dialect: str) -> None:
    parser = make_parser(dialect)
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    parsed = 0
    for _ in range(3_000):
        text = "".join(chance.choices(PIECES, k=chance.randrange(12)))
        made, wanted = by_table(dialect, text), by_lark(parser, text)
        # Lark tells what was before only if its lexer stopped, and not its parser.
        assert made[: 4 if wanted[-1] else 3] == wanted[: 4 if wanted[-1] else 3], text
        parsed += len(made) == 2
    assert parsed > 100


def test_a_pattern_takes_no_lark() -> None:
    code = (
        "import sys; from guided.text.regex import compile_regex; from guided._core import Arena;"
        "compile_regex(Arena(), '(a|[b-d]{2}){3}'); print('lark' in sys.modules)"
    )
    assert fresh(code) == "False"
