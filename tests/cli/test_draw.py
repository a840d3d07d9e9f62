"""`guided draw`: railroad diagrams that any reader of SVG can read."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from tests.cli.conftest import Write
from tests.cli.running import Ran, run

SVG = "{http://www.w3.org/2000/svg}"
LISTS = (
    'root ::= item ("," item){0,9} end?\nitem ::= [a-z]+ | "<&>"\nend ::= "" | "."\nspare ::= "x"'
)


def rules(drawing: str) -> list[str]:
    """Return the names of the rules that are drawn."""
    root = ElementTree.fromstring(drawing)
    assert root.tag == f"{SVG}svg"
    return [group.attrib["id"] for group in root.iter(f"{SVG}g") if "id" in group.attrib]


def texts(drawing: str) -> set[str]:
    return {text.text or "" for text in ElementTree.fromstring(drawing).iter(f"{SVG}text")}


def draw(*arguments: str, stdin: str | None = None) -> Ran:
    ran = run("draw", *arguments, stdin=stdin)
    assert ran.status == 0, ran.err
    return ran


def test_the_rules_that_the_start_leads_to_are_drawn(write: Write) -> None:
    ran = draw(write("g.gbnf", LISTS))
    assert rules(ran.out) == ["root", "item", "end"]
    assert {"item", '","', "0 to 9 times", "[a-z]", '"<&>"'} <= texts(ran.out)


def test_colours_are_those_that_all_readers_of_svg_know(write: Write) -> None:
    style = ElementTree.fromstring(draw(write("g.gbnf", LISTS)).out).findtext(f"{SVG}style")
    found = set(re.findall(r"(?:fill|stroke|color): *([^;]+);", style or ""))
    assert found
    assert {each for each in found if not re.fullmatch(r"#[0-9a-f]{6}|black|none", each)} == set()


def test_one_rule_can_be_asked_for(write: Write) -> None:
    write("g.gbnf", LISTS)
    assert rules(draw("g.gbnf", "--rule", "spare", "--rule", "end").out) == ["spare", "end"]
    ran = run("draw", "g.gbnf", "--rule", "itme")
    assert ran.status == 2
    assert "root, item, end, spare" in " ".join(ran.err.replace("│", "").split())


def test_another_start_draws_from_there(write: Write) -> None:
    assert rules(draw(write("g.gbnf", LISTS), "--start", "item").out) == ["item"]


def test_a_drawing_can_go_to_a_file(write: Write, folder: Path) -> None:
    ran = draw(write("g.gbnf", LISTS), "-o", "g.svg")
    assert ran.out == ""
    assert rules((folder / "g.svg").read_text(encoding="utf-8")) == ["root", "item", "end"]
    assert run("draw", "g.gbnf", "-o", "nowhere/g.svg").status == 2


def test_a_pattern_is_one_rule() -> None:
    ran = draw("-", "--kind", "regex", stdin="[a-z]+(-[0-9]{2,4})?\n")
    assert rules(ran.out) == ["pattern"]
    assert {"[a-z]", "[0-9]", "2 to 4 times"} <= texts(ran.out)


def test_a_lark_grammar_is_drawn_as_it_is_written(write: Write) -> None:
    text = 'start: pair{A} | "x"i ~ 3\npair{x}: x "," x\nA: /a+\\/b/ | "b".."d"\n'
    ran = draw(write("g.lark", text))
    assert rules(ran.out) == ["start", "pair", "A"]
    assert {"pair{A}", '"x"i', "3 times", "/a+\\/b/", '"b".."d"'} <= texts(ran.out)


def test_what_guided_adds_to_lark_is_drawn(write: Write) -> None:
    text = (
        'start: unordered{<think>, %json {\n  "const": 1}, A} %grammar "json"\n'
        'A[lazy]: /a+/ | B\nB[stop="\\n"]: /b/'
    )
    ran = draw(write("g.lark", text))
    assert rules(ran.out) == ["start", "A", "B"]
    seen = texts(ran.out)
    assert {"<think>", '%json { "const": 1}', '%grammar "json"', "/a+/"} <= seen
    assert {"the shortest", '"\\n"'} <= seen


def test_a_schema_has_no_rules_to_draw(write: Write) -> None:
    ran = run("draw", write("s.json", "{}"))
    assert ran.status == 2
    assert "has no rules to draw" in " ".join(ran.err.replace("│", "").split())


def test_all_grammars_of_the_corpora_can_be_drawn(corpora: Path) -> None:
    files = sorted((corpora / "grammars").glob("*/*.*"))
    assert files
    for file in files:
        assert rules(draw(str(file)).out)


def test_what_is_nested_too_deeply_is_told(write: Write) -> None:
    nested = '("a" ' * 900 + '"b"' + ")" * 900
    ran = run("draw", write("g.gbnf", f"root ::= {nested}"))
    assert ran.status == 1
    assert re.match("error: the (rules|grammar) (are|is) nested too deeply to be ", ran.err)
