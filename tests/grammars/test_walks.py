"""What is written under a shipped grammar is what the reader of that language takes."""

from __future__ import annotations

import ast
import csv
import io
import ipaddress
import json
import random
import re
import sqlite3
import warnings
from collections.abc import Callable
from datetime import date, datetime, time
from functools import cache
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

from guided import Grammar
from guided._core import Arena
from guided.grammar.files import shipped_grammars
from guided.text.regex import compile_regex
from guided.text.regex.parsing import no_search_for_collisions
from tests.grammars.samples import ACCEPTED
from tests.grammars.walking import Walker
from tests.text.json_schema.walking import large_walker, small_walker
from tests.text.lark import walking

# https://semver.org, "Is there a suggested regular expression?"
SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
    r"(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?"
)
DURATION = re.compile(
    r"P(?=.)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?)"
)


def read_json(text: str) -> None:
    json.dumps(json.loads(text), ensure_ascii=False).encode()


def read_arithmetic(text: str) -> None:
    named = re.sub(r"(?<![0-9.a-zA-Z_])[a-zA-Z_]", r"v_\g<0>", text)  # `if` is a name here
    ast.parse(named.replace("^", "**"), mode="eval")


def read_csv(text: str) -> None:
    records = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    written = io.StringIO(newline="")
    csv.writer(written, quoting=csv.QUOTE_ALL).writerows(records)
    assert list(csv.reader(io.StringIO(written.getvalue(), newline=""))) == records


def read_iso8601(text: str) -> None:
    if text.startswith("P"):
        assert DURATION.fullmatch(text)
    elif "T" in text:
        datetime.fromisoformat(text)
    elif ":" in text:
        time.fromisoformat(text)
    else:
        assert date.fromisoformat(text).isoformat() == text


def read_semver(text: str) -> None:
    assert SEMVER.fullmatch(text)


def read_url(text: str) -> None:
    parts = urlsplit(text)
    assert parts.scheme in ("http", "https", "ws", "wss", "ftp")
    assert parts.port is None or 0 <= parts.port < 65536
    assert parts.geturl().rstrip("?#/") == text.rstrip("?#/") or "?#" in text
    host = parts.hostname or ""
    if host.replace(".", "").isdigit() or ":" in host:
        ipaddress.ip_address(host)
    else:
        assert re.fullmatch(r"(?:(?!-)[a-z0-9-]{1,63}(?<!-)(?:\.(?!$)|$))+", host)


def read_markdown_table(text: str) -> None:
    assert text.endswith("\n")
    rows = [re.sub(r"\\.", "", line, flags=re.DOTALL) for line in text[:-1].split("\n")]
    assert len({row.count("|") for row in rows}) == 1
    assert all(row.startswith("|") and row.endswith("|") for row in rows)
    assert set(rows[1]) <= set("| -:")


def read_regex(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        re.compile(text)
    compile_regex(Arena(), text, dialect="ecma", search=True)


def read_sql(text: str) -> None:
    database = sqlite3.connect(":memory:")
    try:
        database.execute(text)
    except sqlite3.OperationalError as error:
        # It was read, and there is no such table; or it says what SQLite finds out later.
        if re.search("syntax error|unrecognized token|incomplete", str(error)):
            raise
    finally:
        database.close()


def read_python(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "1if x else y" is read, and frowned upon
        ast.parse(text)


READERS: dict[str, Callable[[str], object]] = {
    "arithmetic": read_arithmetic,
    "c-expression": str,  # lark alone reads it
    "csv": read_csv,
    "iso8601": read_iso8601,
    "json": read_json,
    "markdown-table": read_markdown_table,
    "python": read_python,
    "regex": read_regex,
    "semver": read_semver,
    "sql": read_sql,
    "url": read_url,
    "xml": ElementTree.fromstring,
}


@cache
def lark_parser(name: str) -> Any:
    """Return lark's own parser of a grammar that is written for it."""
    from lark import Lark
    from lark.indenter import Indenter

    class Lines(Indenter):
        NL_type = "_NEWLINE"
        OPEN_PAREN_types = ["LPAR", "LSQB", "LBRACE"]  # noqa: RUF012
        CLOSE_PAREN_types = ["RPAR", "RSQB", "RBRACE"]  # noqa: RUF012
        INDENT_type = "_INDENT"
        DEDENT_type = "_DEDENT"
        tab_len = 8

    text = shipped_grammars()[name].read_text(encoding="utf-8")
    with no_search_for_collisions():
        return Lark(text, parser="lalr", postlex=Lines() if "_INDENT" in text else None)


def read_by_lark(name: str, text: str) -> None:
    if shipped_grammars()[name].suffix == ".lark":
        lark_parser(name).parse(text)


def judge(name: str, count: int, seed: int, share: float = 1 / 4) -> None:
    """Read what so many walks have written, of which that share must find an end."""
    walker = Walker(name)
    texts = [walker.walk(random.Random(f"{seed} {number}")) for number in range(count)]
    finished = [text for text in texts if text is not None]
    for text in finished:
        try:
            read_by_lark(name, text)
            READERS[name](text)
        except Exception as error:
            pytest.fail(f"{text!r}: {error}")
    assert len(finished) > count * share
    assert len(set(finished)) > count / 10


@pytest.mark.parametrize("name", READERS)
def test_what_is_written_can_be_read(name: str) -> None:
    # A walk under a LALR parser meets many states, and in blocks and brackets few find their end.
    if shipped_grammars()[name].suffix == ".lark":
        judge(name, 16, 0, share=1 / 10)
    else:
        judge(name, 40, 0)


@pytest.mark.nightly
@pytest.mark.parametrize("name", READERS)
def test_what_is_written_can_be_read_whatever_it_is(name: str) -> None:
    judge(name, 50 if shipped_grammars()[name].suffix == ".lark" else 1_000, 1)


@pytest.mark.nightly
@pytest.mark.parametrize("tokenizer", ["smollm2", "qwen"])
@pytest.mark.parametrize("name", ["c-expression", "json", "python", "sql"])
def test_so_can_what_is_written_with_a_real_tokenizer(name: str, tokenizer: str) -> None:
    def read(text: str) -> None:
        read_by_lark(name, text)
        READERS[name](text)

    tokens = large_walker(tokenizer) or small_walker()
    text = shipped_grammars()[name].read_text(encoding="utf-8")
    walker = walking.GrammarWalker(tokens, Grammar.from_file(name), text, ACCEPTED[name])
    walking.judge(walker, f"{name} {tokenizer}", read)
