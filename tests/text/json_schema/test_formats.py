"""Formats: examples, the JSON Schema Test Suite, and oracles on strings near valid ones."""

from __future__ import annotations

import itertools
import json
import random
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest

from guided._core import Arena
from guided.errors import UnsupportedError
from guided.text.json_schema import compile_schema
from guided.text.json_schema.strings.formats import (
    KNOWN,
    SILENT,
    UNSUPPORTED,
    format_node,
    is_narrow,
)
from guided.text.json_schema.strings.spelling import JsonSpelling, escape
from tests.text.json_schema.format_oracles import ORACLES
from tests.text.json_schema.matching import matches

STANDARD = {
    "date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname",
    "ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference", "uuid", "uri-template",
    "json-pointer", "relative-json-pointer", "regex",
}  # fmt: skip


class Format:
    """The strings of a format, as JSON spells them."""

    def __init__(
        self, name: str, draft: int = 2020, escapes: Literal["minimal", "any"] = "minimal"
    ) -> None:
        self.arena = Arena()
        node = format_node(self.arena, JsonSpelling(escapes), name, draft)
        assert node is not None
        self.node = node

    def has(self, text: str) -> bool:
        return self.spells(escape(text))

    def spells(self, spelled: str) -> bool:
        return self.arena.matches(self.node, spelled)


@cache
def named(name: str) -> Format:
    return Format(name)


def test_each_format_of_the_standard_is_known_or_has_a_reason_not_to_be() -> None:
    assert set(UNSUPPORTED) == STANDARD - KNOWN
    assert not KNOWN & set(UNSUPPORTED)
    assert not SILENT & (KNOWN | set(UNSUPPORTED))


def test_what_is_no_known_format_has_no_node() -> None:
    for name in (*UNSUPPORTED, *SILENT, "Date", "unknown", ""):
        assert format_node(Arena(), JsonSpelling(), name) is None


CASES = {
    "date": (
        ["2024-02-29", "2000-02-29", "0000-02-29", "1582-10-10", "9999-12-31"],
        ["2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "2024-1-01", "12024-01-01"],
    ),
    "time": (
        ["08:30:06Z", "08:30:06.5+14:00", "23:59:60Z", "01:29:60.123+01:30", "00:29:60-23:30"],
        ["08:30:06", "24:00:00Z", "08:30:60Z", "23:59:60+01:00", "12:00:00+24:00", "12:00:00.Z"],
    ),
    "date-time": (
        ["2016-12-31T23:59:60Z", "2017-01-01T00:59:60+01:00", "2024-02-29t15:59:60-08:00"],
        ["2016-12-30T23:59:60Z", "2016-12-31T00:59:60+01:00", "2023-02-29T00:00:00Z"],
    ),
    "duration": (
        ["P3Y6M4DT12H30M5S", "P2W", "PT0S", "P1Y2M", "P01D"],
        ["P", "PT", "P1Y2D", "PT1H2S", "P1W2D", "PT0.5S", "P1DT", "-P1D", "p1d"],
    ),
    "email": (
        ["a.b+c@x-y.org", '"a b\\"c"@x', "a@[127.0.0.01]", "a@[ipv6:1::2]", "a@b"],
        ["a..b@x", ".a@x", "a@-x", "a@x..y", "a@[127.0.0.256]", "a@[IPv6:1::3:4:5:6:7:8]"],
    ),
    "idn-email": (["δ@é.com", '"é b"@x', "a@[1.2.3.4]"], ["a@é-", "a＠b", '"\\é"@x']),
    "hostname": (
        ["a", "1a.b-c", "abc--d", "r3", "a" * 63 + "." + "b" * 63, ".".join(["a" * 62] * 4),
         "xn--p1ai", "XN--P1AI.xn--mnchen-3Ya", "xn--4dbrk0ce.a1", "1.xn--p1ai"],
        ["", "a.", "-a", "a_b", "a" * 64, ".".join(["a" * 63] * 4), "xn--x", "aa--a", "ａ",
         "xn--", "xn--a", "xn--a-", "xn---p1ai", "xn--p1ai-", "1.xn--4dbrk0ce", "xn--4dbrk0ce.1"],
    ),
    "ipv4": (["0.0.0.0", "255.255.255.255"], ["256.1.1.1", "01.1.1.1", "1.1.1", "1.1.1.1 "]),
    "ipv6": (
        ["::", "1::", "::1", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::ffff:1.2.3.4", "1::1.2.3.4"],
        [":", ":::", "1:2:3:4:5:6:7", "1::2::3", "1:2:3:4:5:6:7:1.2.3.4", "12345::", "::1%eth0"],
    ),
    "uri": (
        ["http://u:p@x.org:80/a//b?c#d", "a:", "urn:x:y", "http://[::1]/", "file:///a", "x:%41"],
        ["//x", "/a", "http://x y", "http://[::1", "http://x:a", "1:a", "a:[", "a:%4", "a:#b#c"],
    ),
    "uri-reference": (["", "//x", "./a:b", "?a", "#a", "a:b"], ["1:b", "\\a", "é", "a b"]),
    "iri": (["http://é/π?\ue000#ü", "a:é"], ["é:a", "http://x/\ue000", "a:\uffff"]),
    "iri-reference": (["é", "//é", ""], ["é:a", "\ufffe", "a b"]),
    "uri-template": (
        ["", "/a{b}{?c,d*}", "{e:1234}", "{a.b}", "{%41}", "é'"],
        ["{}", "{a", "a}", "{a,}", "{a:0}", "{a:12345}", "{a..b}", "{a b}", "a b"],
    ),
    "json-pointer": (["", "/", "/a~0~1//\n\"é", "/\\"], ["a", "#/a", "/~", "/~2"]),
    "relative-json-pointer": (["0", "10/a", "2#", "0+1/a", "1-0"], ["", "/a", "01", "0##", "0+#"]),
    "uuid": (["2eb8aa08-AA98-11ea-b4aa-73b441d16380"], ["2eb8aa08aa9811eab4aa73b441d16380", "x"]),
    "uuid4": (
        ["123e4567-e89b-42d3-a456-426614174000"],
        ["123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-42d3-0456-426614174000"],
    ),
    "base64": (["", "YQ==", "+/8="], ["YQ", "YQ=", "YR==", "_-8=", "YQ==YQ=="]),
    "base64url": (["", "YQ==", "_-8="], ["+/8=", "YQ"]),
    "ipv4interface": (["1.2.3.4", "1.2.3.4/32"], ["1.2.3.4/33", "1.2.3.4/", "1.2.3.4/08"]),
    "ipv6interface": (["::1", "::1/128", "1::/0"], ["::1/129", "::1/", "1.2.3.4"]),
    "ipvanyaddress": (["1.2.3.4", "::1"], ["1.2.3.4/8", ""]),
    "ipvanyinterface": (["1.2.3.4/8", "::1/64"], ["1.2.3.4/64"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_examples_have_the_verdicts_of_the_rfc(name: str) -> None:
    accept, reject = CASES[name]
    assert [text for text in accept if not named(name).has(text)] == []
    assert [text for text in reject if named(name).has(text)] == []


def near(example: str, alphabet: str, randomness: random.Random) -> str:
    """Return a string that differs from an example in a few places."""
    characters = list(example)
    for _ in range(randomness.randint(1, 3)):
        start = randomness.randint(0, len(characters))
        end = min(len(characters), start + randomness.randint(0, 2))
        piece = characters[start:end]
        another = [randomness.choice(alphabet)]
        characters[start:end] = randomness.choice(([], piece + piece, another))
    return "".join(characters)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_verdicts_are_those_of_an_oracle(name: str) -> None:
    accept, reject = CASES.get(name, CASES["uuid4"])
    seed = random.randrange(1 << 32)
    randomness = random.Random(seed)
    alphabet = "".join(sorted(set("".join(accept + reject)) | {"0", "a", "é"}))
    short = (map("".join, itertools.product(alphabet, repeat=length)) for length in range(3))
    texts = [*accept, *reject, *itertools.chain.from_iterable(short)]
    texts += [near(randomness.choice(accept), alphabet, randomness) for _ in range(800)]
    wrong = [text for text in texts if named(name).has(text) is not ORACLES[name](text)]
    assert wrong[:5] == [], f"seed {seed}"


def test_days_that_exist_are_dates_and_no_others_are() -> None:
    is_date = ORACLES["date"]
    for year in (0, 4, 100, 400, 1896, 1900, 1999, 2000, 2004, 2024, 2100):
        for month, day in itertools.product(range(14), (0, 1, 28, 29, 30, 31, 32)):
            text = f"{year:04}-{month:02}-{day:02}"
            assert named("date").has(text) is is_date(text), text


def test_leap_seconds_are_where_they_can_be() -> None:
    is_date_time = ORACLES["date-time"]
    days = ("2016-12-31", "2017-01-01", "2016-12-30", "2024-02-29", "2024-02-28", "2023-02-28")
    offsets = [f"{sign}{hour:02}:{minute:02}" for sign in "+-" for hour in (0, 8)
               for minute in (0, 15, 30, 45, 20)]  # fmt: skip
    for day, offset, hour, minute in itertools.product(
        days, ["Z", *offsets], (0, 7, 8, 15, 23), (0, 14, 29, 44, 59)
    ):
        text = f"{day}T{hour:02}:{minute:02}:60{offset}"
        assert named("date-time").has(text) is is_date_time(text), text
        time = text[11:]
        assert named("time").has(time) is ORACLES["time"](time), time


def test_drafts_differ_in_host_names_and_relative_pointers() -> None:
    assert Format("hostname", draft=6).has("xn--p1ai")
    assert Format("hostname", draft=6).has("xn--x")
    assert Format("hostname", draft=7).has("xn--p1ai")
    assert not Format("hostname", draft=7).has("xn--x")
    assert is_narrow("hostname", 7)
    assert not is_narrow("hostname", 6)
    assert not is_narrow("date-time")
    assert Format("relative-json-pointer", draft=2020).has("0-1/a")
    assert not Format("relative-json-pointer", draft=2019).has("0-1/a")


@pytest.mark.parametrize(
    ("more", "yes", "no"),
    [
        ({}, ["xn--p1ai", "www.example.com"], ["xn--x", "a_b"]),
        ({"maxLength": 8}, ["xn--p1ai"], ["xn--p1ai.a"]),
        ({"minLength": 1}, ["xn--p1ai"], [""]),
        ({"pattern": r"^[a-z]+\.example\.com$"}, ["www.example.com"], ["w1.example.com"]),
        ({"pattern": "[a-z]"}, ["a1"], ["xn--p1ai", "1"]),  # Punycode is not written then
        ({"minLength": 9}, ["www.example.com"], ["www.a.b", "xn--p1ai.a"]),
        ({"not": {"enum": ["a.b"]}}, ["a.c"], ["a.b"]),
        ({"enum": ["xn--p1ai", "xn--x", "a_b"]}, ["xn--p1ai"], ["xn--x", "a_b"]),
    ],
)
def test_what_else_is_asked_of_a_host_name_holds_as_well(
    more: dict[str, Any], yes: list[str], no: list[str]
) -> None:
    schema = {"type": "string", "format": "hostname", **more}
    for text in yes:
        assert matches(schema, json.dumps(text)), text
    for text in no:
        assert not matches(schema, json.dumps(text)), text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("date", r"2024\u002D02-\u00329"),
        ("uri", r"a:\/\/\u0078"),
        ("iri", r"a:\ud83d\ude00"),
        ("hostname", r"\u0078n\u002D\u002dp1a\u0049\u002eru"),
    ],
)
def test_escapes_are_spellings_of_the_same_string(name: str, text: str) -> None:
    assert Format(name, escapes="any").spells(text)
    assert named(name).spells(json.loads(f'"{text}"'))
    assert named(name).spells(text) is (name == "iri")


def test_formats_that_nobody_defines_say_nothing_and_are_listed() -> None:
    schema = {"properties": {"a": {"format": "color"}, "b": {"format": "password"}}}
    assert compile_schema(schema).unknown == ["/properties/a/format"]


def test_formats_that_are_not_regular_are_refused() -> None:
    for name in UNSUPPORTED:
        with pytest.raises(UnsupportedError, match=f'the format "{name}" is not supported: '):
            compile_schema({"type": "string", "format": name})


def test_what_does_not_have_a_format_is_written_if_it_is_known_exactly() -> None:
    assert matches({"type": "string", "not": {"format": "date"}}, '"2023-02-29"')
    assert not matches({"type": "string", "not": {"format": "date"}}, '"2024-02-29"')
    with pytest.raises(UnsupportedError, match="is not known exactly"):
        matches({"type": "string", "not": {"format": "hostname"}}, '"-"')


@pytest.mark.parametrize(("draft", "year"), [("draft2020-12", 2020), ("draft7", 7)])
def test_the_test_suite_has_no_wrong_verdict(corpora: Path, draft: str, year: int) -> None:
    compared = 0
    for line in (corpora / f"jsts-{draft}.jsonl").read_text(encoding="utf-8").split("\n"):
        if not line or (group := json.loads(line))["required"]:
            continue
        name = group["schema"].get("format")
        if name not in KNOWN:
            assert name in UNSUPPORTED or name in ("unknown", None), name
            continue
        found = Format(name, year)
        for test in group["tests"]:
            text = test["data"]
            if not isinstance(text, str):
                continue
            assert found.has(text) is test["valid"], (name, text, test["description"])
            compared += 1
    assert compared > 400
