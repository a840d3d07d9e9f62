"""`guided check`: what it prints, and the status it ends with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Write
from tests.cli.running import run
from tests.decoding.tiny_model import tiny_tokenizer

NUMBERS = 'root ::= "a" [0-9]+ "."'


def test_a_grammar_that_is_right_is_fine(write: Write) -> None:
    ran = run("check", write("g.gbnf", NUMBERS))
    assert (ran.out, ran.err, ran.status) == ("g.gbnf: fine (gbnf, 1 rule)\n", "", 0)


def test_all_errors_are_told_in_one_run(write: Write) -> None:
    ran = run("check", write("g.gbnf", 'root ::= one | two\none ::= "a" (\n\nthree ::= "b" four'))
    assert ran.status == 1
    assert [line for line in ran.out.splitlines() if "error:" in line] == [
        'g.gbnf:1:16: error: rule "two" is not defined',
        'g.gbnf:2:13: error: unbalanced parenthesis: "(" without ")"',
        'g.gbnf:4:15: error: rule "four" is not defined',
    ]
    assert ran.out.endswith("g.gbnf: not fine (gbnf): 3 errors\n")


def test_each_file_has_its_report_and_one_wrong_one_decides(write: Write) -> None:
    ran = run("check", write("g.gbnf", NUMBERS), write("s.json", "{}"), write("p.regex", "(a"))
    assert ran.status == 1
    assert ran.out == (
        "g.gbnf: fine (gbnf, 1 rule)\n"
        "s.json: fine (schema)\n"
        'p.regex:1:1: error: unbalanced parenthesis: "(" without ")"\n'
        "    1 | (a\n"
        "      | ^\n"
        '  mend: close it by ")", or write "\\(" for the character itself\n'
        "p.regex: not fine (regex): 1 error\n"
    )


def test_standard_input_needs_its_kind(write: Write) -> None:
    assert run("check", "-", "--kind", "gbnf", stdin=NUMBERS).out.startswith("standard input: fine")
    ran = run("check", "-", stdin=NUMBERS)
    assert ran.status == 2
    assert "say --kind" in ran.err
    assert ran.out == ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["sequel"], 'there is no file "sequel", and no shipped grammar of that name'),
        (["missing.gbnf"], "missing.gbnf cannot be read"),
        (["notes.md"], "nothing tells what language notes.md is in"),
        (["words.txt"], "name a grammar before it"),
        (["g.gbnf", "--nonsense"], "No such option"),
        (["g.gbnf", "--samples", "notes.md"], "is not JSON"),
        (["bytes.gbnf"], "is not UTF-8"),
        ([], "Missing argument"),
    ],
)
def test_a_wrong_call_is_told_on_standard_error(
    arguments: list[str], told: str, write: Write
) -> None:
    write("g.gbnf", NUMBERS)
    write("notes.md", "text")
    write("words.txt", "a1.")
    write("bytes.gbnf", b"\xff\xfe")
    ran = run("check", *arguments)
    assert ran.status == 2
    assert told in " ".join(ran.err.replace("│", "").split())


def test_texts_are_accepted_and_rejected_as_wanted(write: Write) -> None:
    write("g.gbnf", NUMBERS)
    ran = run("check", "g.gbnf", "--accept", "a1.", "--accept", "a22.", "--reject", "b")
    assert ran.status == 0
    assert ran.out == "g.gbnf: fine (gbnf, 1 rule): 3 of 3 texts as they should be\n"


def test_a_wrong_text_is_told_with_its_place(write: Write) -> None:
    write("g.gbnf", NUMBERS)
    ran = run("check", "g.gbnf", "--accept", "a12x", "--accept", "a1", "--reject", "a1.")
    assert ran.status == 1
    assert ran.out == (
        '--accept "a12x": error: line 1, column 4: expected [.0-9], found "x"\n'
        "    1 | a12x\n"
        "      |    ^\n"
        '--accept "a1": error: incomplete: the text ends at line 1, column 3, where [.0-9] is'
        " expected\n"
        "    1 | a1\n"
        "      |   ^\n"
        '--reject "a1.": error: accepted, and should be rejected\n'
        "g.gbnf: not fine (gbnf, 1 rule): 0 of 3 texts as they should be\n"
    )


def test_a_text_file_goes_to_the_grammar_before_it(write: Write) -> None:
    write("g.gbnf", NUMBERS)
    write("h.gbnf", 'root ::= "b"')
    write("a.txt", "a1.\n")
    write("b.txt", "b")
    assert run("check", "g.gbnf", "a.txt", "h.gbnf", "b.txt").status == 0
    assert run("check", "h.gbnf", "a.txt").status == 1


@pytest.mark.parametrize(
    ("text", "status"), [("a1.\n", 0), ("a1.\r\n", 0), ("a1.\n\n", 1), (" a1.", 1)]
)
def test_the_newline_at_the_end_of_a_text_file_is_no_matter(
    text: str, status: int, write: Write
) -> None:
    assert run("check", write("g.gbnf", NUMBERS), write("t.txt", text)).status == status


def test_a_grammar_that_wants_the_newline_gets_it(write: Write) -> None:
    assert run("check", write("g.gbnf", 'root ::= "a\\n"'), write("t.txt", "a\n")).status == 0


def test_samples_stand_in_lines_of_json(write: Write) -> None:
    write("g.gbnf", NUMBERS)
    lines = [
        '{"text": "a1.", "accept": true}',
        "",
        '{"accept": ["a2."], "reject": ["", "a\u2028"]}',
        '{"text": "a3.", "accept": false}',
    ]
    ran = run("check", "g.gbnf", "--samples", write("s.jsonl", "\n".join(lines)))
    assert ran.out == (
        "s.jsonl, line 4: error: accepted, and should be rejected\n"
        "g.gbnf: not fine (gbnf, 1 rule): 4 of 5 texts as they should be\n"
    )


@pytest.mark.parametrize(
    "line", ["[]", "{}", '{"text": 1, "accept": true}', '{"text": "a"}', '{"accept": "a"}', "{"]
)
def test_a_line_that_is_no_sample_is_a_wrong_call(line: str, write: Write) -> None:
    ran = run("check", write("g.gbnf", NUMBERS), "--samples", write("s.jsonl", line))
    assert ran.status == 2
    assert "s.jsonl, line 1" in ran.err


def test_samples_of_the_corpora_are_right(corpora: Path, write: Write) -> None:
    text = (corpora / "grammars" / "samples.jsonl").read_text(encoding="utf-8")
    count = 0
    for line in text.strip().split("\n"):
        sample = json.loads(line)
        if sample["dialect"] != "gbnf":
            continue
        count += 1
        write("s.jsonl", line)
        file = corpora / "grammars" / "gbnf" / Path(sample["grammar"]).name
        ran = run("check", str(file), "--start", sample["start"], "--samples", "s.jsonl")
        assert ran.status == 0, ran.out
    assert count


def test_strict_lets_warnings_count(write: Write) -> None:
    write("g.gbnf", 'root ::= "a"\nspare ::= "b"')
    assert run("check", "g.gbnf").status == 0
    assert run("check", "g.gbnf", "--strict").status == 1


def test_quiet_leaves_warnings_out(write: Write) -> None:
    write("g.gbnf", 'root ::= "a"\nspare ::= "b"')
    assert run("check", "g.gbnf", "-q").out == "g.gbnf: fine (gbnf, 2 rules): 1 warning\n"


def test_a_schema_is_told_keyword_by_keyword(write: Write) -> None:
    write("s.json", '{"type": "array", "x": 1, "uniqueItems": true, "title": "T"}')
    ran = run("check", "s.json")
    assert ran.status == 1
    assert ran.out == (
        's.json:1:19: note: the keyword "x" is not in the standard, and says nothing\n'
        "  at /x\n"
        '    1 | {"type": "array", "x": 1, "uniqueItems": true, "title": "T"}\n'
        "      |                   ^^^\n"
        "s.json:1:27: error: uniqueItems is not supported where items may be arrays or"
        " objects (scope: docs/json-schema.md)\n"
        "  at /uniqueItems\n"
        '    1 | {"type": "array", "x": 1, "uniqueItems": true, "title": "T"}\n'
        "      |                           ^^^^^^^^^^^^^\n"
        "  mend: take it out, or add --lenient to go without it\n"
        "  enforced:\n    /type\n  annotation:\n    /title\n  unknown:\n    /x\n"
        "  not supported:\n    /uniqueItems\n"
        "s.json: not fine (schema): 1 error, 1 note\n"
    )
    assert run("check", "s.json", "--lenient").status == 0


def test_the_options_of_a_schema_count(write: Write) -> None:
    write("s.json", '{"properties": {"a": {"const": 1}}, "required": ["a"], "type": "object"}')
    assert run("check", "s.json", "--accept", '{ "a": 1 }').status == 0
    assert run("check", "s.json", "--whitespace", "compact", "--accept", '{ "a": 1 }').status == 1
    assert run("check", "s.json", "--whitespace", "1", "--accept", '{\n "a": 1\n}').status == 0


def test_json_is_for_tools(write: Write) -> None:
    write("g.gbnf", 'root ::= "a" [0-9]+\nspare ::= "b"')
    ran = run("check", "g.gbnf", "--accept", "ax", "--json")
    assert ran.status == 1
    assert json.loads(ran.out) == {
        "ok": False,
        "files": [
            {
                "file": "g.gbnf",
                "kind": "gbnf",
                "ok": False,
                "findings": [
                    {
                        "level": "warning",
                        "code": "unused-rule",
                        "fact": 'rule "spare" is never used: "root" does not lead to it',
                        "line": 2,
                        "column": 1,
                        "length": 5,
                        "mend": "take it out, or use it",
                    }
                ],
                "keywords": {},
                "samples": [
                    {
                        "name": '--accept "ax"',
                        "ok": False,
                        "wanted": "accepted",
                        "verdict": "rejected",
                        "line": 1,
                        "column": 2,
                        "expected": ["[0-9]"],
                        "found": "x",
                    }
                ],
                "cost": None,
            }
        ],
    }


def test_with_a_tokenizer_the_cost_is_told(write: Write, folder: Path) -> None:
    tiny_tokenizer().save_pretrained(folder / "tiny")
    write("g.gbnf", NUMBERS)
    ran = run("check", "g.gbnf", "--tokenizer", "tiny")
    assert ran.status == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[0] == "  over 266 tokens:"
    assert lines[1].startswith("    first mask ")
    assert lines[3].startswith("    6 states, ")
    assert lines[4] == "    a mask allows 1 to 12 tokens, 12 at the median"
    cost = json.loads(run("check", "g.gbnf", "--tokenizer", "tiny", "--json").out)["files"][0][
        "cost"
    ]
    assert cost["vocabulary"] == 266
    assert cost["first_mask_ms"] > 0


def test_a_folder_without_a_tokenizer_is_an_error(write: Write, folder: Path) -> None:
    (folder / "empty").mkdir()
    ran = run("check", write("g.gbnf", NUMBERS), "--tokenizer", "empty")
    assert ran.status == 1
    assert ran.err.startswith("error: no tokenizer can be loaded from 'empty'")


def test_a_shipped_grammar_goes_by_its_name() -> None:
    assert run("check", "json", "--accept", '{"a": [1, true]}').status == 0


@pytest.mark.parametrize("depth", [500, 20_000])
def test_deep_nesting_is_told_and_no_crash(depth: int, write: Write) -> None:
    nested = '("a" ' * depth + '"b"' + ")" * depth
    ran = run("check", write("g.gbnf", f"root ::= {nested}"))
    assert ran.status in (0, 1)
    assert "nested too deeply" in ran.out


def test_without_a_terminal_no_colours_are_written(write: Write) -> None:
    assert "\x1b" not in run("check", write("g.gbnf", "root ::= b")).out


def test_a_text_that_is_no_utf_8_is_told_and_no_crash(write: Write) -> None:
    ran = run("check", write("g.gbnf", NUMBERS), "--accept", "a1\udcff")
    assert ran.status == 1
    assert 'line 1, column 3: expected [.0-9], found "\ufffd"' in ran.out
